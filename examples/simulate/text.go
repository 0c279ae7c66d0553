package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/scheduling"
)

const (
	// shownKinds is how many kinds of machine a pool lists unless asked for all.
	shownKinds = 20
	// shownExisting is how many existing nodes are listed unless asked for all.
	shownExisting = 20
	// barCells is how wide bars are where there is room.
	barCells = 10
	// leastBarCells is the narrowest bar worth drawing.
	leastBarCells = 4
)

// textReport writes a plan for people.
type textReport struct {
	canvas
	snapshot  *scheduling.Snapshot
	plan      *scheduling.Plan
	summary   summary
	workloads workloadIndex
	// verbose lists everything that is otherwise cut short.
	verbose bool
	// compile and solve are how long those steps took.
	compile, solve time.Duration
}

// write prints the whole report.
func (r textReport) write(w io.Writer) error {
	b := bufio.NewWriter(w)
	r.workloads = indexWorkloads(r.snapshot)
	r.writeHead(b)
	r.writeMachines(b)
	r.writeExisting(b)
	r.writeUnschedulable(b)
	r.writeFoot(b)
	return b.Flush()
}

func (r textReport) writeHead(w io.Writer) {
	fmt.Fprintf(w, "%s, %s\n", r.paint(bold, counted(r.summary.Pods, "pending pod")),
		counted(r.summary.ExistingNodes, "existing node"))
}

func (r textReport) writeMachines(w io.Writer) {
	if len(r.plan.NewNodes) == 0 {
		fmt.Fprint(w, "\nNo new machines.\n")
		return
	}
	resources := shownResources(r.plan.NewNodes)
	for _, section := range groupMachines(r.plan.NewNodes) {
		r.writePool(w, section, resources)
	}
}

func (r textReport) writePool(w io.Writer, section poolSection, resources []corev1.ResourceName) {
	fmt.Fprintf(w, "\n%s: %s, %s/h\n", r.paint(bold, "NodePool "+section.pool.String()),
		counted(section.machines(), "new machine"), dollars(section.cost()))
	groups, rest := section.groups, []machineGroup(nil)
	if !r.verbose && len(groups) > shownKinds {
		groups, rest = groups[:shownKinds], groups[shownKinds:]
	}
	r.machineTable(groups, resources).write(w, r.canvas)
	if len(rest) > 0 {
		left := poolSection{groups: rest}
		fmt.Fprintf(w, "  %s and %s of %s, %s/h (--verbose lists them)\n", r.ellipsis(),
			counted(left.machines(), "machine"), counted(len(rest), "cheaper kind"), dollars(left.cost()))
	}
}

// machineTable lays out kinds of machines, one a row, with the pods they hold on a line below.
func (r textReport) machineTable(groups []machineGroup, resources []corev1.ResourceName) table {
	t := table{columns: []column{
		{title: "COUNT", right: true}, {title: "INSTANCE TYPE"}, {title: "ZONE"}, {title: "CAPACITY"},
		{title: "$/HOUR", right: true}, {title: "PODS", right: true},
	}}
	for _, resource := range resources {
		t.columns = append(t.columns, column{title: resourceTitle(resource, resources)})
	}
	for _, g := range groups {
		low, high := g.podInterval()
		t.rows = append(t.rows, row{cells: []string{
			fmt.Sprintf("%d %s", len(g.nodes), r.times()), g.instanceType, g.zone, g.capacityType,
			strings.TrimPrefix(dollars(g.price), "$"), interval(low, high),
		}})
	}
	cells := r.barCells(t, resources)
	for i, g := range groups {
		for _, resource := range resources {
			t.rows[i].cells = append(t.rows[i].cells, r.fillCell(g, resource, cells))
		}
		t.rows[i].below = r.fit(r.workloadItems(g.pods()), ", ", r.width-detailIndent)
	}
	return t
}

