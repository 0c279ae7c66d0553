package simulate

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/commands/simulate/internal/report"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/scheduling"
)

// consolidationPage returns the page of a disruption plan. It shows the nodes before and after the plan, and each command. reference is the
// plan of Karpenter's methods for the same nodes; nil if it was not made.
func (s *simulation) consolidationPage(c consolidation, d consolidationDocument, reference *consolidation) *report.Page {
	page := &report.Page{
		Title: "Consolidation of " + s.inputName(), Subtitle: fmt.Sprintf("%s, %s of them candidates", counted(d.Summary.Nodes, "node"), number(d.Summary.Candidates)),
		Facts: []report.Fact{
			{Name: "nodes removed", Value: number(d.Summary.Removed)}, {Name: "nodes replaced", Value: number(d.Summary.Replaced)},
			{Name: "nodes launched", Value: number(d.Summary.Launched)}, {Name: "evictions", Value: number(d.Summary.Evictions)},
			{Name: "cost per hour before", Value: c.before.dollars()}, {Name: "cost per hour after", Value: c.after.dollars()},
			{Name: "saved a month", Value: monthly(d.Summary.Savings)},
		},
		Remarks: s.remarksOf(d.Prices),
		Comparisons: []report.Comparison{{Title: "What the cluster costs, USD per hour", Bars: []report.Bar{
			{Name: "before", Value: c.before.cost, Text: c.before.dollars()}, {Name: "after all commands", Value: c.after.cost, Text: c.after.dollars()},
		}}},
	}
	if reference != nil {
		page.Comparisons[0].Bars = append(page.Comparisons[0].Bars, report.Bar{
			Name: "after one pass of Karpenter's methods", Value: reference.after.cost, Text: reference.after.dollars(), Note: "--planner reference, which plans one command in a pass",
		})
	}
	packer := newPacker([]corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}, s.costLabel, c.snapshot)
	page.Packings = []report.Packing{s.packingBefore(packer, c, d), s.packingAfter(packer, c, d)}
	page.Steps = s.consolidationSteps(c, d)
	page.Tables = withoutEmpty(append(packer.costTables(), staysTable(d)))
	return page
}

// packingBefore draws the nodes before the plan, and divides the price of each node among its pods.
func (s *simulation) packingBefore(p *packer, c consolidation, d consolidationDocument) report.Packing {
	packing := report.Packing{Title: "Nodes before", Resources: p.titles()}
	outcomes := make(map[string]string, len(d.Nodes))
	for i := range d.Nodes {
		if d.Nodes[i].Command != "" {
			outcomes[d.Nodes[i].Name] = d.Nodes[i].Outcome
		}
	}
	for i := range c.snapshot.Nodes {
		n := &c.snapshot.Nodes[i]
		_, allocatable := n.Amounts()
		pods := runningOn(n)
		packing.Nodes = append(packing.Nodes, s.drawnNode(p, c, n, pods, outcomes[n.Name]))
		p.divide(pods, allocatable, c.prices[n.Name].price)
	}
	return packing
}

// packingAfter draws the nodes after all commands.
func (s *simulation) packingAfter(p *packer, c consolidation, d consolidationDocument) report.Packing {
	packing := report.Packing{Title: "Nodes after all commands", Resources: p.titles()}
	gone, more := map[string]bool{}, map[string][]string{}
	for _, cmd := range d.Commands {
		for _, node := range cmd.Nodes {
			gone[node] = true
		}
		for _, to := range cmd.Receivers {
			more[to.Name] = append(more[to.Name], to.Pods...)
		}
	}
	for i := range c.snapshot.Nodes {
		n := &c.snapshot.Nodes[i]
		if gone[n.Name] {
			continue
		}
		mark := ""
		if len(more[n.Name]) > 0 {
			mark = "receives pods"
		}
		packing.Nodes = append(packing.Nodes, s.drawnNode(p, c, n, append(runningOn(n), more[n.Name]...), mark))
	}
	for _, cmd := range c.plan.Commands {
		for _, r := range cmd.Replacements {
			if r.Node == nil {
				continue // a node of a static pool, whose type is not known yet
			}
			kind := kindOf(r.Node)
			packing.Nodes = append(packing.Nodes, report.Node{
				Name: r.Node.Name, Kind: s.kindText(kind), Price: s.assumed.mark(kind.instanceType, kind.capacityType) + dollars(kind.price) + "/h", Mark: "new",
				Has: p.has(r.Node.Allocatable), Blocks: p.blocks(keysOf(r.Node.Pods), r.Node.Allocatable, r.Node.Requests),
			})
		}
	}
	return packing
}

