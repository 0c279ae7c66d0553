package disruption_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/scheduling"
)

// How far a replacement has come.
const (
	launching  = "without instance"
	launchedUp = "launched"
	registered = "registered"
)

// coming makes the node one that is still on its way, as far as phase says.
func coming(phase string) nodeOption {
	return func(n *scheduling.Node) {
		n.Claim.Status.Capacity, n.Claim.Status.Allocatable = n.Object.Status.Capacity, n.Object.Status.Allocatable
		delete(n.Object.Labels, v1.NodeInitializedLabelKey)
		n.Claim.Conditions().SetUnknown(v1.ConditionInitialized, "NotYet", "", now())
		for k, v := range n.Object.Labels {
			n.Claim.Labels[k] = v
		}
		if phase == registered {
			return
		}
		delete(n.Claim.Labels, v1.NodeRegisteredLabelKey)
		n.Claim.Conditions().SetUnknown(v1.ConditionRegistered, "NotYet", "", now())
		n.Claim.Status.NodeName = ""
		if phase == launching {
			n.Claim.Status.ProviderID = ""
			n.Claim.Conditions().SetUnknown(v1.ConditionLaunched, "NotYet", "", now())
		}
	}
}

// comingNode adds a node that is still on its way.
func (w *world) comingNode(name, instance, phase string) {
	n := w.node(name, instance, coming(phase))
	if phase != registered {
		n.Object = nil
	}
}

func bothPlanners() map[string]disruption.Planner {
	return map[string]disruption.Planner{
		"Global": &disruption.Global{}, "Global without thresholds": &disruption.Global{PayBack: new(time.Duration), MinSavingShare: new(float64), CoolDown: new(time.Duration)},
		"Reference": &disruption.Reference{},
	}
}

// DIS-158: while the node that pods would move to is on its way, however far it has come, no other is launched for them.
func TestNothingIsLaunchedTwice(t *testing.T) {
	for name, planner := range bothPlanners() {
		for _, phase := range []string{launching, launchedUp, registered} {
			t.Run(name+"/"+phase, func(t *testing.T) {
				w := newWorld()
				w.node("a", "c16", holding(pods("p", 1, "1")...))
				if plan, err := planner.Plan(t.Context(), w.fleet(t)); err != nil || len(plan.Commands) != 1 || len(plan.Commands[0].Replacements) != 1 {
					t.Fatalf("without it the draw is of no use: %v, %v", plan, err)
				}
				w.comingNode("r", "c2", phase)
				plan, err := planner.Plan(t.Context(), w.fleet(t))
				if err != nil {
					t.Fatal(err)
				}
				if len(plan.Commands) > 0 {
					t.Errorf("%s: what it would launch is on its way", said(plan))
				}
				text := ""
				for _, v := range plan.Verdicts {
					if v.Node == "a" {
						text = v.String()
					}
				}
				if !strings.Contains(text, "not initialized: r") {
					t.Errorf("verdict %q, want that it waits for r", text)
				}
			})
		}
	}
}

// DIS-158: a node on its way that does not suit keeps nobody, and pods that have room on ready nodes need not wait for it.
func TestNodesOnTheirWayKeepNobodyElse(t *testing.T) {
	planner := &disruption.Global{}
	w := newWorld()
	w.node("a", "c16", holding(pods("p", 1, "3")...))
	w.comingNode("small", "c2", launchedUp)
	if plan, err := planner.Plan(t.Context(), w.fleet(t)); err != nil || said(plan) != "SingleNodeConsolidation: a -> c4/on-demand(3)" && len(plan.Commands) != 1 {
		t.Errorf("%s, %v: no pod has room on the node that is coming", said(plan), err)
	}
	w = newWorld()
	w.node("a", "c16", holding(pods("p", 1, "1")...))
	w.node("b", "c4", holding(pods("q", 2, "1")...))
	w.comingNode("r", "c2", launchedUp)
	if plan, err := planner.Plan(t.Context(), w.fleet(t)); err != nil || said(plan) != "SingleNodeConsolidation: a" {
		t.Errorf("%s, %v: the pod has room on b", said(plan), err)
	}
}

// DIS-158, DIS-196: a process that dies each time after it has launched replacements, before any is ready, and remembers
// nothing, has no more nodes in flight than one that does not die.
func TestCrashLoopLaunchesOnce(t *testing.T) {
	for name, planner := range bothPlanners() {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			for i := range 10 {
				w.node(fmt.Sprintf("n-%d", i), "c16", holding(pods(fmt.Sprintf("p-%d", i), 3, "2")...))
			}
			inFlight, first := 0, 0
			for process := range 5 {
				w.snapshot.Time = now().Add(time.Duration(process) * time.Minute)
				plan, err := planner.Plan(t.Context(), w.fleet(t))
				if err != nil {
					t.Fatal(err)
				}
				for _, cmd := range plan.Commands {
					for _, r := range cmd.Replacements {
						inFlight++
						w.comingNode(fmt.Sprintf("new-%d", inFlight), r.Node.InstanceTypes[0].Name, launchedUp)
					}
				}
				if process == 0 {
					first = inFlight
				}
			}
			if inFlight != first {
				t.Errorf("%d nodes in flight after five processes, the first launched %d", inFlight, first)
			}
			if strings.HasPrefix(name, "Global") && first == 0 {
				t.Error("the fleet is of no use: nothing is launched")
			}
		})
	}
}