// barCells finds how wide the bars may be beside the other columns; 0 leaves room for figures only.
func (r textReport) barCells(t table, resources []corev1.ResourceName) int {
	bare := table{columns: t.columns[:len(t.columns)-len(resources)], rows: t.rows}
	free := r.width - bare.width()
	for cells := barCells; cells >= leastBarCells; cells-- {
		// Two columns between cells, and " 100%" behind each bar.
		if len(resources)*(2+r.barWidth(cells)+5) <= free {
			return cells
		}
	}
	return 0
}

// fillCell shows how full a kind of machine is: "[########--]  83%".
func (r textReport) fillCell(g machineGroup, resource corev1.ResourceName, cells int) string {
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
		items = append(items, fmt.Sprintf("%s %s%d", c.workload.short(), r.times(), c.count))
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

// refusal is a set of reasons with the pods that share it.
type refusal struct {
	reasons []string
	pods    []scheduling.PodKey
}

// groupRefusals brings together the pods that have no place for the same reasons, the largest group first.
func groupRefusals(pods []scheduling.Unschedulable) []refusal {
	index := make(map[string]int)
	var refusals []refusal
	for _, pod := range pods {
		var reasons []string
		for _, reason := range pod.Reasons {
			reasons = append(reasons, reason.String())
		}
		key := strings.Join(reasons, "\n")
		i, ok := index[key]
		if !ok {
			i = len(refusals)
			index[key] = i
			refusals = append(refusals, refusal{reasons: reasons})
		}
		refusals[i].pods = append(refusals[i].pods, pod.Pod)
	}
	slices.SortStableFunc(refusals, func(a, b refusal) int { return len(b.pods) - len(a.pods) })
	return refusals
}

func (r textReport) writeUnschedulable(w io.Writer) {
	if len(r.plan.Unschedulable) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n", r.paint(red, "Not placed: "+counted(len(r.plan.Unschedulable), "pod")))
	for _, refusal := range groupRefusals(r.plan.Unschedulable) {
		for _, c := range r.workloads.counts(refusal.pods) {
			fmt.Fprintf(w, "  %s%s\n", countLine(c), r.examples(refusal.pods, c))
		}
		for _, reason := range refusal.reasons {
			for i, line := range wrap(reason, r.width-6) {
				lead := "    - "
				if i > 0 {
					lead = "      "
				}
				fmt.Fprintln(w, lead+line)
			}
		}
	}
}

// examples names pods of a workload: as many as fit on the line, or all when asked for.
func (r textReport) examples(pods []scheduling.PodKey, of workloadCount) string {
	var names []string
	for _, pod := range pods {
		if r.workloads[pod] == of.workload {
			names = append(names, pod.Name)
		}
	}
	if r.verbose {
		return ": " + strings.Join(names, ", ")
	}
	used := width(countLine(of)) + len("  : ")
	return ": " + r.fit(names, ", ", max(r.width-used, 0))
}

// countLine is "3 pods of Job ml/huge".
func countLine(c workloadCount) string { return counted(c.count, "pod") + " of " + c.workload.String() }

func (r textReport) writeFoot(w io.Writer) {
	s := r.summary
	fmt.Fprintf(w, "\n%s placed", r.paint(bold, fmt.Sprintf("%s of %s", number(s.Placed), counted(s.Pods, "pod"))))
	if s.NewNodes > 0 {
		fmt.Fprintf(w, "; %s for %s, %s a month of %d h", r.paint(bold, dollars(s.HourlyCost)+"/h"),
			counted(s.NewNodes, "new machine"), r.paint(bold, monthly(s.HourlyCost)), hoursPerMonth)
	}
	fmt.Fprintln(w, ".")
	if s.LowerBound > 0 {
		fmt.Fprintf(w, "No set of new machines holds these pods for less than %s/h: the plan is %s.\n",
			dollars(s.LowerBound), gapWords(s.HourlyCost/s.LowerBound-1))
	}
	fmt.Fprintf(w, "Compiled in %s, solved in %s.\n", millis(r.compile), millis(r.solve))
}

// gapWords says how far a plan may be from the best one; gap is the share by which its cost is above the lower bound.
func gapWords(gap float64) string {
	switch {
	// Both figures were rounded, so equal ones may differ by a trace.
	case gap < 1e-6:
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
