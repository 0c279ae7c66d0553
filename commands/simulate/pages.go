package simulate

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/commands/simulate/internal/report"
	"github.com/drawknife/drawknife/scheduling"
)

const (
	// pageRows is the maximum number of rows in a table of a page.
	pageRows = 200
	// idlePart is the name of the part of nodes that no pod requests.
	idlePart = "(idle)"
	// daemonSetPart is the name of the part of a new node that its DaemonSet pods request.
	daemonSetPart = "DaemonSets"
)

// writePage writes the page of --html, if the user wants one.
func (s *simulation) writePage(make func() *report.Page) error {
	if s.page == "" {
		return nil
	}
	s.progress.Enter("writing the page")
	if err := writeFile(s.page, func(w io.Writer) error { return make().Write(w) }); err != nil {
		return withStatus(exitOutput, fmt.Errorf("writing the page: %w", err))
	}
	s.done.wrote(s.page)
	return nil
}

// remarksOf returns the paragraphs below a page's figures: assumptions, and where prices come from.
func (s *simulation) remarksOf(sources []priceSource) []string {
	var out []string
	for _, line := range s.assumed.list() {
		out = append(out, "Assumed: "+line)
	}
	for _, p := range sources {
		out = append(out, fmt.Sprintf("Prices of %s (%s/h): %s", counted(p.Nodes, p.CapacityType+" node"), p.mark()+dollars(p.HourlyCost), p.words()))
	}
	return out
}

// inputName names the input in the title of a page.
func (s *simulation) inputName() string {
	switch {
	case s.snapshot != "":
		return s.snapshot
	case s.cluster.asked():
		return shortList(append([]string{"the running cluster"}, s.inputs...), ", ")
	case len(s.inputs) == 0:
		return "the built-in cluster"
	}
	return shortList(s.inputs, ", ")
}

// shortList joins the first items, and adds how many more there are.
func shortList(items []string, separator string) string {
	text := strings.Join(mostOf(items, mostNamed), separator)
	if more := len(items) - mostNamed; more > 0 {
		text += fmt.Sprintf("%sand %s more", separator, number(more))
	}
	return text
}

// pagePod contains what a page needs to know about a pod.
type pagePod struct {
	workload, namespace, label string
	requests                   corev1.ResourceList
}

// packer draws nodes and divides their prices.
type packer struct {
	// pods by "namespace/name".
	pods      map[string]pagePod
	resources []corev1.ResourceName
	// label is the key of --cost-label.
	label string
	costs map[string]*costShare
}

// costShare is a workload's share of the cost of nodes, USD per hour.
type costShare struct {
	pagePod
	pods        int
	cpu, memory float64
	cost        float64
}

// newPacker indexes all pods of the snapshots. resources are the resources whose use is drawn.
func newPacker(resources []corev1.ResourceName, label string, snapshots ...*scheduling.Snapshot) *packer {
	p := &packer{pods: map[string]pagePod{}, resources: resources, label: label, costs: map[string]*costShare{}}
	for _, snapshot := range snapshots {
		deployments := deploymentsOf(snapshot)
		index := func(pods []*corev1.Pod) {
			for _, pod := range pods {
				key := scheduling.PodKey{Namespace: pod.Namespace, Name: pod.Name}
				p.pods[key.String()] = pagePod{
					workload: cmp.Or(workloadOf(pod, deployments).named(), "Pod "+key.String()), namespace: pod.Namespace, label: pod.Labels[label], requests: scheduling.PodRequests(pod),
				}
			}
		}
		index(snapshot.Pods)
		index(snapshot.Placeholders)
		for i := range snapshot.Nodes {
			index(snapshot.Nodes[i].Pods)
		}
	}
	return p
}

// titles returns the names of the resources.
func (p *packer) titles() []string {
	out := make([]string, len(p.resources))
	for i, name := range p.resources {
		out[i] = resourceTitle(name, p.resources)
	}
	return out
}

// has returns, for each resource, whether a node has it.
func (p *packer) has(allocatable corev1.ResourceList) []bool {
	out := make([]bool, len(p.resources))
	for i, name := range p.resources {
		out[i] = amount(allocatable, name) > 0
	}
	return out
}

