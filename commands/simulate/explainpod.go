package simulate

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/pods"
	"github.com/drawknife/drawknife/scheduling/rulecosts"
)

// podExplanation is the output of explain pod.
type podExplanation struct {
	typeMeta
	Pod string `json:"pod"`
	// Workload is left out for a pod without a controller.
	Workload string `json:"workload,omitempty"`
	// RunsOn is the node that the pod runs on. It is empty if the pod is pending. The other fields describe a plan in which that node does
	// not exist.
	RunsOn string `json:"runsOn,omitempty"`
	// Place is left out for a pod without a place.
	Place *placeDocument `json:"place,omitempty"`
	// Reasons say why the pod has no place.
	Reasons []string `json:"reasons"`
	// Alternatives are the next best instance types for all pods of the planned node, cheapest first. Types is the number of types on which
	// these pods fit.
	Alternatives []alternativeDocument `json:"alternatives"`
	Types        int                   `json:"types"`
	// HourlyCost is the price of all new nodes of the plan, in USD per hour.
	HourlyCost float64 `json:"hourlyCost"`
	ruleCosts
	Notes []planNote `json:"notes"`
}

// placeDocument is the place of a pod.
type placeDocument struct {
	Node string `json:"node"`
	// New is true for a node to launch.
	New          bool   `json:"new"`
	NodePool     string `json:"nodePool,omitempty"`
	InstanceType string `json:"instanceType,omitempty"`
	Zone         string `json:"zone,omitempty"`
	CapacityType string `json:"capacityType,omitempty"`
	// Price is the price of the node, in USD per hour. It is left out for an existing node.
	Price float64 `json:"price,omitempty"`
	// Pods is the number of pods planned on this node, including the explained pod.
	Pods int `json:"pods"`
}

// String returns the name of an existing node, or the type, zone, capacity type and price of a new node.
func (p *placeDocument) String() string {
	if !p.New {
		return "on " + p.Node
	}
	return fmt.Sprintf("%s in %s, %s, %s/h", p.InstanceType, p.Zone, p.CapacityType, dollars(p.Price))
}

// alternativeDocument is another instance type on which the pods of the planned node fit.
type alternativeDocument struct {
	InstanceType string  `json:"instanceType"`
	Zone         string  `json:"zone"`
	CapacityType string  `json:"capacityType"`
	Price        float64 `json:"price"`
	// More is the amount by which this type costs more than the planned type, in USD per hour.
	More float64 `json:"more"`
}

// shownAlternatives is the maximum number of listed alternatives.
const shownAlternatives = 5

// explainPod explains a pending pod, or a pod that runs on a node.
func (s *simulation) explainPod(ctx context.Context, snapshot *scheduling.Snapshot) (explanation, error) {
	pod, node, err := s.findPod(snapshot)
	if err != nil {
		return nil, err
	}
	key := scheduling.PodKey{Namespace: pod.Namespace, Name: pod.Name}
	if node != "" {
		if !pods.Reschedulable(pod) {
			return nil, fmt.Errorf("pod %s runs on %s and would not be rescheduled: it belongs to a DaemonSet, is a static pod, is terminating, or has ended", key, node)
		}
		snapshot = withoutNodes(snapshot, map[string]bool{node: true})
	}
	base, err := s.base(ctx, snapshot)
	if err != nil {
		return nil, err
	}
	d := &podExplanation{
		typeMeta: typeOf(kindPodExplanation), Pod: key.String(), Workload: workloadOf(pod, deploymentsOf(snapshot)).named(), RunsOn: node,
		Place: placeIn(base.Plan, key), Reasons: []string{}, Alternatives: []alternativeDocument{}, HourlyCost: roundDollars(base.Plan.HourlyCost),
	}
	rules := rulecosts.OfPod(snapshot, key)
	for i := range base.Plan.NewNodes {
		if n := &base.Plan.NewNodes[i]; d.Place != nil && n.Name == d.Place.Node {
			d.addAlternatives(n)
			rules = append(rules, rulecosts.OfPool(snapshot, n.Pool)...)
		}
	}
	if d.Place == nil {
		for i := range snapshot.NodePools {
			rules = append(rules, rulecosts.OfPool(snapshot, snapshot.NodePools[i].Identity())...)
		}
		d.addReasons(base.Plan, key)
	}
	report, err := base.Without(ctx, rules)
	if err != nil {
		return nil, err
	}
	d.ruleCosts = newRuleCosts(report, func(p *scheduling.Plan) *placeDocument { return placeIn(p, key) })
	d.Notes = append([]planNote{}, s.notes()...)
	return d, nil
}

