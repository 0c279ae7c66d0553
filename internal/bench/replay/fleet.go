package replay

import (
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/bench/judge"
	"github.com/drawknife/drawknife/internal/workload"
	"github.com/drawknife/drawknife/scheduling"
)

// Fleet is the current state of a saved fleet, with counts of the changes so far.
type Fleet struct {
	// Snapshot is the current state of the fleet. Apply replaces the snapshot with a new one, but never changes a snapshot.
	Snapshot *scheduling.Snapshot
	// Evictions is the number of pods that have been moved so far. A pod that was moved twice counts twice.
	Evictions int
	// Launched and Removed are the numbers of nodes that were launched and removed so far.
	Launched, Removed int

	judge  *judge.Judge
	prices map[offer]float64
}

// offer is the offering with which a node was bought.
type offer struct{ instanceType, zone, capacityType string }

// New returns a Fleet on which no command has been executed yet. The snapshot must have no pending pods, and each of its nodes must have a
// Node object.
func New(s *scheduling.Snapshot) (*Fleet, error) {
	if len(s.Pods) > 0 {
		return nil, fmt.Errorf("%d pods are pending: a fleet to consolidate must have none", len(s.Pods))
	}
	f := &Fleet{Snapshot: s, prices: make(map[offer]float64), judge: judge.New(Waiting(s))}
	for _, list := range s.Catalogs {
		for _, t := range list {
			for i := range t.Offerings {
				o := &t.Offerings[i]
				f.prices[offer{t.Name, valueOf(o, corev1.LabelTopologyZone), valueOf(o, v1.CapacityTypeLabelKey)}] = o.Price
			}
		}
	}
	for i := range s.Nodes {
		if s.Nodes[i].Object == nil {
			return nil, fmt.Errorf("node %s has no Node yet", s.Nodes[i].Name)
		}
	}
	return f, nil
}

func valueOf(o *cloudprovider.Offering, key string) string {
	for _, e := range o.Requirements.NodeSelectorRequirements() {
		if e.Key == key && e.Operator == corev1.NodeSelectorOpIn && len(e.Values) == 1 {
			return e.Values[0]
		}
	}
	return ""
}

// Waiting returns the fleet's workload without its nodes, so that all pods are pending.
func Waiting(s *scheduling.Snapshot) *scheduling.Snapshot {
	out := *s
	out.Nodes = nil
	for i := range s.Nodes {
		for _, pod := range s.Nodes[i].Pods {
			out.Pods = append(out.Pods, pending(pod))
		}
	}
	return &out
}

// InStock returns the workload with all offerings available. A lower bound for this workload also holds for nodes that were bought when an
// offering was still available.
func InStock(s *scheduling.Snapshot) *scheduling.Snapshot {
	out := *s
	out.Catalogs = make(map[string][]*cloudprovider.InstanceType, len(s.Catalogs))
	for name, list := range s.Catalogs {
		for _, t := range list {
			t := *t
			t.Offerings = slices.Clone(t.Offerings)
			for i := range t.Offerings {
				t.Offerings[i].Available = true
			}
			out.Catalogs[name] = append(out.Catalogs[name], &t)
		}
	}
	return &out
}

func pending(pod *corev1.Pod) *corev1.Pod {
	p := *pod
	p.Spec.NodeName, p.Status = "", corev1.PodStatus{Phase: corev1.PodPending}
	return &p
}

// HourlyCost returns the cost of the nodes in USD per hour, at the list prices of the offerings with which they were bought.
func (f *Fleet) HourlyCost() float64 {
	sum := 0.0
	for i := range f.Snapshot.Nodes {
		labels := f.Snapshot.Nodes[i].Object.Labels
		sum += f.prices[offer{labels[corev1.LabelInstanceTypeStable], labels[corev1.LabelTopologyZone], labels[v1.CapacityTypeLabelKey]}]
	}
	return sum
}

// Check returns the placements of a step that a cluster would refuse, and all other faults of the step. It returns nil for a valid step. It
// does not change the fleet.
func (f *Fleet) Check(step *Step) []string {
	now := *f.Snapshot
	now.Nodes, now.Pods = nil, nil
	gone := make(map[string]bool, len(step.Removed))
	for _, name := range step.Removed {
		gone[name] = true
	}
	found := 0
	for i := range f.Snapshot.Nodes {
		n := &f.Snapshot.Nodes[i]
		if !gone[n.Name] {
			now.Nodes = append(now.Nodes, *n)
			continue
		}
		found++
		for _, pod := range n.Pods {
			now.Pods = append(now.Pods, pending(pod))
		}
	}
	var refusals []string
	if found != len(step.Removed) {
		refusals = append(refusals, fmt.Sprintf("%d nodes are removed, %d of them are there", len(step.Removed), found))
	}
	at := f.judge.Now(&now)
	plan := judge.Plan{Existing: step.Existing}
	for i := range step.Launched {
		l := &step.Launched[i]
		plan.NewNodes = append(plan.NewNodes, l.NewNode)
		if err := at.Bought(&l.NewNode, l.InstanceType, l.Zone, l.CapacityType); err != nil {
			refusals = append(refusals, fmt.Sprintf("node %s: %s", l.Name, err))
		}
	}
	return append(refusals, at.Check(&plan).Refusals...)
}

