package simulate

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/drawknife/drawknife/scheduling"
)

// differenceDocument is what --diff -o json prints. It is a contract, described in the package comment: keys are only ever
// added.
type differenceDocument struct {
	typeMeta
	Summary   differenceSummary    `json:"summary"`
	NodePools []poolChangeDocument `json:"nodePools"`
	Nodes     []nodeChangeDocument `json:"nodes"`
	Plans     scheduling.PlanDiff  `json:"plans"`
	// Launches are the nodes that are planned with the other pools, and NoPlace the pods that then have no place.
	Launches []plannedNode      `json:"launches"`
	NoPlace  []unschedulablePod `json:"noPlace"`
	Notes    []planNote         `json:"notes"`
	// Assumptions are left out if there are none.
	Assumptions []string `json:"assumptions,omitempty"`
}

type differenceSummary struct {
	Nodes    int `json:"nodes"`
	Replaced int `json:"replaced"`
	// HourlyCost and HourlyCostAfter are sums of the known prices; left out if no price is known.
	HourlyCost      *float64 `json:"hourlyCost,omitempty"`
	HourlyCostAfter *float64 `json:"hourlyCostAfter,omitempty"`
	nodeCounts
	Unschedulable       int `json:"unschedulable"`
	UnschedulableBefore int `json:"unschedulableBefore"`
}

type poolChangeDocument struct {
	Name   string   `json:"name"`
	Change string   `json:"change"`
	Fields []string `json:"fields"`
}

type nodeChangeDocument struct {
	Name     string `json:"name"`
	NodePool string `json:"nodePool"`
	Reason   string `json:"reason"`
	// Price is left out if it is not known.
	Price *float64 `json:"price,omitempty"`
	// PriceEstimated is left out if false.
	PriceEstimated bool `json:"priceEstimated,omitempty"`
}

func (s *simulation) printDifference(d difference) error {
	doc := differenceDocument{
		typeMeta:  typeOf(kindPoolComparison),
		NodePools: make([]poolChangeDocument, 0, len(d.pools)), Nodes: make([]nodeChangeDocument, 0, len(d.nodes)),
		Plans: scheduling.Diff(d.planBefore, d.planAfter), Notes: append(append([]planNote{}, s.notes()...), d.unpriced.notes()...), Assumptions: s.assumed.list(),
		Summary: differenceSummary{
			Nodes: s.nodes, Replaced: len(d.nodes), HourlyCost: d.before.figure(), HourlyCostAfter: d.after.figure(), nodeCounts: newNodeCounts(d.before, d.after),
			Unschedulable: len(d.planAfter.Unschedulable), UnschedulableBefore: len(d.planBefore.Unschedulable),
		},
	}
	doc.Launches = make([]plannedNode, 0, len(d.planAfter.NewNodes))
	var shared sharedParts
	for i := range d.planAfter.NewNodes {
		n := newPlannedNode(&d.planAfter.NewNodes[i], nil, &shared)
		n.PriceEstimated = s.assumed.isEstimated(n.InstanceType, n.CapacityType)
		doc.Launches = append(doc.Launches, n)
	}
	doc.NoPlace = newUnschedulablePods(nil, d.planAfter.Unschedulable)
	for _, p := range d.pools {
		doc.NodePools = append(doc.NodePools, poolChangeDocument{Name: p.key.String(), Change: p.change, Fields: append([]string{}, p.fields...)})
	}
	for _, n := range d.nodes {
		doc.Nodes = append(doc.Nodes, nodeChangeDocument{Name: n.node, NodePool: n.pool.String(), Reason: string(n.reason), Price: n.price.figure(), PriceEstimated: n.price.estimated})
	}
	b := bufio.NewWriter(s.stdout)
	if s.output.structured() {
		if err := writeDocument(b, s.output, doc); err != nil {
			return err
		}
		return b.Flush()
	}
	r := differenceText{textReport: textReport{canvas: newCanvas(s.stdout, s.color, os.Getenv), verbose: s.verbose, assumed: s.assumed, unpriced: d.unpriced}, document: doc, difference: d}
	r.write(b)
	return b.Flush()
}

// differenceText writes a difference for people.
type differenceText struct {
	textReport
	document   differenceDocument
	difference difference
}

