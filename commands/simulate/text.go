package simulate

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/requests"
)

const (
	// shownKinds is the number of kinds of nodes that are listed for a pool, unless the user asks for all.
	shownKinds = 20
	// shownExisting is the number of existing nodes that are listed, unless the user asks for all.
	shownExisting = 20
	// shownWishes is the number of relaxed preferences that are listed, unless the user asks for all.
	shownWishes = 10
	// barCells is the width of a bar, in characters, if the line is long enough.
	barCells = 10
	// leastBarCells is the width of the narrowest bar that is drawn, in characters.
	leastBarCells = 4
)

// textReport writes a plan for people.
type textReport struct {
	canvas
	snapshot *scheduling.Snapshot
	// plan contains only real pods, and held contains the placeholders.
	plan      *scheduling.Plan
	held      headroom
	summary   summary
	workloads workloadIndex
	// assumed lists the assumptions; nil if there are none. replaced are nodes that were left out; nil if there are none.
	assumed  *assumptions
	replaced *replaced
	// unpriced are the nodes that the printed costs should include, but that have no known price.
	unpriced unpriced
	// pricing contains the sources of the prices.
	pricing pricing
	// preempted is true if no nodes are planned for pods that preempt others.
	preempted bool
	// answers are the answers to ProvisioningRequests.
	answers []requests.Answer
	// usage is the plan with requests at usage; nil without --usage.
	usage *usagePlan
	// verbose prints all lists completely.
	verbose bool
	// compile and solve are the durations of these steps.
	compile, solve time.Duration
}

// write prints the whole report.
func (r textReport) write(w io.Writer) error {
	b := bufio.NewWriter(w)
	r.workloads = indexWorkloads(r.snapshot)
	r.plan, r.held = separate(r.snapshot, r.plan)
	r.writeHead(b)
	r.writeInstances(b)
	r.writeExisting(b)
	r.writeCommitments(b)
	r.writeHeadroom(b)
	r.writeWishes(b)
	r.writeGangs(b)
	r.writeRequests(b)
	r.writeUnschedulable(b)
	r.writePreemptions(b)
	r.writeFoot(b)
	return b.Flush()
}

func (r textReport) writeHead(w io.Writer) {
	fmt.Fprintf(w, "%s, %s", r.paint(bold, counted(r.summary.Pods, "pending pod")),
		counted(r.summary.ExistingNodes, "existing node"))
	if n := len(r.held.buffer); n > 0 {
		fmt.Fprintf(w, ", headroom for %s", counted(n, "pod"))
	}
	if r.replaced != nil {
		fmt.Fprintf(w, ", in place of %s %s", counted(r.replaced.nodes, "node"), r.replaced.at())
	}
	fmt.Fprintln(w)
	r.assumed.write(w)
	r.writeUnpriced(w)
}

func (r textReport) writeInstances(w io.Writer) {
	if len(r.plan.NewNodes) == 0 {
		fmt.Fprint(w, "\nNo new nodes.\n")
		return
	}
	resources := shownResources(r.plan.NewNodes)
	for _, section := range groupNodes(r.plan.NewNodes) {
		r.writePool(w, section, resources)
	}
}

func (r textReport) writePool(w io.Writer, section poolSection, resources []corev1.ResourceName) {
	fmt.Fprintf(w, "\n%s: %s, %s/h\n", r.paint(bold, "NodePool "+section.pool.String()),
		counted(section.instances(), "new node"), r.markOf(section)+dollars(section.cost()))
	groups, rest := section.groups, []nodeGroup(nil)
	if !r.verbose && len(groups) > shownKinds {
		groups, rest = groups[:shownKinds], groups[shownKinds:]
	}
	r.nodeTable(groups, resources).write(w, r.canvas)
	if len(rest) > 0 {
		left := poolSection{groups: rest}
		fmt.Fprintf(w, "  %s and %s of %s, %s/h (--verbose lists them)\n", r.ellipsis(),
			counted(left.instances(), "node"), counted(len(rest), "cheaper kind"), r.markOf(left)+dollars(left.cost()))
	}
}

// markOf returns the mark that precedes the sum of a section's prices if one of them is an estimate.
func (r textReport) markOf(section poolSection) string {
	for _, g := range section.groups {
		if mark := r.assumed.mark(g.instanceType, g.capacityType); mark != "" {
			return mark
		}
	}
	return ""
}

// nodeTable prints one row for each kind of node, with its pods on a line below.
func (r textReport) nodeTable(groups []nodeGroup, resources []corev1.ResourceName) table {
	t := table{columns: []column{
		{title: "COUNT", right: true}, {title: "INSTANCE TYPE"}, {title: "ARCH"}, {title: "ZONE"}, {title: "CAPACITY"},
		{title: "$/HOUR", right: true}, {title: "PODS", right: true},
	}}
	for _, resource := range resources {
		t.columns = append(t.columns, column{title: resourceTitle(resource, resources)})
	}
	arch := indexArchitectures(r.snapshot)
	for _, g := range groups {
		low, high := g.podInterval()
		t.rows = append(t.rows, row{cells: []string{
			fmt.Sprintf("%d %s", len(g.nodes), r.times()), g.instanceType, arch[g.instanceType], g.zone, g.capacityType,
			r.assumed.mark(g.instanceType, g.capacityType) + strings.TrimPrefix(dollars(g.price), "$"), interval(low, high),
		}})
	}
	cells := r.barCells(t, resources)
	for i, g := range groups {
		for _, resource := range resources {
			t.rows[i].cells = append(t.rows[i].cells, r.fillCell(g, resource, cells))
		}
		if items := r.workloadItems(g.pods()); len(items) > 0 {
			t.rows[i].below = append(t.rows[i].below, r.fit(items, ", ", r.width-detailIndent))
		}
		if g.reservation != "" {
			t.rows[i].below = append(t.rows[i].below, g.reservation)
		}
		if g.terms != "" {
			t.rows[i].below = append(t.rows[i].below, g.terms)
		}
		if g.minValuesRelaxed {
			t.rows[i].below = append(t.rows[i].below, "instance types that would do are less varied than the pool's minValues asks for")
		}
		if items := r.bufferItems(g.placeholders(r.held)); len(items) > 0 {
			t.rows[i].below = append(t.rows[i].below, headroomLead+r.fit(items, ", ", r.width-detailIndent-width(headroomLead)))
		}
	}
	return t
}

