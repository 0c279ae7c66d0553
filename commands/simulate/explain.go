package simulate

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/drawknife/drawknife/commands"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/rulecosts"
)

// Kinds of objects that explain knows.
const (
	explainPod  = "pod"
	explainNode = "node"
	explainPool = "nodepool"
)

// explainOptions are the options of the command explain.
type explainOptions struct {
	kind, name string
	// maxPlans is the maximum number of rules that are checked. To check a rule, explain makes a plan without that rule.
	maxPlans int
}

// explainCommand returns the command that explains pods, nodes and NodePools.
func explainCommand(own Options) commands.Command {
	return commands.Command{
		Name: "explain", Summary: "Explain a pod, a node or a NodePool: why it is planned so, and what each rule costs", Arguments: "pod|node|nodepool NAME " + inputs,
		Help: `explain pod prints on which node a pod is planned, what the next best instance types would cost, and what each rule of the pod and of
its NodePool costs: it plans without the rule, and compares. A running pod is explained as if its node were drained. explain node
prints which pods are on a node, what they cost by workload, why the node stays, and when it may be removed. explain nodepool prints
which instance types a NodePool has, which it would have if all its pods were planned again, and what each of its rules costs.`,
		Examples: `drawknife explain pod shop/web-0 deploy/ nodepool.yaml
drawknife explain node ip-10-0-1-2 -A
drawknife explain nodepool default -A -o json`,
		Exit: exitStatuses(exitUnschedulable, "the pod has no place: the reasons are printed"),
		Begin: func() commands.Run {
			l := newCommandLine("drawknife explain")
			l.read.explain.maxPlans = rulecosts.DefaultMaxPlans
			l.addCommon()
			l.addPolicies()
			l.addThresholds()
			l.flags.IntVar(&l.read.explain.maxPlans, "max-plans", l.read.explain.maxPlans, "plan without at most `N` rules; each takes one more plan")
			return l.run(own, func(o *options) error { return o.explain.take(o) })
		},
	}
}

// take reads the object to explain from the first arguments: "pod NAME", or "pod/NAME".
func (e *explainOptions) take(o *options) error {
	const usage = "needs the kind and the name of an object: pod NAME, node NAME or nodepool NAME"
	if len(o.inputs) == 0 {
		return errors.New(usage)
	}
	kind, name, joined := strings.Cut(o.inputs[0], "/")
	rest := o.inputs[1:]
	if !joined {
		if len(rest) == 0 {
			return errors.New(usage)
		}
		name, rest = rest[0], rest[1:]
	}
	kinds := map[string]string{
		"pod": explainPod, "pods": explainPod, "po": explainPod, "node": explainNode, "nodes": explainNode, "no": explainNode,
		"nodepool": explainPool, "nodepools": explainPool, "provisioner": explainPool,
	}
	if e.kind = kinds[strings.ToLower(kind)]; e.kind == "" {
		return fmt.Errorf("%q is not a kind that explain knows: %s", kind, usage)
	}
	if name == "" {
		return errors.New(usage)
	}
	if e.maxPlans < 0 {
		return fmt.Errorf("--max-plans %d: must be at least 0", e.maxPlans)
	}
	e.name, o.inputs = name, rest
	return nil
}

// explainObject explains an object, and prints the explanation instead of a plan.
func (s *simulation) explainObject(ctx context.Context, snapshot *scheduling.Snapshot) (int, error) {
	var answer explanation
	var err error
	switch s.explain.kind {
	case explainPod:
		answer, err = s.explainPod(ctx, snapshot)
	case explainNode:
		answer, err = s.explainNode(ctx, snapshot)
	default:
		answer, err = s.explainPool(ctx, snapshot)
	}
	if err != nil {
		return 0, err
	}
	s.progress.Stop()
	s.printRemarks()
	if err := s.printExplanation(answer); err != nil {
		return 0, withStatus(exitOutput, fmt.Errorf("writing the explanation: %w", err))
	}
	return answer.status(), nil
}

// explanation is the output of explain.
type explanation interface {
	// write prints the explanation as text.
	write(w io.Writer, c canvas)
	// status is the exit status.
	status() int
}

func (s *simulation) printExplanation(answer explanation) error {
	b := bufio.NewWriter(s.stdout)
	if s.output.structured() {
		if err := writeDocument(b, s.output, answer); err != nil {
			return err
		}
		return b.Flush()
	}
	answer.write(b, newCanvas(s.stdout, s.color, os.Getenv))
	return b.Flush()
}

