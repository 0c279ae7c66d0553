package simulate

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/drawknife/drawknife/commands/simulate/internal/report"
	"github.com/drawknife/drawknife/scheduling"
)

// differenceDocument is what --diff -o json prints. It is a contract, described in the package comment: keys are never renamed or removed.
type differenceDocument struct {
	typeMeta
	Summary differenceSummary `json:"summary"`
	// Policy is left out without --policy.
	Policy    *policyDocument      `json:"policy,omitempty"`
	NodePools []poolChangeDocument `json:"nodePools"`
	// Workloads are those whose number of pods or whose requests differ; left out if there are none.
	Workloads []workloadChangeDocument `json:"workloads,omitempty"`
	Nodes     []nodeChangeDocument     `json:"nodes"`
	Plans     scheduling.PlanDiff      `json:"plans"`
	// Launches are the nodes that the plan with the other pools launches, and NoPlace are the pods without a place in that plan.
	Launches []plannedNode      `json:"launches"`
	NoPlace  []unschedulablePod `json:"noPlace"`
	Notes    []planNote         `json:"notes"`
	// Assumptions are left out if there are none.
	Assumptions []string `json:"assumptions,omitempty"`
}

type differenceSummary struct {
	Nodes    int `json:"nodes"`
	Replaced int `json:"replaced"`
	// Evictions is the number of pods on replaced nodes that have to move.
	Evictions int `json:"evictions"`
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

type workloadChangeDocument struct {
	Name   string               `json:"name"`
	Change string               `json:"change"`
	Before workloadSizeDocument `json:"before"`
	After  workloadSizeDocument `json:"after"`
}

type workloadSizeDocument struct {
	Pods int `json:"pods"`
	// CPU (in cores) and Memory (in GiB) are the sums of the requests of the workload's pods.
	CPU    float64 `json:"cpu"`
	Memory float64 `json:"memory"`
}

func newWorkloadSize(z workloadSize) workloadSizeDocument {
	return workloadSizeDocument{z.Pods, roundDollars(z.CPU), roundDollars(z.Memory)}
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

// documentOfDifference returns the document of a difference.
func (s *simulation) documentOfDifference(d difference) differenceDocument {
	doc := differenceDocument{
		typeMeta:  typeOf(kindPoolComparison),
		Policy:    d.judgement.document(),
		NodePools: make([]poolChangeDocument, 0, len(d.pools)), Nodes: make([]nodeChangeDocument, 0, len(d.nodes)),
		Plans: scheduling.Diff(d.planBefore, d.planAfter), Notes: append(append([]planNote{}, s.notes()...), d.unpriced.notes()...), Assumptions: s.assumed.list(),
		Summary: differenceSummary{
			Nodes: s.nodes, Replaced: len(d.nodes), Evictions: d.evicted, HourlyCost: d.before.figure(), HourlyCostAfter: d.after.figure(), nodeCounts: newNodeCounts(d.before, d.after),
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
	for _, c := range d.workloads {
		doc.Workloads = append(doc.Workloads, workloadChangeDocument{c.workload.String(), c.change(), newWorkloadSize(c.before), newWorkloadSize(c.after)})
	}
	return doc
}

// printDifference writes a difference to standard output, and to the files of --report.
func (s *simulation) printDifference(d difference) error {
	doc := s.documentOfDifference(d)
	if err := s.writeReports(d, doc); err != nil {
		return err
	}
	if err := s.writePage(func() *report.Page { return s.differencePage(d, doc) }); err != nil {
		return err
	}
	b := bufio.NewWriter(s.stdout)
	if s.output.structured() || s.output.judged() {
		if err := s.writeDifference(b, s.output, d, doc); err != nil {
			return err
		}
		return b.Flush()
	}
	s.newDifferenceText(newCanvas(s.stdout, s.color, os.Getenv), s.verbose, d, doc).write(b)
	return b.Flush()
}

// writeDifference writes a difference in the given format. Text is written for a file, not for a terminal.
func (s *simulation) writeDifference(w io.Writer, form outputFormat, d difference, doc differenceDocument) error {
	switch {
	case form == outputSARIF:
		return d.judgement.WriteSARIF(w, d.judgement.places.Locate)
	case form == outputJUnit:
		return d.judgement.WriteJUnit(w)
	case form.structured():
		return writeDocument(w, form, doc)
	}
	formed, end := inForm(w, form)
	s.newDifferenceText(newCanvas(formed, colorNever, os.Getenv), s.verbose || form == outputWide, d, doc).write(formed)
	return end()
}

func (s *simulation) newDifferenceText(c canvas, verbose bool, d difference, doc differenceDocument) differenceText {
	return differenceText{textReport: textReport{canvas: c, verbose: verbose, assumed: s.assumed, unpriced: d.unpriced}, document: doc, difference: d}
}

// differenceText writes a difference for people.
type differenceText struct {
	textReport
	document   differenceDocument
	difference difference
}

func (r differenceText) write(w io.Writer) {
	r.writePolicy(w)
	fmt.Fprintln(w, r.paint(bold, "NodePools"))
	t := table{columns: []column{{title: "NAME"}, {title: "CHANGE"}, {title: "FIELDS"}}}
	for _, p := range r.document.NodePools {
		t.rows = append(t.rows, row{cells: []string{p.Name, p.Change, r.fit(p.Fields, ", ", max(r.width-40, 40))}})
	}
	t.write(w, r.canvas)
	r.assumed.write(w)
	r.writeUnpriced(w)
	r.writeWorkloads(w)
	r.writeNodes(w)
	r.writeCost(w)
}

// shownWorkloads is the number of workloads that the text output lists.
const shownWorkloads = 20

// writeWorkloads lists the workloads that differ.
func (r differenceText) writeWorkloads(w io.Writer) {
	changes := r.difference.workloads
	if len(changes) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n", r.paint(bold, "Workloads"))
	t := table{columns: []column{{title: "NAME"}, {title: "CHANGE"}, {title: "PODS", right: true}, {title: "CPU", right: true}, {title: "MEMORY", right: true}}}
	for i, c := range changes {
		if i == shownWorkloads && !r.verbose {
			t.rows = append(t.rows, row{cells: []string{fmt.Sprintf("and %s", counted(len(changes)-i, "more workload"))}})
			break
		}
		t.rows = append(t.rows, row{cells: []string{
			c.workload.String(), c.change(), fromTo(number(c.before.Pods), number(c.after.Pods)),
			fromTo(cores(c.before.CPU), cores(c.after.CPU)), fromTo(gibibytes(c.before.Memory), gibibytes(c.after.Memory)),
		}})
	}
	t.write(w, r.canvas)
}

func cores(cpu float64) string { return strconv.FormatFloat(cpu, 'f', 2, 64) }

func gibibytes(memory float64) string { return strconv.FormatFloat(memory, 'f', 2, 64) + " GiB" }

// fromTo writes two values as "3 to 5", or one if they are equal.
func fromTo(before, after string) string {
	if before == after {
		return after
	}
	return before + " to " + after
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

// change says how the cost changes. This is a percentage if the prices of all nodes before are known, and unknown if the price of a removed
// node is unknown.
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
	format := "\n%s with these NodePools, %s with the others once everything has been replaced: %s.\n"
	if len(r.difference.workloads) > 0 {
		format = "\n%s before, %s after the change, once everything has been replaced: %s.\n"
	}
	fmt.Fprintf(w, format, &before, r.paint(bold, after.String()), r.difference.change())
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
