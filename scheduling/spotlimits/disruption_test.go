package spotlimits_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/internal/planvalidator"
	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/spotlimits"
)

// drawnFleet has nodes that are a day old, with room on most, and pods of workloads with limits.
func drawnFleet(t *rapid.T, now time.Time) *scheduling.Snapshot {
	types := []*cloudprovider.InstanceType{
		soldIn("m", 4, 0.2, 0.3, "a", "b"), soldIn("c", 4, 0.17, 0.4, "a", "b"), soldIn("l", 8, 0.39, 0.28, "a", "b"), soldIn("s", 2, 0.11, 0.5, "a", "b"),
	}
	s := limited(types)
	s.Time = now
	s.NodePools[0].Object.Spec.Disruption.Budgets = []v1.Budget{}
	since, free := now.Add(-24*time.Hour), []int{}
	for i := range rapid.IntRange(2, 7).Draw(t, "nodes") {
		it := rapid.SampledFrom(types).Draw(t, "type")
		o := rapid.SampledFrom(it.Offerings).Draw(t, "offering")
		name := fmt.Sprintf("n-%d", i)
		of, id := build.OfType(it, o.Zone(), o.CapacityType()), build.ProviderID("cloud://"+name)
		n := scheduling.Node{
			Name: name, Pool: v1.NewPoolKey("default"), Object: build.Node(name, of, id, build.OfPool("default"), build.Created(since), build.Initialized(since)),
			Claim: build.Claim("claim-"+name, of, id, build.UID("uid-"+name), build.OfPool("default"), build.Created(since), build.Initialized(since)),
		}
		n.Claim.Spec.ExpireAfter, n.Claim.Status.NodeName = v1.Never(), name
		s.Nodes, free = append(s.Nodes, n), append(free, int(it.Capacity.Cpu().Value())-1)
	}
	for w := range rapid.IntRange(1, 3).Draw(t, "workloads") {
		name := fmt.Sprintf("w-%d", w)
		annotations := drawnLimits(t, name)
		for _, pod := range replicas(name, rapid.IntRange(2, 8).Draw(t, name), "1", annotations...) {
			if at := rapid.IntRange(0, len(s.Nodes)-1).Draw(t, "on"); free[at] > 0 {
				free[at]--
				pod.Spec.NodeName = s.Nodes[at].Name
				s.Nodes[at].Pods = append(s.Nodes[at].Pods, pod)
			}
		}
	}
	return s
}

// carried is the fleet in which the pods of the commands' nodes wait, and the plan that places them.
func carried(s *scheduling.Snapshot, commands []*disruption.Command) (*scheduling.Snapshot, *scheduling.Plan) {
	gone := map[string]bool{}
	plan := &scheduling.Plan{}
	for _, cmd := range commands {
		for _, m := range cmd.Members {
			gone[m.Node] = true
		}
		plan.Existing = append(plan.Existing, cmd.Receivers...)
		for i, r := range cmd.Replacements {
			n := *r.Node
			n.Name = fmt.Sprintf("%s-%d", cmd.ID, i)
			plan.NewNodes = append(plan.NewNodes, n)
		}
	}
	out := *s
	out.Nodes = nil
	for _, n := range s.Nodes {
		if !gone[n.Name] {
			out.Nodes = append(out.Nodes, n)
			continue
		}
		for _, pod := range n.Pods {
			moved := pod.DeepCopy()
			moved.Spec.NodeName = ""
			out.Pods = append(out.Pods, moved)
		}
	}
	return &out, plan
}

// Disruption never moves more pods to spot, or to one spot pool, than their workloads' limits allow, wherever replacements are launched.
func TestDisruptionKeepsSpotLimits(t *testing.T) {
	now := time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)
	commands, moved := 0, 0
	seeded.Times(t, 60, func(rt *rapid.T) {
		s := drawnFleet(rt, now)
		zero := time.Duration(0)
		for _, p := range []disruption.Planner{&disruption.Global{SpotToSpot: true, PayBack: &zero, CoolDown: &zero}, &disruption.Reference{SpotToSpot: true}} {
			fleet, err := disruption.Survey(disruption.Input{View: disruption.ViewOf(s)})
			if err != nil {
				rt.Fatal(err)
			}
			plan, err := p.Plan(context.Background(), fleet)
			if err != nil {
				rt.Fatal(err)
			}
			after, places := carried(s, plan.Commands)
			if faults := planvalidator.SpotLimits(s, after, places); len(faults) > 0 {
				rt.Fatalf("%T: %v\n%v", p, faults, plan.Commands)
			}
			commands += len(plan.Commands)
			for _, pod := range after.Pods {
				if spotlimits.Asks(pod) {
					moved++
				}
			}
		}
	})
	if commands < 50 || moved < 100 {
		t.Errorf("%d commands moved %d pods with limits: too few to show anything", commands, moved)
	}
}