// base plans a snapshot with all its rules.
func (s *simulation) base(ctx context.Context, snapshot *scheduling.Snapshot) (*rulecosts.Base, error) {
	s.progress.Enter("planning " + counted(len(snapshot.Pods), "pod"))
	s.remarkOnDevices(snapshot)
	return rulecosts.New(ctx, snapshot, rulecosts.Options{
		Query: s.query, Compile: []scheduling.CompileOption{scheduling.WithDeviceMatcher(s.matcher)}, MaxPlans: s.explain.maxPlans,
		Progress: func(made, all int) { s.progress.Enter(fmt.Sprintf("planning without rule %d of %d", made+1, all)) },
	})
}

// ruleDocument describes the cost of a rule.
type ruleDocument struct {
	Kind   string `json:"kind"`
	Object string `json:"object"`
	Path   string `json:"path"`
	Text   string `json:"text"`
	// Saving is the cost of the new nodes with the rule minus their cost without it, in USD per hour.
	Saving float64 `json:"saving"`
	// MorePods is the number of additional pods that have a node in the plan without the rule.
	MorePods int `json:"morePods"`
	// Place is the place of the pod in the plan without the rule. It is left out in explanations of a NodePool, and for a pod without a
	// place.
	Place *placeDocument `json:"place,omitempty"`
}

// ruleCosts contains rules with their costs.
type ruleCosts struct {
	Rules []ruleDocument `json:"rules"`
	// NotPlanned are the rules that were not checked, because of --max-plans.
	NotPlanned []string `json:"notPlanned"`
	// Plans is the number of plans that were made, including the plan with all rules.
	Plans int `json:"plans"`
}

// newRuleCosts converts a report. place returns the place of the explained pod in a plan; it is nil in explanations of a NodePool.
func newRuleCosts(report rulecosts.Report, place func(*scheduling.Plan) *placeDocument) ruleCosts {
	c := ruleCosts{Rules: []ruleDocument{}, NotPlanned: []string{}, Plans: report.Plans + 1}
	for _, r := range report.Costs {
		d := ruleDocument{Kind: string(r.Kind), Object: r.Object, Path: r.Path, Text: r.Text, Saving: roundDollars(r.Saving), MorePods: r.MorePods}
		if place != nil {
			d.Place = place(r.Plan)
		}
		c.Rules = append(c.Rules, d)
	}
	for _, r := range report.NotPlanned {
		c.NotPlanned = append(c.NotPlanned, r.Object+": "+r.Text)
	}
	return c
}

// write prints the rules, and names the rule that costs most.
func (c ruleCosts) write(w io.Writer, canvas canvas) {
	if len(c.Rules) > 0 {
		t := table{columns: []column{{title: "WITHOUT THIS RULE"}, {title: "OF"}, {title: "A MONTH", right: true}, {title: "THEN"}}}
		for _, r := range c.Rules {
			t.rows = append(t.rows, row{cells: []string{r.Text, r.Object, r.change(), r.then()}})
		}
		fmt.Fprintln(w)
		t.write(w, canvas)
	}
	fmt.Fprintf(w, "\n%s", counted(c.Plans, "plan")+" made.")
	saves := slices.IndexFunc(c.Rules, func(r ruleDocument) bool { return r.MorePods == 0 && r.Saving > 0 })
	switch {
	case len(c.Rules) > 0 && c.Rules[0].MorePods > 0:
		fmt.Fprintf(w, " Without %s: %s with a place.", c.Rules[0].Text, counted(c.Rules[0].MorePods, "more pod"))
	case saves >= 0:
		fmt.Fprintf(w, " The most is saved without %s: %s less a month.", c.Rules[saves].Text, monthly(c.Rules[saves].Saving))
	case len(c.Rules) > 0:
		fmt.Fprint(w, " No rule alone makes the plan more expensive or keeps a pod from a place.")
	}
	if n := len(c.NotPlanned); n > 0 {
		fmt.Fprintf(w, " %s not looked at: a larger --max-plans does.", counted(n, "more rule"))
	}
	fmt.Fprintln(w)
}

// change returns the difference of the monthly cost without the rule, such as "-$12.50", or "the same".
func (r ruleDocument) change() string {
	switch {
	case r.Saving > 0:
		return "-" + monthly(r.Saving)
	case r.Saving < 0:
		return "+" + monthly(-r.Saving)
	}
	return "the same"
}

// The method then returns the other differences without the rule: how many more pods have a node, and where the explained pod is planned.
func (r ruleDocument) then() string {
	var parts []string
	if r.MorePods > 0 {
		parts = append(parts, counted(r.MorePods, "more pod")+" with a place")
	}
	if r.Place != nil && (r.Saving != 0 || r.MorePods > 0) {
		parts = append(parts, r.Place.String())
	}
	return strings.Join(parts, "; ")
}