// findPod returns the pod with the name that the user gave, and the node that it runs on, or "" if it is pending. If no pod has the name
// but a workload does, findPod returns the first pod of the workload.
func (s *simulation) findPod(snapshot *scheduling.Snapshot) (found *corev1.Pod, node string, err error) {
	deployments := deploymentsOf(snapshot)
	var ofWorkload *corev1.Pod
	var its string
	var more []string
	look := func(pod *corev1.Pod, on string) {
		name, whole := s.explain.name, pod.Namespace+"/"+pod.Name
		w := workloadOf(pod, deployments)
		switch {
		case s.cluster.namespace != "" && pod.Namespace != s.cluster.namespace:
		case whole == name || pod.Name == name:
			more = append(more, whole)
			if found == nil {
				found, node = pod, on
			}
		case ofWorkload == nil && !w.bare() && (w.name == name || w.namespace+"/"+w.name == name):
			ofWorkload, its = pod, on
		}
	}
	for _, pod := range snapshot.Pods {
		look(pod, "")
	}
	for i := range snapshot.Nodes {
		for _, pod := range snapshot.Nodes[i].Pods {
			look(pod, snapshot.Nodes[i].Name)
		}
	}
	switch {
	case len(more) > 1:
		slices.Sort(more)
		return nil, "", fmt.Errorf("%d pods have the name %s: name one with its namespace, such as %s", len(more), s.explain.name, more[0])
	case found != nil:
		return found, node, nil
	case ofWorkload != nil:
		s.note("PodOfWorkload", "%s is a workload: its pod %s/%s stands for the others", s.explain.name, ofWorkload.Namespace, ofWorkload.Name)
		return ofWorkload, its, nil
	}
	return nil, "", fmt.Errorf("the input has no pod and no workload %s: it has %s pending and %s", s.explain.name,
		counted(len(snapshot.Pods), "pod"), counted(len(snapshot.Nodes), "node")+" with their pods")
}

// placeIn returns the node on which a plan puts a pod, or nil if the pod has no place.
func placeIn(plan *scheduling.Plan, key scheduling.PodKey) *placeDocument {
	for i := range plan.NewNodes {
		n := &plan.NewNodes[i]
		if slices.Contains(n.Pods, key) {
			kind := kindOf(n)
			return &placeDocument{
				Node: n.Name, New: true, NodePool: n.Pool.String(), InstanceType: kind.instanceType, Zone: kind.zone, CapacityType: kind.capacityType,
				Price: roundDollars(kind.price), Pods: len(n.Pods),
			}
		}
	}
	for _, n := range plan.Existing {
		if slices.Contains(n.Pods, key) {
			return &placeDocument{Node: n.Name, Pods: len(n.Pods)}
		}
	}
	return nil
}

func (d *podExplanation) addAlternatives(n *scheduling.NewNode) {
	d.Types = len(n.InstanceTypes)
	for i := 1; i < len(n.InstanceTypes) && i <= shownAlternatives; i++ {
		o := &n.InstanceTypes[i]
		d.Alternatives = append(d.Alternatives, alternativeDocument{
			InstanceType: o.Name, Zone: o.Zone, CapacityType: o.CapacityType, Price: roundDollars(o.Price), More: roundDollars(o.Price - n.InstanceTypes[0].Price),
		})
	}
}

func (d *podExplanation) addReasons(plan *scheduling.Plan, key scheduling.PodKey) {
	for _, u := range plan.Unschedulable {
		if u.Pod != key {
			continue
		}
		for i := range u.Reasons {
			d.Reasons = append(d.Reasons, u.Reasons[i].String())
		}
	}
}

func (d *podExplanation) status() int {
	if d.Place == nil {
		return exitUnschedulable
	}
	return exitPlaced
}

func (d *podExplanation) write(w io.Writer, c canvas) {
	fmt.Fprint(w, c.paint(bold, "Pod "+d.Pod))
	if d.Workload != "" {
		fmt.Fprintf(w, " of %s", d.Workload)
	}
	switch {
	case d.RunsOn != "":
		fmt.Fprintf(w, " runs on %s. Without that node", d.RunsOn)
	default:
		fmt.Fprint(w, " waits for a place. In the plan")
	}
	switch {
	case d.Place == nil:
		fmt.Fprint(w, " it has no place:\n")
		for _, reason := range d.Reasons {
			fmt.Fprintf(w, "  %s\n", strings.Join(wrap(reason, c.width-rowIndent), "\n    "))
		}
	case !d.Place.New:
		fmt.Fprintf(w, " it goes on %s, a node that is there and has room: that costs nothing more.\n", d.Place.Node)
	default:
		fmt.Fprintf(w, " it goes on a new node of NodePool %s:\n  %s (%s a month), for %s.\n", d.Place.NodePool, d.Place, monthly(d.Place.Price), counted(d.Place.Pods, "pod"))
		fmt.Fprintf(w, "  Of %s that hold these pods by all rules, this is the cheapest.\n", counted(d.Types, "instance type"))
	}
	if len(d.Alternatives) > 0 {
		t := table{columns: []column{{title: "NEXT BEST"}, {title: "ZONE"}, {title: "CAPACITY"}, {title: "$/H", right: true}, {title: "MORE A MONTH", right: true}}}
		for _, a := range d.Alternatives {
			t.rows = append(t.rows, row{cells: []string{a.InstanceType, a.Zone, a.CapacityType, strings.TrimPrefix(dollars(a.Price), "$"), monthly(a.More)}})
		}
		fmt.Fprintln(w)
		t.write(w, c)
	}
	d.ruleCosts.write(w, c)
}
