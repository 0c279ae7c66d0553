package disruption

import (
	"slices"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/disruption/decision"
)

// Samples returns, for each voluntary reason, the number of nodes that could be disrupted if there were no budgets.
func (f *Fleet) Samples() []Sample {
	var out []Sample
	for _, r := range VoluntaryReasons() {
		eligible := map[string]bool{}
		for _, m := range Methods() {
			if m.Reason() != r {
				continue
			}
			accepted, _ := f.Eligible(m)
			for _, c := range accepted {
				eligible[c.Name] = true
			}
		}
		out = append(out, Sample{Metric: MetricEligibleNodes, Labels: map[string]string{decision.LabelReason: r.Label()}, Value: float64(len(eligible))})
	}
	return out
}

// Samples returns the scores and moves of a plan, and counts its searches that ended early. f is the fleet of the plan; it contains the
// consolidation policies of the pools.
func (p *Plan) Samples(f *Fleet) []Sample {
	if f == nil {
		return nil
	}
	var out []Sample
	for _, cmd := range p.Commands {
		if cmd != nil && cmd.Reason == ReasonUnderutilized {
			out = append(out, moveSamples(cmd, f)...)
		}
	}
	early, rejected := map[Method]bool{}, map[v1.PoolKey]bool{}
	for i := range p.Verdicts {
		for _, b := range p.Verdicts[i].Blocks {
			switch {
			case b.Block == nil:
			case b.Block.Code == BlockNotReached && b.Method.Reason() == ReasonUnderutilized && b.Method != "":
				early[b.Method] = true
			case b.Block.Code == BlockScore && b.Method == MethodSingleNode:
				out = append(out, f.moveSamples(b.Block.Pool, "rejected", &b.Block.Score)...)
			case b.Block.Code == BlockScore && !rejected[b.Block.Pool]:
				rejected[b.Block.Pool] = true // one search rejects many batches, but they count only once
				out = append(out, f.moveSamples(b.Block.Pool, "rejected", &b.Block.Score)...)
			}
		}
	}
	for _, m := range []Method{MethodMultiNode, MethodSingleNode} {
		if early[m] && p.Waiting && !p.found(m) {
			out = append(out, Sample{Metric: MetricTimeouts, Labels: map[string]string{decision.LabelType: m.ConsolidationType()}, Value: 1})
		}
	}
	return out
}

// found reports whether m or an earlier method found a command, so that the methods after it did not run.
func (p *Plan) found(m Method) bool {
	return slices.ContainsFunc(p.Commands, func(c *Command) bool { return slices.Index(Methods(), c.Method) <= slices.Index(Methods(), m) })
}

// moveSamples returns the samples of a planned command. For each pool that loses nodes, it returns a count and, if the command has a score
// for the pool, this score.
func moveSamples(c *Command, f *Fleet) []Sample {
	var out []Sample
	for _, key := range c.Pools() {
		var score *float64
		for i := range c.Scores {
			if c.Scores[i].Pool == key {
				score = &c.Scores[i].Score
			}
		}
		out = append(out, f.moveSamples(key, "approved", score)...)
	}
	return out
}

func (f *Fleet) moveSamples(key v1.PoolKey, verb string, score *float64) []Sample {
	labels := map[string]string{decision.LabelDecision: verb, decision.LabelPool: key.String(), decision.LabelPolicy: f.policyOf(key)}
	out := []Sample{{Metric: MetricMoves, Labels: labels, Value: 1}}
	if score != nil {
		out = append(out, Sample{Metric: MetricScore, Labels: labels, Value: *score})
	}
	return out
}

func (f *Fleet) policyOf(key v1.PoolKey) string {
	if seen := f.seen(); seen != nil && seen.Pools[key] != nil {
		return decision.PolicyLabel(seen.Pools[key].Object)
	}
	return ""
}

// FailureSamples returns counts of a failed command by cause, and of its replacements that were not ready. Decision and consolidation type
// have separate labels. It returns no samples for a command that was no longer valid or was refused.
func (e *Execution) FailureSamples() []Sample {
	if e.state != StateFailed && e.state != StateUndoing || e.started.IsZero() {
		return nil
	}
	out := e.cmd.FailureSamples(causeOf(e.err))
	if unready := e.Unready(); unready > 0 {
		out = append(out, Sample{Metric: MetricQueueFailures, Labels: e.cmd.MetricLabels(), Value: float64(unready)})
	}
	return out
}

// Samples counts the removal, with the number of pods that must move from its node. A repair is also counted by the node's condition.
func (r *Removal) Samples(moving int) []Sample {
	out := decision.DisruptedSamples(r.Claim, r.Label(), "", moving)
	if r.Reason == ReasonUnhealthy && r.Claim != nil {
		out = append(out, Sample{Metric: MetricUnhealthyDisrupted, Labels: map[string]string{
			decision.LabelCondition: decision.SnakeCase(string(r.Condition)), decision.LabelPool: v1.PoolOf(r.Claim.Labels).String(),
			decision.LabelCapacityType: r.Claim.Labels[v1.CapacityTypeLabelKey], decision.LabelImage: r.Claim.Status.ImageID,
		}, Value: 1})
	}
	return out
}

// Label returns the value of the removal's reason in metrics. For an interruption it is the kind of the provider's message.
func (r *Removal) Label() string {
	if r.Reason != ReasonInterrupted {
		return r.Reason.Label()
	}
	switch kind := cloudprovider.InterruptionKind(r.Detail); kind {
	case cloudprovider.InterruptionSpotReclaim:
		return "spot_interrupted"
	case cloudprovider.InterruptionReservationReclaim:
		return "capacity_reservation_interrupted"
	case cloudprovider.InterruptionMaintenance:
		return "scheduled_change"
	case cloudprovider.InterruptionStopped, cloudprovider.InterruptionTerminated:
		return "instance_" + decision.SnakeCase(r.Detail)
	case cloudprovider.InterruptionUnhealthy:
		return "instance_status"
	}
	return decision.SnakeCase(r.Detail)
}