// blocks returns the pods by workload, the largest first. total is the sum of the requests of all pods of a new node, including DaemonSet
// pods; it is nil for an existing node, whose pods are all known.
func (p *packer) blocks(pods []string, allocatable, total corev1.ResourceList) []report.Block {
	of := map[string]*report.Block{}
	sums := make([]float64, len(p.resources))
	for _, key := range pods {
		pod, known := p.pods[key]
		if !known {
			continue
		}
		b := of[pod.workload]
		if b == nil {
			b = &report.Block{Workload: pod.workload, Shares: make([]float64, len(p.resources))}
			of[pod.workload] = b
		}
		b.Pods++
		for i, name := range p.resources {
			share := shareOfAmount(pod.requests, allocatable, name)
			b.Shares[i] += share
			sums[i] += share
		}
	}
	out := make([]report.Block, 0, len(of)+1)
	for _, name := range sortedKeys(of) {
		out = append(out, *of[name])
	}
	slices.SortStableFunc(out, func(a, b report.Block) int { return cmp.Compare(slices.Max(b.Shares), slices.Max(a.Shares)) })
	if total != nil {
		rest, some := make([]float64, len(p.resources)), false
		for i, name := range p.resources {
			rest[i] = max(0, shareOfAmount(total, allocatable, name)-sums[i])
			some = some || rest[i] > 1e-9
		}
		if some {
			out = append(out, report.Block{Workload: daemonSetPart, Shares: rest})
		}
	}
	return out
}

// divide divides a node's price among its pods. Each pod gets the mean of its share of the node's CPU and its share of the node's memory.
// The rest of the price counts as idle.
func (p *packer) divide(pods []string, allocatable corev1.ResourceList, price float64) {
	left := 1.0
	for _, key := range pods {
		pod, known := p.pods[key]
		if !known {
			continue
		}
		share := (shareOfAmount(pod.requests, allocatable, corev1.ResourceCPU) + shareOfAmount(pod.requests, allocatable, corev1.ResourceMemory)) / 2
		left -= share
		p.add(pod, share*price)
	}
	p.costs[idlePart] = cmp.Or(p.costs[idlePart], &costShare{pagePod: pagePod{workload: idlePart, namespace: idlePart, label: idlePart}})
	p.costs[idlePart].cost += max(left, 0) * price
}

func (p *packer) add(pod pagePod, cost float64) {
	c := p.costs[pod.workload]
	if c == nil {
		c = &costShare{pagePod: pod}
		p.costs[pod.workload] = c
	}
	c.pods++
	c.cpu += amount(pod.requests, corev1.ResourceCPU)
	c.memory += amount(pod.requests, corev1.ResourceMemory)
	c.cost += cost
}

// costTables returns tables with the cost of the nodes by workload, by namespace and, with --cost-label, by that label.
func (p *packer) costTables() []report.Table {
	if len(p.costs) < 2 {
		return nil
	}
	const lead = "A node's price is divided by the mean of the shares of its CPU and its memory that pods request. DaemonSet pods of new nodes count as idle."
	tables := []report.Table{
		p.costTable("Cost by namespace", lead, "Namespace", func(c *costShare) string { return c.namespace }),
		p.costTable("Cost by workload", lead, "Workload", func(c *costShare) string { return c.workload }),
	}
	if p.label != "" {
		tables = append(tables, p.costTable("Cost by label "+p.label, lead, p.label, func(c *costShare) string { return cmp.Or(c.label, "(none)") }))
	}
	return tables
}

func (p *packer) costTable(title, lead, first string, group func(*costShare) string) report.Table {
	sums := map[string]*costShare{}
	total := 0.0
	for _, name := range sortedKeys(p.costs) {
		c := p.costs[name]
		sum := sums[group(c)]
		if sum == nil {
			sum = &costShare{}
			sums[group(c)] = sum
		}
		sum.pods, sum.cpu, sum.memory, sum.cost = sum.pods+c.pods, sum.cpu+c.cpu, sum.memory+c.memory, sum.cost+c.cost
		total += c.cost
	}
	names := sortedKeys(sums)
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(sums[b].cost, sums[a].cost) })
	t := report.Table{Title: title, Lead: lead, Columns: []report.Column{
		{Title: first}, {Title: "Pods", Right: true}, {Title: "CPU", Right: true}, {Title: "Memory", Right: true}, {Title: "$/h", Right: true}, {Title: "A month", Right: true}, {Title: "Share", Right: true},
	}}
	for _, name := range names {
		c, share := sums[name], 0.0
		if total > 0 {
			share = c.cost / total
		}
		row := []string{name, number(c.pods), fmt.Sprintf("%.2f", c.cpu), fmt.Sprintf("%.2f GiB", c.memory/(1<<30)), dollars(c.cost), monthly(c.cost), percent(share)}
		if name == idlePart {
			row[1], row[2], row[3] = "", "", ""
		}
		t.Rows = append(t.Rows, row)
	}
	return cutRows(t)
}

// cutRows limits the rows of a table.
func cutRows(t report.Table) report.Table {
	if len(t.Rows) > pageRows {
		t.More, t.Rows = len(t.Rows)-pageRows, t.Rows[:pageRows]
	}
	return t
}

func shareOfAmount(part, whole corev1.ResourceList, name corev1.ResourceName) float64 {
	all := amount(whole, name)
	if all <= 0 {
		return 0
	}
	return amount(part, name) / all
}

func keysOf(pods []scheduling.PodKey) []string {
	out := make([]string, len(pods))
	for i, pod := range pods {
		out[i] = pod.String()
	}
	return out
}