// barCells returns the width of the bars that fit next to the other columns; 0 means that only percentages fit.
func (r textReport) barCells(t table, resources []corev1.ResourceName) int {
	bare := table{columns: t.columns[:len(t.columns)-len(resources)], rows: t.rows}
	free := r.width - bare.width()
	for cells := barCells; cells >= leastBarCells; cells-- {
		// Each bar needs two spaces before it, and " 100%" after it.
		if len(resources)*(2+r.barWidth(cells)+5) <= free {
			return cells
		}
	}
	return 0
}

// fillCell shows how full a kind of node is: "[########--]  83%".
func (r textReport) fillCell(g nodeGroup, resource corev1.ResourceName, cells int) string {
	share, ok := g.fill(resource)
	if !ok {
		return ""
	}
	figure := padLeft(percent(share), len("100%"))
	if cells == 0 {
		return figure
	}
	return r.bar(share, cells) + " " + figure
}

// workloadItems writes pods as "shop/web x3", "shop/api x1", ….
func (r textReport) workloadItems(pods []scheduling.PodKey) []string {
	var items []string
	for _, c := range r.workloads.counts(pods) {
		items = append(items, fmt.Sprintf("%s %s%d", c.short(), r.times(), c.count))
	}
	return items
}

func (r textReport) writeExisting(w io.Writer) {
	if len(r.plan.Existing) == 0 {
		return
	}
	pods := 0
	t := table{columns: []column{{title: "NODE"}, {title: "PODS", right: true}, {title: "WORKLOADS"}}}
	for _, node := range r.plan.Existing {
		pods += len(node.Pods)
		t.rows = append(t.rows, row{cells: []string{node.Name, number(len(node.Pods))}})
	}
	bare := table{columns: t.columns[:2], rows: t.rows}
	room := r.width - bare.width() - 2
	for i, node := range r.plan.Existing {
		t.rows[i].cells = append(t.rows[i].cells, r.fit(r.workloadItems(node.Pods), ", ", room))
		if items := r.bufferItems(r.held.existing[node.Name]); len(items) > 0 {
			t.rows[i].below = []string{headroomLead + r.fit(items, ", ", r.width-detailIndent-width(headroomLead))}
		}
	}
	fmt.Fprintf(w, "\n%s: %s on %s\n", r.paint(bold, "On existing nodes"), counted(pods, "pod"),
		counted(len(r.plan.Existing), "node"))
	left := 0
	if !r.verbose && len(t.rows) > shownExisting {
		left = len(t.rows) - shownExisting
		t.rows = t.rows[:shownExisting]
	}
	t.write(w, r.canvas)
	if left > 0 {
		fmt.Fprintf(w, "  %s and %s (--verbose lists them)\n", r.ellipsis(), counted(left, "more node"))
	}
}

func (r textReport) writeFoot(w io.Writer) {
	s := r.summary
	fmt.Fprintf(w, "\n%s placed", r.paint(bold, fmt.Sprintf("%s of %s", number(s.Placed), counted(s.Pods, "pod"))))
	these := "these pods"
	if n := len(r.held.buffer); n > 0 {
		fmt.Fprintf(w, ", headroom for %s of %s", number(r.held.placed()), number(n))
		these = "all that"
	}
	if s.NewNodes > 0 {
		mark := ""
		if s.Estimated > 0 {
			mark = "~"
		}
		fmt.Fprintf(w, "; %s for %s, %s a month of %d h", r.paint(bold, mark+dollars(s.HourlyCost)+"/h"),
			counted(s.NewNodes, "new node"), r.paint(bold, mark+monthly(s.HourlyCost)), hoursPerMonth)
	}
	fmt.Fprintln(w, ".")
	if s.LowerBound > 0 {
		r.writeWrapped(w, "", fmt.Sprintf("At these prices no set of new nodes holds %s for less than %s/h: the plan is %s.",
			these, dollars(s.LowerBound), gapWords(s.HourlyCost, s.LowerBound)))
	}
	r.writeRange(w)
	r.writeUsage(w)
	r.writePrices(w, r.pricing)
	fmt.Fprintf(w, "Compiled in %s, solved in %s.\n", millis(r.compile), millis(r.solve))
}

// gapWords describes the largest possible distance of a plan from the optimum, given its cost and its positive lower bound.
func gapWords(cost, bound float64) string {
	gap := cost/bound - 1
	switch {
	// Both figures were rounded, so equal costs may differ slightly. For nodes that cost almost nothing, such as reserved nodes, this
	// difference would be a large share.
	case cost-bound < 1e-6:
		return "as cheap as can be"
	case gap < 0.001:
		return "less than 0.1% above the cheapest"
	}
	return fmt.Sprintf("at most %.1f%% above the cheapest", 100*gap)
}

// millis writes a duration as "0.42 ms" or "317 ms".
func millis(d time.Duration) string {
	ms := float64(d.Microseconds()) / 1000
	if ms < 10 {
		return fmt.Sprintf("%.2f ms", ms)
	}
	return fmt.Sprintf("%.0f ms", ms)
}