// Apply executes a step. An hour later, its removed nodes are gone, the launched nodes are ready, and the pods are bound to their planned
// nodes. If the step can't be executed, it returns an error, and the fleet is unchanged.
func (f *Fleet) Apply(step *Step) error {
	next := *f.Snapshot
	next.Time = f.Snapshot.Time.Add(time.Hour)
	next.Nodes = make([]scheduling.Node, 0, len(f.Snapshot.Nodes))
	homeless := make(map[string]*corev1.Pod)
	at := make(map[string]int, len(f.Snapshot.Nodes))
	for _, n := range f.Snapshot.Nodes {
		if slices.Contains(step.Removed, n.Name) {
			for _, pod := range n.Pods {
				homeless[pod.Namespace+"/"+pod.Name] = pod
			}
			continue
		}
		at[n.Name] = len(next.Nodes)
		next.Nodes = append(next.Nodes, n)
	}
	evictions := len(homeless)
	removed := len(f.Snapshot.Nodes) - len(next.Nodes)
	bind := func(n *scheduling.Node, pods []string) error {
		n.Pods = slices.Clone(n.Pods)
		for _, key := range pods {
			if homeless[key] == nil {
				return fmt.Errorf("pod %s would move to %s, but its node stays or the pod has moved elsewhere", key, n.Name)
			}
			pod := *homeless[key]
			pod.Spec.NodeName = n.Name
			n.Pods = append(n.Pods, &pod)
			delete(homeless, key)
		}
		return nil
	}
	for _, e := range step.Existing {
		i, ok := at[e.Name]
		if !ok {
			return fmt.Errorf("pods would move to %s, which does not exist", e.Name)
		}
		if err := bind(&next.Nodes[i], e.Pods); err != nil {
			return err
		}
	}
	for i := range step.Launched {
		n, err := f.launch(&step.Launched[i])
		if err != nil {
			return err
		}
		if err := bind(&n, step.Launched[i].Pods); err != nil {
			return err
		}
		next.Nodes = append(next.Nodes, n)
	}
	if len(homeless) > 0 {
		return fmt.Errorf("%d pods have lost their node, for example %s", len(homeless), slices.Min(slices.Collect(maps.Keys(homeless))))
	}
	f.Snapshot = &next
	f.Evictions += evictions
	f.Removed += removed
	f.Launched += len(step.Launched)
	return nil
}

// launch returns the node that is launched, with an age of one hour.
func (f *Fleet) launch(l *Launch) (scheduling.Node, error) {
	var none scheduling.Node
	s := f.Snapshot
	i := slices.IndexFunc(s.NodePools, func(p scheduling.NodePool) bool { return p.Object.Name == l.Pool })
	if i < 0 {
		return none, fmt.Errorf("node %s has NodePool %q, which does not exist", l.Name, l.Pool)
	}
	pool := &s.NodePools[i]
	types := s.Catalogs[pool.Catalog]
	i = slices.IndexFunc(types, func(t *cloudprovider.InstanceType) bool { return t.Name == l.InstanceType })
	if i < 0 {
		return none, fmt.Errorf("node %s has instance type %q, which does not exist", l.Name, l.InstanceType)
	}
	object := &corev1.Node{}
	object.Name = l.Name
	object.Labels = maps.Clone(pool.Object.Spec.Template.Labels)
	if object.Labels == nil {
		object.Labels = make(map[string]string)
	}
	for _, e := range types[i].Requirements.NodeSelectorRequirements() {
		if e.Operator == corev1.NodeSelectorOpIn && len(e.Values) == 1 {
			object.Labels[e.Key] = e.Values[0]
		}
	}
	maps.Copy(object.Labels, map[string]string{
		corev1.LabelHostname: l.Name, corev1.LabelInstanceTypeStable: l.InstanceType, corev1.LabelTopologyZone: l.Zone,
		v1.CapacityTypeLabelKey: l.CapacityType, v1.NodePoolLabelKey: pool.Object.Name,
		v1.NodeRegisteredLabelKey: "true", v1.NodeInitializedLabelKey: "true",
	})
	object.Spec.ProviderID = "replay://" + l.Name
	object.Spec.Taints = pool.Object.Spec.Template.Spec.Taints
	object.Status.Capacity, object.Status.Allocatable = types[i].Capacity, types[i].Allocatable()
	n := scheduling.Node{Name: l.Name, Object: object, Pool: pool.Key}
	workload.Settle(&n, s.Time)
	return n, nil
}
