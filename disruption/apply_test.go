package disruption_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/internal/planvalidator"
	"github.com/drawknife/drawknife/internal/workload"
	"github.com/drawknife/drawknife/scheduling"
)

// failing is what testing.TB and *rapid.T share.
type failing interface {
	Helper()
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

// applied is the snapshot an hour after the commands were carried out: their members are gone, what they launch is there,
// and pods are where they were planned. With check each state between is looked at by the validator of plans: what the
// command does must be a sound plan for the pods it moves.
func applied(t failing, s *scheduling.Snapshot, commands []*disruption.Command, check bool) *scheduling.Snapshot {
	t.Helper()
	next := *s
	next.Time = s.Time.Add(time.Hour)
	next.Nodes = slices.Clone(s.Nodes)
	for n, cmd := range commands {
		if check {
			checkCommand(t, &next, cmd)
		}
		carryOut(t, &next, cmd, fmt.Sprintf("%d-%d", s.Time.Unix(), n))
	}
	return &next
}

// unplaced is the snapshot with the command's members gone and those of their pods waiting that it plans places for.
func unplaced(s *scheduling.Snapshot, cmd *disruption.Command) *scheduling.Snapshot {
	out := *s
	out.Pods, out.Nodes = nil, nil
	placed := map[scheduling.PodKey]bool{}
	for _, r := range cmd.Receivers {
		for _, key := range r.Pods {
			placed[key] = true
		}
	}
	for _, r := range cmd.Replacements {
		if r.Node != nil {
			for _, key := range r.Node.Pods {
				placed[key] = true
			}
		}
	}
	for i := range s.Nodes {
		n := s.Nodes[i]
		if !slices.Contains(cmd.Nodes(), n.Name) {
			out.Nodes = append(out.Nodes, n)
			continue
		}
		for _, p := range n.Pods {
			if placed[scheduling.PodKey{Namespace: p.Namespace, Name: p.Name}] {
				p = p.DeepCopy()
				p.Spec.NodeName, p.Status = "", corev1.PodStatus{Phase: corev1.PodPending}
				out.Pods = append(out.Pods, p)
			}
		}
	}
	return &out
}

func checkCommand(t failing, s *scheduling.Snapshot, cmd *disruption.Command) {
	t.Helper()
	waiting := unplaced(s, cmd)
	plan := &scheduling.Plan{Existing: cmd.Receivers}
	for _, r := range cmd.Receivers {
		plan.Order = append(plan.Order, r.Pods...)
	}
	for _, r := range cmd.Replacements {
		if r.Node == nil {
			continue
		}
		plan.NewNodes = append(plan.NewNodes, *r.Node)
		plan.Order = append(plan.Order, r.Node.Pods...)
		plan.HourlyCost += r.Node.InstanceTypes[0].Price
	}
	if cmd.Order != nil {
		plan.Order = cmd.Order
	}
	for _, fault := range planvalidator.Check(waiting, plan) {
		if strings.Contains(fault.What, "certificate") {
			continue // commands have none
		}
		t.Errorf("%v (command %s)", fault, cmd)
	}
}

// carryOut changes the snapshot by the command.
func carryOut(t failing, s *scheduling.Snapshot, cmd *disruption.Command, prefix string) {
	t.Helper()
	pods := map[scheduling.PodKey]*corev1.Pod{}
	nodes := s.Nodes[:0:0]
	for i := range s.Nodes {
		if !slices.Contains(cmd.Nodes(), s.Nodes[i].Name) {
			nodes = append(nodes, s.Nodes[i])
			continue
		}
		for _, p := range s.Nodes[i].Pods {
			pods[scheduling.PodKey{Namespace: p.Namespace, Name: p.Name}] = p
		}
	}
	s.Nodes = nodes
	bind := func(n *scheduling.Node, keys []scheduling.PodKey) {
		n.Pods = slices.Clone(n.Pods)
		for _, key := range keys {
			p := *pods[key]
			p.Spec.NodeName = n.Name
			n.Pods = append(n.Pods, &p)
		}
	}
	for _, r := range cmd.Receivers {
		at := slices.IndexFunc(s.Nodes, func(n scheduling.Node) bool { return n.Name == r.Name })
		if at < 0 {
			t.Fatalf("command %s: pods are planned for %s, which is not there", cmd, r.Name)
		}
		bind(&s.Nodes[at], r.Pods)
	}
	for i, r := range cmd.Replacements {
		if r.Node == nil {
			continue
		}
		n := launched(s, r.Node, fmt.Sprintf("new-%s-%d", prefix, i))
		bind(&n, r.Node.Pods)
		s.Nodes = append(s.Nodes, n)
	}
}

// launched is the node that comes of the first of a plan's types.
func launched(s *scheduling.Snapshot, plan *scheduling.NewNode, name string) scheduling.Node {
	o := plan.InstanceTypes[0]
	pool := s.NodePools[slices.IndexFunc(s.NodePools, func(p scheduling.NodePool) bool { return p.Key == plan.Pool })]
	list := s.Catalogs[pool.Catalog]
	it := list[slices.IndexFunc(list, func(x *cloudprovider.InstanceType) bool { return x.Name == o.Name })]
	labels := map[string]string{}
	for r := range it.Requirements.All {
		if values := r.Values(); !r.Complement() && len(values) == 1 {
			labels[r.Key()] = values[0]
		}
	}
	maps.Copy(labels, map[string]string{
		v1.NodePoolLabelKey: pool.Object.Name, corev1.LabelInstanceTypeStable: o.Name, corev1.LabelTopologyZone: o.Zone,
		v1.CapacityTypeLabelKey: o.CapacityType, v1.NodeRegisteredLabelKey: "true", v1.NodeInitializedLabelKey: "true",
		corev1.LabelHostname: name,
	})
	maps.Copy(labels, pool.Object.Spec.Template.Labels)
	created := metav1.NewTime(s.Time.Add(-time.Hour))
	object := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels, CreationTimestamp: created}}
	object.Spec.ProviderID = "cloud://" + name
	object.Spec.Taints = pool.Object.Spec.Template.Spec.Taints
	object.Status.Capacity, object.Status.Allocatable = it.Capacity, it.Allocatable()
	n := scheduling.Node{Name: name, Object: object, Pool: plan.Pool}
	workload.Settle(&n, created.Time)
	return n
}

// rounds plans and applies until a plan comes to nothing, so often at most. It returns the last snapshot, how many rounds had
// commands, and how many pods moved.
func rounds(t testing.TB, p disruption.Planner, s *scheduling.Snapshot, most int, check bool) (last *scheduling.Snapshot, n, moved int) {
	t.Helper()
	for n = range most {
		plan, err := p.Plan(t.Context(), surveyed(t, s))
		if err != nil {
			t.Fatal(err)
		}
		if len(plan.Commands) == 0 {
			return s, n, moved
		}
		for _, c := range plan.Commands {
			moved += c.Pods()
		}
		s = applied(t, s, plan.Commands, check)
	}
	return s, most, moved
}