// drawnNode draws an existing node with the given pods.
func (s *simulation) drawnNode(p *packer, c consolidation, n *scheduling.Node, pods []string, mark string) report.Node {
	_, allocatable := n.Amounts()
	price := c.prices[n.Name]
	kind := nodeKind{pool: n.Pool, instanceType: price.offering.InstanceType, zone: price.offering.Zone, capacityType: price.offering.CapacityType}
	out := report.Node{Name: n.Name, Kind: "price not known", Mark: mark, Has: p.has(allocatable), Blocks: p.blocks(pods, allocatable, nil)}
	if price.known {
		out.Kind, out.Price = s.kindText(kind), s.assumed.mark(kind.instanceType, kind.capacityType)+dollars(price.price)+"/h"
	}
	return out
}

// runningOn returns the pods of the node that have not ended.
func runningOn(n *scheduling.Node) []string {
	var out []string
	for _, pod := range n.Pods {
		if pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
			out = append(out, scheduling.PodKey{Namespace: pod.Namespace, Name: pod.Name}.String())
		}
	}
	return out
}

// consolidationSteps are the commands in their order, each with the cost of the cluster after that command.
func (s *simulation) consolidationSteps(c consolidation, d consolidationDocument) *report.Steps {
	if len(d.Commands) == 0 {
		return nil
	}
	steps := &report.Steps{Title: "Commands, one by one", Lead: "Commands of one wave run at the same time.", Most: c.before.cost}
	cost := c.before.cost
	for i, cmd := range d.Commands {
		step := report.Step{Title: fmt.Sprintf("%s %s", strings.ToUpper(cmd.Decision[:1])+cmd.Decision[1:], counted(len(cmd.Nodes), "node"))}
		if cmd.Wave > 0 {
			step.Title += fmt.Sprintf(" (wave %d)", cmd.Wave)
		}
		step.Lines = append(step.Lines, "Why: "+strings.ToLower(cmd.Reason), "Nodes that go: "+shortList(cmd.Nodes, ", "))
		for _, l := range cmd.Launches {
			if l.InstanceType != "" {
				step.Lines = append(step.Lines, fmt.Sprintf("New node: %s in %s, %s, %s/h", l.InstanceType, l.Zone, l.CapacityType, dollars(l.Price)))
			}
		}
		step.Lines = append(step.Lines, fmt.Sprintf("%s %s", counted(len(cmd.Pods), "pod"), moveWord(len(cmd.Pods))))
		if cmd.Savings != nil {
			step.Lines = append(step.Lines, fmt.Sprintf("Saves %s/h (%s a month)", dollars(*cmd.Savings), monthly(*cmd.Savings)))
			cost -= *cmd.Savings
		}
		step.Bar = report.Bar{Name: "cost of the cluster after it", Value: cost, Text: dollars(cost) + "/h"}
		if len(steps.Steps) < pageRows {
			steps.Steps = append(steps.Steps, step)
		} else if i == len(d.Commands)-1 {
			steps.Lead += fmt.Sprintf(" Only the first %d of %d are shown.", pageRows, len(d.Commands))
		}
	}
	return steps
}

func moveWord(pods int) string {
	if pods == 1 {
		return "moves"
	}
	return "move"
}

// staysTable lists the nodes that stay, with the reasons.
func staysTable(d consolidationDocument) report.Table {
	t := report.Table{Title: "Nodes that stay", Columns: []report.Column{{Title: "Node"}, {Title: "$/h", Right: true}, {Title: "Why"}}}
	for i := range d.Nodes {
		n := &d.Nodes[i]
		if n.Outcome != string(disruption.OutcomeKept) {
			continue
		}
		var why []string
		for _, r := range n.Reasons {
			if !slices.Contains(why, r.Message) {
				why = append(why, r.Message)
			}
		}
		price := "unknown"
		if n.Price != nil {
			price = dollars(*n.Price)
		}
		t.Rows = append(t.Rows, []string{n.Name, price, shortList(why, "; ")})
	}
	return cutRows(t)
}
