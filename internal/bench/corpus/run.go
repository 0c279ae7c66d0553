package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/drawknife/drawknife/internal/bench/judge"
	"github.com/drawknife/drawknife/internal/bench/scenario"
	"github.com/drawknife/drawknife/internal/workload/packers"
	"github.com/drawknife/drawknife/scheduling"
)

// row is the result for one scenario, as it is printed. The package comment explains the fields.
type row struct {
	Scenario string `json:"scenario"`
	Pods     int    `json:"pods"`
	Types    int    `json:"types"`

	Cost          float64  `json:"cost"`
	Bound         float64  `json:"bound"`
	OverBound     float64  `json:"overBound,omitempty"`
	ProvenBound   float64  `json:"provenBound,omitempty"`
	CPUSeconds    float64  `json:"cpuSeconds"`
	Nodes         int      `json:"nodes"`
	Unschedulable int      `json:"unschedulable"`
	Refused       int      `json:"refused"`
	Refusals      []string `json:"refusals,omitempty"`

	GreedyCost   float64 `json:"greedyCost,omitempty"`
	FirstFitCost float64 `json:"firstFitCost,omitempty"`
	OverGreedy   float64 `json:"overGreedy,omitempty"`

	KarpenterCost       float64 `json:"karpenterCost,omitempty"`
	KarpenterCPUSeconds float64 `json:"karpenterCPUSeconds,omitempty"`
	KarpenterVersion    string  `json:"karpenterVersion,omitempty"`
	OverKarpenter       float64 `json:"overKarpenter,omitempty"`
	Speedup             float64 `json:"speedup,omitempty"`

	BestCost float64 `json:"bestCost,omitempty"`
	BestBy   string  `json:"bestBy,omitempty"`
	OverBest float64 `json:"overBest,omitempty"`
}

// planner plans scenarios.
type planner struct {
	runs    int
	check   bool
	records records
	// theirs is the program that runs Karpenter. If it is nil, recorded figures are used.
	theirs *karpenter
}

// measure returns the result of a scenario. If done has no result for it, measure plans the scenario and adds the result to done.
func (p *planner) measure(ctx context.Context, name string, done *measured) (*row, error) {
	if r := done.of(name); r != nil {
		return r, nil
	}
	r, err := p.plan(ctx, name)
	if err != nil {
		return nil, err
	}
	return r, done.add(r, p.records.of(name))
}

// plan plans a scenario with drawknife, and compares the plan with the known figures. New figures are added to the records.
func (p *planner) plan(ctx context.Context, name string) (*row, error) {
	s, err := scenario.Named(name)
	if err != nil {
		return nil, err
	}
	r := &row{Scenario: name, Pods: len(s.Snapshot.Pods)}
	for _, types := range s.Snapshot.Catalogs {
		r.Types = max(r.Types, len(types))
	}
	known := p.records.of(name)
	known.Pods = r.Pods
	j := judge.New(s.Snapshot)
	if p.runs == 0 {
		err = r.recall(known)
	} else {
		err = p.ours(ctx, s.Snapshot, j, r, known)
	}
	if err != nil {
		return nil, fmt.Errorf("scenario %s: %w", name, err)
	}
	r.pack(s.Snapshot, known)
	if p.theirs != nil {
		theirs, err := p.theirs.plan(ctx, s.Snapshot, j)
		if err != nil {
			return nil, fmt.Errorf("scenario %s: %w", name, err)
		}
		if theirs != nil { // theirs is nil if Karpenter did not finish in time; the record of its earlier plan then stays
			known.Karpenter = theirs
		}
	}
	if known.Karpenter != nil && known.Karpenter.whole() {
		known.found(known.Karpenter.Cost, "Karpenter")
	}
	r.compare(known)
	return r, nil
}

// recall copies drawknife's results from the record to the row.
func (r *row) recall(known *record) error {
	if known.CPUSeconds == 0 {
		return errors.New("no results of drawknife are recorded: plan the scenario with --runs 1 --record")
	}
	r.Cost, r.Bound, r.CPUSeconds, r.Nodes, r.Unschedulable = known.Cost, known.Bound, known.CPUSeconds, known.Nodes, known.Unschedulable
	r.OverBound = quotient(r.Cost, r.Bound)
	return nil
}

