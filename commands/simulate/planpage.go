package simulate

import (
	"fmt"
	"strings"

	"github.com/drawknife/drawknife/commands/simulate/internal/report"
	"github.com/drawknife/drawknife/scheduling"
)

// planPage is the page of a plan for pending pods.
func (s *simulation) planPage(r result) *report.Page {
	prices := pricingOf(r.plan)
	d := s.documentOf(r, prices)
	title := "Plan for " + s.inputName()
	if r.replaced != nil {
		title = "Drain of " + counted(r.replaced.nodes, "node") + " of " + s.inputName()
	}
	page := &report.Page{
		Title: title, Subtitle: fmt.Sprintf("%s, %s", counted(d.Summary.Pods, "pending pod"), counted(d.Summary.ExistingNodes, "existing node")),
		Facts: planFacts(d.Summary), Remarks: s.remarksOf(d.Prices),
		Comparisons: planComparisons(d.Summary),
	}
	packer := newPacker(shownResources(r.plan.NewNodes), s.costLabel, r.snapshot)
	if len(r.plan.NewNodes) > 0 {
		page.Packings = append(page.Packings, s.newNodePacking(packer, r.plan))
	}
	page.Tables = append(packer.costTables(), existingTable(r.plan.Existing), unplacedTable(d.Unschedulable))
	page.Tables = withoutEmpty(page.Tables)
	return page
}

func planFacts(s summary) []report.Fact {
	mark := ""
	if s.Estimated > 0 {
		mark = "~"
	}
	facts := []report.Fact{
		{Name: "pods with a place", Value: fmt.Sprintf("%s of %s", number(s.Placed), number(s.Pods))},
		{Name: "new nodes", Value: number(s.NewNodes)},
		{Name: "cost per hour", Value: mark + dollars(s.HourlyCost)},
		{Name: fmt.Sprintf("a month of %d h", hoursPerMonth), Value: mark + monthly(s.HourlyCost)},
	}
	if s.LowerBound > 0 {
		facts = append(facts, report.Fact{Name: "compared with the lower bound", Value: gapWords(s.HourlyCost, s.LowerBound)})
	}
	if s.ReplacedCost != nil {
		facts = append(facts, report.Fact{Name: "cost of the drained nodes", Value: dollars(*s.ReplacedCost) + "/h"})
	}
	return facts
}

// planComparisons returns bars that compare the plan's cost with other costs of the same pods or of the same nodes.
func planComparisons(s summary) []report.Comparison {
	c := report.Comparison{Title: "What the new nodes cost, USD per hour"}
	add := func(name string, value float64, note string) {
		if value > 0 {
			c.Bars = append(c.Bars, report.Bar{Name: name, Value: value, Text: dollars(value), Note: note})
		}
	}
	if s.ReplacedCost != nil {
		add("the drained nodes", *s.ReplacedCost, "what they cost now")
	}
	add("this plan", s.HourlyCost, "")
	add("the same nodes on demand", s.OnDemandCost, "without spot prices")
	add("the same nodes at the lowest prices seen", s.LowCost, "")
	add("the same nodes at the highest prices seen", s.HighCost, "")
	add("lower bound", s.LowerBound, "no set of new nodes for these pods costs less at these prices")
	if len(c.Bars) < 2 {
		return nil
	}
	return []report.Comparison{c}
}

// newNodePacking draws the planned nodes, and divides the price of each node among its pods.
func (s *simulation) newNodePacking(p *packer, plan *scheduling.Plan) report.Packing {
	packing := report.Packing{Title: "New nodes", Resources: p.titles()}
	for _, section := range groupNodes(plan.NewNodes) {
		for _, group := range section.groups {
			for _, node := range group.nodes {
				packing.Nodes = append(packing.Nodes, report.Node{
					Name: node.Name, Kind: s.kindText(group.nodeKind), Price: s.assumed.mark(group.instanceType, group.capacityType) + dollars(group.price) + "/h",
					Has: p.has(node.Allocatable), Blocks: p.blocks(keysOf(node.Pods), node.Allocatable, node.Requests),
				})
				p.divide(keysOf(node.Pods), node.Allocatable, group.price)
			}
		}
	}
	return packing
}

// kindText describes a kind of node: "m7g.large in us-east-1a, spot, of NodePool general".
func (s *simulation) kindText(k nodeKind) string {
	text := k.instanceType + " in " + k.zone + ", " + k.capacityType
	if pool := k.pool.String(); pool != "" {
		text += ", of NodePool " + pool
	}
	return text
}

