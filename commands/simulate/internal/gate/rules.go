package gate

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// hoursPerMonth is the length of a month in cloud bills and price calculators.
const hoursPerMonth = 730

// StatusSeveral is the exit status if several rules are broken. It differs from the status of each rule, so that a CI system that tolerates
// the status of one rule does not tolerate another rule that is broken at the same time.
const StatusSeveral = 16

// unit is the unit of a limit.
type unit string

const (
	dollarsPerMonth unit = "USD per month"
	percent         unit = "percent"
	nodes           unit = "node"
	pods            unit = "pod"
	workloads       unit = "workload"
)

// whole reports whether amounts of the unit are counts.
func (u unit) whole() bool { return u == nodes || u == pods || u == workloads }

// highest is the highest limit that a policy may have. A higher limit is probably a mistake.
func (u unit) highest() float64 {
	if u == percent {
		return 100_000
	}
	return 1e9
}

// format writes an amount for people: "$12.50 a month", "3 %", "1 pod".
func (u unit) format(amount float64) string {
	switch {
	case u == dollarsPerMonth:
		return dollars(amount) + " a month"
	case u == percent && math.IsInf(amount, 1):
		return "more than any percentage, because the nodes before cost nothing"
	case u == percent:
		return strconv.FormatFloat(math.Round(amount*10)/10, 'f', -1, 64) + " %"
	case amount == 1:
		return "1 " + string(u)
	}
	return strconv.FormatFloat(amount, 'f', -1, 64) + " " + string(u) + "s"
}

func dollars(amount float64) string {
	text := "$" + strconv.FormatFloat(math.Abs(amount), 'f', 2, 64)
	if amount < 0 {
		return "-" + text
	}
	return text
}

// Limit is a limit that a rule may have. The value of the change must be at most the limit. If Least is true, it must be at least the
// limit.
type Limit struct {
	// Field is the name of the field in the policy.
	Field string
	Unit  unit
	Least bool
	// About describes the limited value, as the end of the sentence "at most this many ...".
	About string
	value func(*Facts, []string) float64
}

// Rule is a rule that a policy may have.
type Rule struct {
	// Name is the name of the field in the policy.
	Name string
	// Status is the exit status if this rule alone is broken.
	Status int
	// About describes in one sentence the value that the rule limits.
	About string
	// Limits are the limits that the rule may have; a policy gives at least one.
	Limits []Limit
	// objects returns the workloads that the rule counts; it is nil for rules that do not count workloads.
	objects func(*Facts, []string) []Object
}

// hasExceptions reports whether the rule counts workloads. A policy may exclude workloads from such a rule.
func (r *Rule) hasExceptions() bool { return r.objects != nil }

// Rules returns all rules in the order of their exit statuses.
func Rules() []Rule {
	return []Rule{
		{
			Name: "addedCost", Status: 10, About: "what the nodes cost more after the change, once everything has been replaced",
			Limits: []Limit{
				{Field: "maxPerMonth", Unit: dollarsPerMonth, About: "added cost in USD a month of 730 hours", value: func(f *Facts, _ []string) float64 { return f.addedPerMonth() }},
				{Field: "maxPercent", Unit: percent, About: "added cost in percent of the cost before", value: func(f *Facts, _ []string) float64 { return f.addedPercent() }},
			},
		},
		{
			Name: "unplacedPods", Status: 11, About: "pods that no node can take after the change",
			Limits: []Limit{
				{Field: "max", Unit: pods, About: "pods without a place", value: func(f *Facts, except []string) float64 { return podsOf(without(f.Unplaced, except)) }},
				{Field: "maxAdded", Unit: pods, About: "more pods without a place than before", value: func(f *Facts, except []string) float64 {
					return podsOf(without(f.Unplaced, except)) - podsOf(without(f.UnplacedBefore, except))
				}},
			},
			objects: func(f *Facts, except []string) []Object { return without(f.Unplaced, except) },
		},
		{
			Name: "drift", Status: 12, About: "nodes that are replaced because their NodePool or node class changes",
			Limits: []Limit{
				{Field: "maxNodes", Unit: nodes, About: "replaced nodes", value: func(f *Facts, _ []string) float64 { return float64(f.Drifted) }},
				{Field: "maxPercent", Unit: percent, About: "replaced nodes in percent of the cluster's nodes", value: func(f *Facts, _ []string) float64 { return share(f.Drifted, f.Nodes) }},
			},
		},
		{
			Name: "evictions", Status: 13, About: "pods that are evicted from nodes that are replaced",
			Limits: []Limit{
				{Field: "maxPods", Unit: pods, About: "evicted pods", value: func(f *Facts, _ []string) float64 { return float64(f.Evicted) }},
				{Field: "maxPercent", Unit: percent, About: "evicted pods in percent of the pods that run", value: func(f *Facts, _ []string) float64 { return share(f.Evicted, f.Running) }},
			},
		},
		{
			Name: "spotShare", Status: 14, About: "share of the nodes' CPU that spot nodes provide after the change",
			Limits: []Limit{
				{Field: "maxPercent", Unit: percent, About: "CPU of spot nodes in percent of the CPU of all nodes", value: spotShare},
				{Field: "minPercent", Unit: percent, Least: true, About: "CPU of spot nodes in percent of the CPU of all nodes", value: spotShare},
			},
		},
		{
			Name: "singleNodeWorkloads", Status: 15, About: "workloads with two or more pods that are all on one node after the change; Jobs don't count",
			Limits: []Limit{
				{Field: "max", Unit: workloads, About: "workloads on a single node", value: func(f *Facts, except []string) float64 { return float64(len(without(f.SingleNode, except))) }},
				{Field: "maxAdded", Unit: workloads, About: "more workloads on a single node than before", value: func(f *Facts, except []string) float64 {
					return float64(len(without(f.SingleNode, except)) - len(without(f.SingleNodeBefore, except)))
				}},
			},
			objects: func(f *Facts, except []string) []Object { return without(f.SingleNode, except) },
		},
	}
}

