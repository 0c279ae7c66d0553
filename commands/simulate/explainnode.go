package simulate

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/scheduling"
)

// nodeExplanation is the output of explain node.
type nodeExplanation struct {
	typeMeta
	verdictDocument
	InstanceType string `json:"instanceType,omitempty"`
	Zone         string `json:"zone,omitempty"`
	CapacityType string `json:"capacityType,omitempty"`
	// Planned is the command that removes the node; left out for a node that stays.
	Planned *commandDocument `json:"planned,omitempty"`
	// Workloads are the workloads on the node, the most expensive first. Idle is the part of the node that no pod requests.
	Workloads []shareDocument `json:"workloads"`
	Idle      shareDocument   `json:"idle"`
	Notes     []planNote      `json:"notes"`
}

// shareDocument describes the part of a node that one workload requests.
type shareDocument struct {
	Workload string `json:"workload,omitempty"`
	Pods     int    `json:"pods"`
	// CPUMillis and MemoryBytes are the requests of the workload's pods.
	CPUMillis   int64 `json:"cpuMillis"`
	MemoryBytes int64 `json:"memoryBytes"`
	// Share is the mean of two fractions: the requested CPU by the node's allocatable CPU, and the same for memory.
	Share float64 `json:"share"`
	// HourlyCost is Share times the node's price, in USD per hour. It is left out if the price is not known.
	HourlyCost *float64 `json:"hourlyCost,omitempty"`
}

// explainNode explains a node of the input.
func (s *simulation) explainNode(ctx context.Context, snapshot *scheduling.Snapshot) (explanation, error) {
	i := slices.IndexFunc(snapshot.Nodes, func(n scheduling.Node) bool { return n.Name == s.explain.name })
	if i < 0 {
		names := make([]string, 0, len(snapshot.Nodes))
		for i := range snapshot.Nodes {
			names = append(names, snapshot.Nodes[i].Name)
		}
		if len(names) == 0 {
			return nil, fmt.Errorf("the input has no node %s, and no other nodes either: add the manifests of nodes, or read a running cluster", s.explain.name)
		}
		slices.Sort(names)
		return nil, fmt.Errorf("the input has no node %s, but %s: %s", s.explain.name, counted(len(names), "node"), strings.Join(mostOf(names, mostNamed), ", "))
	}
	c, err := s.makeConsolidation(ctx, snapshot, s.planner)
	if err != nil {
		return nil, err
	}
	node := &snapshot.Nodes[i]
	price := c.prices[node.Name]
	d := &nodeExplanation{
		typeMeta: typeOf(kindNodeExplanation), InstanceType: price.offering.InstanceType, Zone: price.offering.Zone, CapacityType: price.offering.CapacityType,
		verdictDocument: verdictDocument{Name: node.Name, NodePool: node.Pool.String(), Outcome: "kept", Price: price.figure(), Reasons: []stayDocument{}, Calendar: calendarDocument{Gates: []gateDocument{}}},
	}
	all := newConsolidationDocument(c)
	for i := range all.Nodes {
		if all.Nodes[i].Name == node.Name {
			d.verdictDocument = all.Nodes[i]
		}
	}
	for i := range all.Commands {
		if slices.Contains(all.Commands[i].Nodes, node.Name) {
			d.Planned = &all.Commands[i]
		}
	}
	d.share(snapshot, node, price)
	d.Notes = append([]planNote{}, s.notes()...)
	return d, nil
}

// share divides the node among the workloads on it.
func (d *nodeExplanation) share(snapshot *scheduling.Snapshot, node *scheduling.Node, price nodePrice) {
	_, allocatable := node.Amounts()
	of := func(pods int, cpu, memory int64, workload string) shareDocument {
		s := shareDocument{Workload: workload, Pods: pods, CPUMillis: cpu, MemoryBytes: memory}
		s.Share = (portion(cpu, allocatable.Cpu().MilliValue()) + portion(memory, allocatable.Memory().Value())) / 2
		if price.known {
			cost := roundDollars(price.price * s.Share)
			s.HourlyCost = &cost
		}
		return s
	}
	deployments := deploymentsOf(snapshot)
	type sum struct {
		pods        int
		cpu, memory int64
	}
	sums := map[string]sum{}
	var total sum
	for _, pod := range node.Pods {
		if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
			continue
		}
		name := cmp.Or(workloadOf(pod, deployments).named(), "Pod "+pod.Namespace+"/"+pod.Name)
		requests := scheduling.PodRequests(pod)
		one := sums[name]
		sums[name] = sum{one.pods + 1, one.cpu + requests.Cpu().MilliValue(), one.memory + requests.Memory().Value()}
		total = sum{total.pods + 1, total.cpu + requests.Cpu().MilliValue(), total.memory + requests.Memory().Value()}
	}
	d.Workloads = []shareDocument{}
	for _, name := range sortedKeys(sums) {
		d.Workloads = append(d.Workloads, of(sums[name].pods, sums[name].cpu, sums[name].memory, name))
	}
	slices.SortStableFunc(d.Workloads, func(a, b shareDocument) int { return cmp.Compare(b.Share, a.Share) })
	d.Idle = of(0, max(allocatable.Cpu().MilliValue()-total.cpu, 0), max(allocatable.Memory().Value()-total.memory, 0), "")
}