// existingTable lists the pods that the plan places on existing nodes.
func existingTable(nodes []scheduling.ExistingNode) report.Table {
	t := report.Table{Title: "Pods placed on existing nodes", Columns: []report.Column{{Title: "Node"}, {Title: "Pods", Right: true}, {Title: "Which"}}}
	for _, n := range nodes {
		if len(n.Pods) > 0 {
			t.Rows = append(t.Rows, []string{n.Name, number(len(n.Pods)), shortList(keysOf(n.Pods), ", ")})
		}
	}
	return cutRows(t)
}

// unplacedTable lists the pods without a place, with the reasons.
func unplacedTable(pods []unschedulablePod) report.Table {
	t := report.Table{Title: "Pods without a place", Columns: []report.Column{{Title: "Pod"}, {Title: "Workload"}, {Title: "Why"}, {Title: "What would help"}}}
	for _, p := range pods {
		var why, help []string
		for _, reason := range p.Reasons {
			text := reason.Message
			if reason.NodePool != "" {
				text = "NodePool " + reason.NodePool + ": " + text
			}
			why = append(why, text)
			if reason.NearestMiss != "" {
				help = append(help, reason.NearestMiss)
			}
		}
		t.Rows = append(t.Rows, []string{p.Pod, p.Workload, shortList(why, "; "), shortList(help, "; ")})
	}
	return cutRows(t)
}

func withoutEmpty(tables []report.Table) []report.Table {
	var out []report.Table
	for _, t := range tables {
		if len(t.Rows) > 0 {
			out = append(out, t)
		}
	}
	return out
}

// differencePage is the page of a comparison with another set of NodePools or workloads.
func (s *simulation) differencePage(d difference, doc differenceDocument) *report.Page {
	page := &report.Page{
		Title: "Difference between " + s.inputName() + " and " + s.diff,
		Facts: []report.Fact{
			{Name: "cost per hour before", Value: d.before.dollars()}, {Name: "cost per hour after", Value: d.after.dollars()},
			{Name: "nodes replaced", Value: number(doc.Summary.Replaced)}, {Name: "evictions", Value: number(doc.Summary.Evictions)},
			{Name: "pods without a place", Value: number(doc.Summary.Unschedulable)}, {Name: "before", Value: number(doc.Summary.UnschedulableBefore)},
		},
		Remarks: s.remarksOf(nil),
		Comparisons: []report.Comparison{{Title: "What the cluster costs, USD per hour", Bars: []report.Bar{
			{Name: "before", Value: d.before.cost, Text: d.before.dollars()}, {Name: "after", Value: d.after.cost, Text: d.after.dollars(), Note: "once everything has been replaced"},
		}}},
	}
	packer := newPacker(shownResources(d.planAfter.NewNodes), s.costLabel, d.snapshots...)
	if len(d.planAfter.NewNodes) > 0 {
		packing := s.newNodePacking(packer, d.planAfter)
		packing.Title = "New nodes after the change"
		page.Packings = append(page.Packings, packing)
	}
	pools := report.Table{Title: "NodePools", Columns: []report.Column{{Title: "NodePool"}, {Title: "Change"}, {Title: "Fields"}}}
	for _, p := range doc.NodePools {
		pools.Rows = append(pools.Rows, []string{p.Name, p.Change, strings.Join(p.Fields, ", ")})
	}
	workloads := report.Table{Title: "Workloads that differ", Columns: []report.Column{{Title: "Workload"}, {Title: "Change"}, {Title: "Pods before", Right: true}, {Title: "Pods after", Right: true}}}
	for _, w := range d.workloads {
		workloads.Rows = append(workloads.Rows, []string{w.workload.String(), w.change(), number(w.before.Pods), number(w.after.Pods)})
	}
	nodes := report.Table{Title: "Nodes that are replaced", Columns: []report.Column{{Title: "Node"}, {Title: "NodePool"}, {Title: "Why"}, {Title: "$/h", Right: true}}}
	for _, n := range doc.Nodes {
		price := "unknown"
		if n.Price != nil {
			price = dollars(*n.Price)
		}
		nodes.Rows = append(nodes.Rows, []string{n.Name, n.NodePool, n.Reason, price})
	}
	page.Tables = withoutEmpty(append([]report.Table{cutRows(pools), cutRows(workloads), cutRows(nodes), unplacedTable(doc.NoPlace)}, packer.costTables()...))
	return page
}
