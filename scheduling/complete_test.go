package scheduling_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/planvalidator"
	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/scheduling"
)

// Soundness and completeness with everything that planning knows, judged by a checker that shares no code with it: each
// pod can be bound at its turn, and a pod without a place, the rest as planned, can be bound to no node of the
// snapshot, join none of the plan's and get none of its own from any pool.
//
// SCH-041, SCH-043, SCH-107, SCH-115, SCH-117, SCH-119, SCH-120, SCH-121, SCH-125, SCH-130, SCH-135, SCH-136, SCH-137,
// SCH-160, SCH-171, SCH-172: what any of them refuses wrongly, or lets through, fails this test.
//
//	go test ./scheduling -run TestPlansAreComplete -rapid.checks 20000
func TestPlansAreComplete(t *testing.T) {
	seeded.Times(t, seeded.Draws(150, 400), func(t *rapid.T) {
		s := randomRuledSnapshot(t)
		p := solved(t, s)
		for i, fault := range planvalidator.Check(s, p) {
			if i == 0 {
				show(t, s)
			}
			t.Errorf("%v", fault)
		}
		for i := range p.NewNodes {
			if p.NewNodes[i].MinValuesRelaxed {
				t.Errorf("%s does not meet its pool's minValues", p.NewNodes[i].Name)
			}
		}
	})
}

// The judge of completeness is no pushover: a pod that the plan could place last and does not is always noticed.
//
//	go test ./scheduling -run TestWithheldPlacesAreNoticed -rapid.checks 50000 -rapid.seed 7
func TestWithheldPlacesAreNoticed(t *testing.T) {
	seeded.Times(t, 150, func(t *rapid.T) {
		s := randomRuledSnapshot(t)
		for i := range s.NodePools {
			// The judge gives the benefit of the doubt where minValues count.
			for j := range s.NodePools[i].Object.Spec.Template.Spec.Requirements {
				s.NodePools[i].Object.Spec.Template.Spec.Requirements[j].MinValues = nil
			}
		}
		p := solved(t, s)
		if len(p.Order) == 0 {
			return
		}
		last, faults := withhold(s, p)
		if !noticed(last, faults) {
			show(t, s)
			t.Errorf("%s was taken out of the plan, and that is not noticed: %v", last, faults)
		}
	})
}

// withhold takes the last of the plan's pods out of it, as if there were no place for it. It returns the pod, and what the
// judge finds wrong with the plan.
func withhold(s *scheduling.Snapshot, p *scheduling.Plan) (last scheduling.PodKey, faults []planvalidator.Fault) {
	last = p.Order[len(p.Order)-1]
	is := func(k scheduling.PodKey) bool { return k == last }
	p.Order = p.Order[:len(p.Order)-1]
	for i := range p.NewNodes {
		p.NewNodes[i].Pods = slices.DeleteFunc(p.NewNodes[i].Pods, is)
	}
	p.NewNodes = slices.DeleteFunc(p.NewNodes, func(n scheduling.NewNode) bool { return len(n.Pods) == 0 })
	for i := range p.Existing {
		p.Existing[i].Pods = slices.DeleteFunc(p.Existing[i].Pods, is)
	}
	refused := scheduling.Unschedulable{Pod: last}
	for i := range s.NodePools {
		refused.Reasons = append(refused.Reasons, scheduling.Reason{Pool: s.NodePools[i].Key, Code: scheduling.ReasonTopology, Detail: "for no reason"})
	}
	if len(s.NodePools) == 0 {
		refused.Reasons = []scheduling.Reason{{Code: scheduling.ReasonTopology, Detail: "for no reason"}}
	}
	p.Unschedulable = append(p.Unschedulable, refused)
	return last, planvalidator.Check(s, p)
}

// noticed reports whether the judge misses the pod, or finds that the plan can't be bound without it.
func noticed(last scheduling.PodKey, faults []planvalidator.Fault) bool {
	return slices.ContainsFunc(faults, func(f planvalidator.Fault) bool {
		return f.Where == last.String() && strings.HasPrefix(f.What, "has no place, but") || strings.Contains(f.What, "can't be bound at its turn")
	})
}
