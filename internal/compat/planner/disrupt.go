package planner

import (
	"context"
	"os"
	"time"

	policyv1 "k8s.io/api/policy/v1"

	dkdisruption "github.com/drawknife/drawknife/disruption"
)

// DisruptionEnabled reports whether the suites run with this project's disruption planner.
func DisruptionEnabled() bool { return os.Getenv("COMPAT_DISRUPTION") == "drawknife" }

// DisruptionQuestion contains the inputs of Karpenter's disruption controller.
type DisruptionQuestion struct {
	Question // the inputs of the scheduler for pending pods, and for the pods of nodes that are being removed
	// Executing are the names of the nodes with commands that are being carried out. Buffered are the names of the nodes with pods of
	// capacity buffers.
	Executing, Buffered map[string]bool
	// Nominated are the names of nominated nodes.
	Nominated  map[string]bool
	SpotToSpot bool
}

// DisruptionCommand is a command in Karpenter's terms.
type DisruptionCommand struct {
	Method       string   // one of Emptiness, StaticDrift, Drift, MultiNodeConsolidation and SingleNodeConsolidation
	Nodes        []string // to remove
	Replacements []NewNode
}

// DisruptionAnswer is a disruption plan, with the facts that Karpenter reports about it.
type DisruptionAnswer struct {
	Commands []DisruptionCommand
	Samples  []dkdisruption.Sample
	Events   []dkdisruption.Event
}

// Disrupt plans with the disruption planner that follows Karpenter's methods.
func Disrupt(ctx context.Context, q DisruptionQuestion) (answer DisruptionAnswer, err error) {
	recordReached()
	snapshot, _, err := snapshotOf(ctx, &q.Question)
	if err != nil {
		return answer, err
	}
	if snapshot.PodDisruptionBudgets, err = list(ctx, q.Client, &policyv1.PodDisruptionBudgetList{}, func(l *policyv1.PodDisruptionBudgetList) []policyv1.PodDisruptionBudget {
		return l.Items
	}); err != nil {
		return answer, err
	}
	view := dkdisruption.ViewOf(snapshot)
	executing := map[string]string{}
	for i := range view.Nodes {
		m := &view.Nodes[i]
		if q.Nominated[m.Name] {
			m.NominatedUntil = q.Now.Add(time.Second)
		}
		if q.Executing[m.Name] {
			executing[m.Name] = "executing"
		}
	}
	fleet, err := dkdisruption.Survey(dkdisruption.Input{View: view, Executing: executing, Buffered: q.Buffered})
	if err != nil {
		return answer, err
	}
	query := queryOf(&q.Question)
	reference := dkdisruption.Reference{Query: query, SpotToSpot: q.SpotToSpot, ValidationDelay: new(time.Duration)}
	plan, err := reference.Plan(ctx, fleet)
	if err != nil {
		return answer, err
	}
	logDisruption(fleet, plan)
	budgets, err := dkdisruption.NewBudgetTracker(fleet)
	if err != nil {
		return answer, err
	}
	answer.Samples = append(fleet.Samples(), budgets.Samples()...)
	answer.Events = append(plan.Events(fleet), budgets.Events()...)
	for _, c := range plan.Commands {
		command := DisruptionCommand{Method: string(c.Method), Nodes: c.Nodes()}
		for _, r := range c.Replacements {
			planned := NewNode{Pool: r.Pool.Name}
			if !r.Static {
				if planned, err = newNodeOf(&q.Question, snapshot, r.Node, query.MinValues); err != nil {
					return answer, err
				}
			}
			command.Replacements = append(command.Replacements, planned)
		}
		answer.Commands = append(answer.Commands, command)
	}
	return answer, nil
}