func spotShare(f *Facts, _ []string) float64 {
	if f.CPU == 0 {
		return 0
	}
	return 100 * f.SpotCPU / f.CPU
}

func share(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}

// Facts describe the effects of a change on a cluster.
type Facts struct {
	// CostBefore and CostAfter are the sums of the known prices of all nodes, in USD per hour.
	CostBefore, CostAfter float64
	// UnpricedGone is the number of replaced nodes whose price is not known. If it is not 0, the computed added cost is higher than the
	// real one, never lower.
	UnpricedGone int
	// Nodes is the number of nodes of the cluster, and Drifted is the number of nodes that are replaced.
	Nodes, Drifted int
	// Running is the number of pods that run on nodes, and Evicted is the number of these pods that are evicted.
	Running, Evicted int
	// CPU and SpotCPU are the allocatable cores of all nodes, and of spot nodes, after the change.
	CPU, SpotCPU float64
	// Unplaced are the pods without a place after the change, by workload; UnplacedBefore are the pods without a place before the change.
	Unplaced, UnplacedBefore []Object
	// SingleNode are the workloads with all pods on one node after the change; SingleNodeBefore are the workloads with all pods on one node
	// before the change.
	SingleNode, SingleNodeBefore []Object
}

func (f *Facts) addedPerMonth() float64 {
	return math.Round((f.CostAfter-f.CostBefore)*hoursPerMonth*100) / 100
}

func (f *Facts) addedPercent() float64 {
	added := f.addedPerMonth()
	switch {
	case added <= 0 && f.CostBefore <= 0:
		return 0
	case f.CostBefore <= 0:
		return math.Inf(1)
	}
	return 100 * added / (f.CostBefore * hoursPerMonth)
}

// Object is a workload that a rule counts.
type Object struct {
	// Kind is empty for a pod without an owner; Name is then the name of the pod.
	Kind, Namespace, Name string
	// Pods is the number of the workload's pods that the rule counts.
	Pods int
	// Detail is additional information: a reason, or the node.
	Detail string
}

// String returns "Deployment shop/web", or "Pod shop/web-0" for a pod without an owner.
func (o Object) String() string {
	kind := o.Kind
	if kind == "" {
		kind = "Pod"
	}
	return fmt.Sprintf("%s %s/%s", kind, o.Namespace, o.Name)
}

func podsOf(objects []Object) float64 {
	sum := 0
	for _, o := range objects {
		sum += o.Pods
	}
	return float64(sum)
}

// without returns the objects that match none of the patterns NAMESPACE/NAME.
func without(objects []Object, patterns []string) []Object {
	if len(patterns) == 0 {
		return objects
	}
	return slices.DeleteFunc(slices.Clone(objects), func(o Object) bool {
		return slices.ContainsFunc(patterns, func(pattern string) bool { return matches(pattern, o) })
	})
}

// ruleNames lists the names of the rules for messages.
func ruleNames() string {
	var names []string
	for _, r := range Rules() {
		names = append(names, r.Name)
	}
	return strings.Join(names, ", ")
}