func (r differenceText) write(w io.Writer) {
	fmt.Fprintln(w, r.paint(bold, "NodePools"))
	t := table{columns: []column{{title: "NAME"}, {title: "CHANGE"}, {title: "FIELDS"}}}
	for _, p := range r.document.NodePools {
		t.rows = append(t.rows, row{cells: []string{p.Name, p.Change, r.fit(p.Fields, ", ", max(r.width-40, 40))}})
	}
	t.write(w, r.canvas)
	r.assumed.write(w)
	r.writeUnpriced(w)
	r.writeNodes(w)
	r.writeCost(w)
}

// writeNodes lists the nodes that would be removed, by pool and reason.
func (r differenceText) writeNodes(w io.Writer) {
	if len(r.document.Nodes) == 0 {
		fmt.Fprint(w, "\nNo node drifts.\n")
		return
	}
	type group struct {
		pool, reason string
		cost         nodeCost
		nodes        []string
	}
	var groups []group
	for _, n := range r.difference.nodes {
		pool, reason := n.pool.String(), string(n.reason)
		i := slices.IndexFunc(groups, func(g group) bool { return g.pool == pool && g.reason == reason })
		if i < 0 {
			i = len(groups)
			groups = append(groups, group{pool: pool, reason: reason})
		}
		groups[i].cost.add(n.price)
		groups[i].nodes = append(groups[i].nodes, n.node)
	}
	slices.SortStableFunc(groups, func(a, b group) int {
		return cmp.Or(strings.Compare(a.pool, b.pool), strings.Compare(a.reason, b.reason))
	})
	fmt.Fprintf(w, "\n%s: %s of %s\n", r.paint(bold, "Replaced"), number(len(r.document.Nodes)), counted(r.document.Summary.Nodes, "node"))
	t := table{columns: []column{{title: "NODEPOOL"}, {title: "REASON"}, {title: "NODES", right: true}, {title: "$/HOUR", right: true}}}
	for _, g := range groups {
		room := r.width - detailIndent
		if r.verbose {
			room = 1 << 30
		}
		t.rows = append(t.rows, row{
			cells: []string{g.pool, g.reason, number(len(g.nodes)), g.cost.cell()},
			below: []string{r.fit(g.nodes, ", ", room)},
		})
	}
	t.write(w, r.canvas)
	fmt.Fprint(w, "  Drifted nodes go within the budgets of their pools, nodes of a deleted pool with it.\n")
}

// change returns the difference of the costs; it has percentages only if the costs of all nodes are known.
func (d *difference) change() string {
	was, is := roundDollars(d.before.cost), roundDollars(d.after.cost)
	going := false
	for i := range d.nodes {
		going = going || !d.nodes[i].price.known
	}
	switch {
	case going:
		return "what that changes is unknown"
	case is == was:
		return "as before"
	case was > 0 && d.before.unpriced == 0:
		return fmt.Sprintf("%+.1f%%", 100*(is/was-1))
	case is > was:
		return dollars(is-was) + "/h more"
	}
	return dollars(was-is) + "/h less"
}

func (r differenceText) writeCost(w io.Writer) {
	before, after := r.difference.before, r.difference.after
	fmt.Fprintf(w, "\n%s with these NodePools, %s with the others once everything has been replaced: %s.\n",
		&before, r.paint(bold, after.String()), r.difference.change())
	if nodes := r.difference.planAfter.NewNodes; len(nodes) > 0 {
		fmt.Fprintf(w, "\n%s\n", r.paint(bold, counted(len(nodes), "new node")))
		t := table{columns: []column{{title: "COUNT", right: true}, {title: "NODEPOOL"}, {title: "INSTANCE TYPE"}, {title: "ZONE"}, {title: "CAPACITY"}, {title: "$/HOUR", right: true}}}
		for _, section := range groupNodes(nodes) {
			for _, g := range section.groups {
				t.rows = append(t.rows, row{cells: []string{
					fmt.Sprintf("%d %s", len(g.nodes), r.times()), section.pool.String(), g.instanceType, g.zone, g.capacityType, r.assumed.mark(g.instanceType, g.capacityType) + strings.TrimPrefix(dollars(g.price), "$"),
				}})
			}
		}
		t.write(w, r.canvas)
	}
	if s := r.document.Summary; s.Unschedulable > 0 {
		fmt.Fprintf(w, "\n%s\n", r.paint(red, fmt.Sprintf("%s would have no place (%d have none now):", counted(s.Unschedulable, "pod"), s.UnschedulableBefore)))
		for _, refusal := range groupRefusals(r.difference.planAfter.Unschedulable) {
			fmt.Fprintf(w, "  %s\n", r.fit(podNames(refusal.pods), ", ", r.width-2))
			r.writeReasons(w, refusal.reasons)
		}
	}
}