// portion returns part divided by whole, or 0 if whole is not positive.
func portion(part, whole int64) float64 {
	if whole <= 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

func (d *nodeExplanation) status() int { return exitPlaced }

func (d *nodeExplanation) write(w io.Writer, c canvas) {
	fmt.Fprint(w, c.paint(bold, "Node "+d.Name))
	if d.NodePool != "" {
		fmt.Fprintf(w, " of NodePool %s", d.NodePool)
	}
	if d.InstanceType != "" {
		fmt.Fprintf(w, ": %s in %s, %s", d.InstanceType, d.Zone, d.CapacityType)
	}
	if d.Price != nil {
		fmt.Fprintf(w, ", %s/h (%s a month)", dollars(*d.Price), monthly(*d.Price))
	}
	fmt.Fprintln(w)
	d.writeShares(w, c)
	fmt.Fprintln(w)
	switch {
	case d.Planned != nil:
		fmt.Fprintf(w, "It goes: %s, for %s; %s move.\n", d.Planned.Decision, strings.ToLower(d.Planned.Reason), counted(len(d.Planned.Pods), "pod"))
		if d.Planned.Savings != nil {
			fmt.Fprintf(w, "The command saves %s/h (%s a month).\n", dollars(*d.Planned.Savings), monthly(*d.Planned.Savings))
		}
	default:
		fmt.Fprint(w, "It stays:\n")
		for _, r := range d.Reasons {
			text := r.Message
			if r.Method != "" {
				text = r.Method + ": " + text
			}
			fmt.Fprintf(w, "  %s\n", strings.Join(wrap(text, c.width-rowIndent), "\n    "))
		}
		if len(d.Reasons) == 0 {
			fmt.Fprint(w, "  no planner of disruption looks at it\n")
		}
	}
	d.writeCalendar(w)
}

func (d *nodeExplanation) writeShares(w io.Writer, c canvas) {
	t := table{columns: []column{{title: "ON IT"}, {title: "PODS", right: true}, {title: "CPU", right: true}, {title: "MEMORY", right: true}, {title: "SHARE", right: true}, {title: "A MONTH", right: true}}}
	for _, s := range append(slices.Clone(d.Workloads), d.Idle) {
		cost := "unknown"
		if s.HourlyCost != nil {
			cost = monthly(*s.HourlyCost)
		}
		t.rows = append(t.rows, row{cells: []string{
			cmp.Or(s.Workload, "(idle)"), number(s.Pods), fmt.Sprintf("%.2f", float64(s.CPUMillis)/1000), fmt.Sprintf("%.2f GiB", float64(s.MemoryBytes)/(1<<30)), percent(s.Share), cost,
		}})
	}
	fmt.Fprintln(w)
	t.write(w, c)
}

// writeCalendar prints when the node may be removed.
func (d *nodeExplanation) writeCalendar(w io.Writer) {
	switch at := d.Calendar.MayGo; {
	case len(d.Calendar.Gates) == 0 && d.Planned != nil:
		return
	case len(d.Calendar.Gates) == 0:
		fmt.Fprint(w, "Nothing forbids to remove it now.\n")
		return
	case at == nil:
		fmt.Fprint(w, "When it may go is not known:\n")
	default:
		fmt.Fprintf(w, "It may go from %s:\n", at.Format(time.RFC3339))
	}
	for _, g := range d.Calendar.Gates {
		fmt.Fprintf(w, "  %s: %s\n", g.Kind, g.Message)
	}
}