// ours plans with drawknife, and records the results of the plan.
func (p *planner) ours(ctx context.Context, s *scheduling.Snapshot, j *judge.Judge, r *row, known *record) error {
	var plan *scheduling.Plan
	var times []float64
	for range p.runs {
		before := cpuTime()
		model, err := scheduling.Compile(s)
		if err != nil {
			return err
		}
		if plan, err = model.Solve(ctx, scheduling.Query{}); err != nil {
			return err
		}
		times = append(times, (cpuTime() - before).Seconds())
	}
	slices.Sort(times)
	r.CPUSeconds = times[len(times)/2]
	r.Cost, r.Bound, r.Nodes, r.Unschedulable = plan.HourlyCost, plan.LowerBound, len(plan.NewNodes), len(plan.Unschedulable)
	r.OverBound = quotient(r.Cost, r.Bound)
	if p.check {
		verdict := j.Check(inWords(plan))
		r.Refused, r.Refusals = len(verdict.Refusals), verdict.Refusals[:min(len(verdict.Refusals), 3)]
		r.Cost = verdict.HourlyCost
	}
	known.Cost, known.Bound, known.CPUSeconds = rounded(r.Cost), rounded(r.Bound), rounded(r.CPUSeconds)
	known.Nodes, known.Unschedulable = r.Nodes, r.Unschedulable
	if r.Unschedulable == 0 && p.check && r.Refused == 0 {
		known.found(r.Cost, "drawknife")
	}
	known.proved(r.Bound, "drawknife's certificate")
	return nil
}

// pack runs the packers of internal/workload/packers, if the pods have no rules and the work is at most mostSteps.
func (r *row) pack(s *scheduling.Snapshot, known *record) {
	problem, err := packers.Of(s)
	if err != nil || problem.Ruled > 0 || problem.Steps() > mostSteps {
		return
	}
	greedy, firstFit := problem.VectorGreedy(), problem.FirstFitDecreasing()
	if math.IsInf(greedy.Cost, 1) { // some pod fits on no type, and the plan also says so
		return
	}
	r.GreedyCost, r.FirstFitCost = greedy.Cost, firstFit.Cost
	r.OverGreedy = quotient(r.Cost, r.GreedyCost)
	known.found(greedy.Cost, "vector greedy")
	known.found(firstFit.Cost, "first fit decreasing")
}

// mostSteps limits the time of the packers to about half a minute.
const mostSteps = 5_000_000_000

// compare sets the fields that compare the plan with the known figures.
func (r *row) compare(known *record) {
	r.ProvenBound = known.ProvenBound
	if k := known.Karpenter; k != nil {
		r.KarpenterCost, r.KarpenterCPUSeconds, r.KarpenterVersion = k.Cost, k.CPUSeconds, k.Version
		r.Speedup = quotient(k.CPUSeconds, r.CPUSeconds)
		if k.Unschedulable == r.Unschedulable && k.Refused == 0 {
			r.OverKarpenter = quotient(r.Cost, k.Cost)
		}
	}
	r.BestCost, r.BestBy = known.Best, known.BestBy
	r.OverBest = quotient(r.Cost, r.BestCost)
}

// overBest is the largest permitted ratio of a plan's cost to the cost of the best known packing.
const overBest = 1.02

// worse says why the plan is not good enough, or returns "" if it is good enough.
func (r *row) worse() string {
	var why []string
	if r.Refused > 0 {
		why = append(why, fmt.Sprintf("%d placements are refused: %s", r.Refused, r.Refusals[0]))
	}
	if r.OverKarpenter > 1+1e-9 {
		why = append(why, fmt.Sprintf("costs $%.4f/h, Karpenter's plan $%.4f/h: %.4f times as much", r.Cost, r.KarpenterCost, r.OverKarpenter))
	}
	if r.OverBest > overBest {
		why = append(why, fmt.Sprintf("costs $%.4f/h, the best packing known $%.4f/h (%s): %.4f times as much", r.Cost, r.BestCost, r.BestBy, r.OverBest))
	}
	return strings.Join(why, "; ")
}

// quotient returns a/b. It returns 1 if both numbers are zero. If only the divisor b is zero, it returns 0, which means unknown.
func quotient(a, b float64) float64 {
	switch {
	case a == 0 && b == 0:
		return 1
	case b == 0:
		return 0
	}
	return a / b
}

func cpuTime() time.Duration {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// inWords converts a plan to a judge.Plan, which does not depend on the planner.
func inWords(p *scheduling.Plan) *judge.Plan {
	out := &judge.Plan{Order: names(p.Order)}
	for i := range p.NewNodes {
		n := &p.NewNodes[i]
		node := judge.NewNode{Pool: n.Pool.Name, Requirements: n.Requirements.NodeSelectorRequirements(), Pods: names(n.Pods)}
		for _, t := range n.InstanceTypes {
			node.InstanceTypes = append(node.InstanceTypes, t.Name)
		}
		out.NewNodes = append(out.NewNodes, node)
	}
	for _, n := range p.Existing {
		out.Existing = append(out.Existing, judge.ExistingNode{Name: n.Name, Pods: names(n.Pods)})
	}
	for _, u := range p.Unschedulable {
		out.Unschedulable = append(out.Unschedulable, judge.Unschedulable{Pod: u.Pod.String(), Reason: u.Reasons[0].String()})
	}
	return out
}

func names(keys []scheduling.PodKey) []string {
	out := make([]string, len(keys))
	for i, key := range keys {
		out[i] = key.String()
	}
	return out
}
