package decision

import (
	"slices"
	"strings"
	"unicode"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// Label returns the value of the reason in metrics. For forced reasons see Removal.Label.
func (r Reason) Label() string { return SnakeCase(string(r)) }

// SnakeCase converts a name such as "WhenEmptyOrUnderutilized" to "when_empty_or_underutilized".
func SnakeCase(s string) string {
	var out strings.Builder
	for i, r := range s {
		if unicode.IsUpper(r) && i > 0 {
			out.WriteByte('_')
		}
		out.WriteRune(unicode.ToLower(r))
	}
	return out.String()
}

// TerminationMode returns how a claim's node is terminated, as the value of a metric's label: "graceful" (without a deadline), "eventual"
// (with a deadline) or "forceful" (with an immediate deadline).
func TerminationMode(claim *v1.NodeClaim) string {
	if claim == nil {
		return ""
	}
	switch period := claim.Spec.TerminationGracePeriod; {
	case period == nil:
		return "graceful"
	case period.Duration <= 0:
		return "forceful"
	}
	return "eventual"
}

// MetricLabels returns the labels of a method's metrics: its reason and its consolidation type.
func (m Method) MetricLabels() map[string]string {
	return map[string]string{LabelReason: m.Reason().Label(), LabelType: m.ConsolidationType()}
}

// PolicyLabel returns the value of the pool's consolidationPolicy in metrics. It returns the default if the pool does not set a policy, and
// "" if pool is nil.
func PolicyLabel(pool *v1.NodePool) string {
	if pool == nil {
		return ""
	}
	policy := pool.Spec.Disruption.ConsolidationPolicy
	if policy == "" {
		policy = v1.ConsolidationPolicyWhenEmptyOrUnderutilized
	}
	return SnakeCase(string(policy))
}

// Pools returns the pools of the members, without duplicates.
func (c *Command) Pools() []v1.PoolKey {
	var out []v1.PoolKey
	for i := range c.Members {
		if key := c.Members[i].Pool; !slices.Contains(out, key) {
			out = append(out, key)
		}
	}
	slices.SortFunc(out, v1.PoolKey.Compare)
	return out
}

// MetricLabels returns the labels of the command's counters: those of its method, and its decision.
func (c *Command) MetricLabels() map[string]string {
	labels := c.Method.MetricLabels()
	labels[LabelDecision] = string(c.Decision())
	return labels
}

// StartedSamples returns the samples that count the command as started.
func (c *Command) StartedSamples() []Sample {
	out := []Sample{{MetricDecisions, c.MetricLabels(), 1}}
	for _, key := range c.Pools() {
		labels := c.MetricLabels()
		labels[LabelPool] = key.String()
		out = append(out, Sample{MetricDecisionsByPool, labels, 1})
	}
	return out
}

// RejectionSamples returns the samples that count the command as rejected by validation.
func (c *Command) RejectionSamples() []Sample {
	return []Sample{{MetricFailedValidations, map[string]string{LabelType: c.Method.ConsolidationType()}, 1}}
}

// CauseHeldBack is the cause, in metrics, of a command that the launch rate limiter holds back.
const CauseHeldBack = "held_back"

// HeldBackSamples returns the samples that count the command as not started because its launches are held back.
func (c *Command) HeldBackSamples() []Sample { return c.FailureSamples(CauseHeldBack) }

// FailureSamples returns the samples that count the command as failed, with the cause.
func (c *Command) FailureSamples(cause string) []Sample {
	labels := c.Method.MetricLabels()
	labels[labelCause] = cause
	return []Sample{{MetricCommandFailures, labels, 1}}
}

// DisruptedSamples returns the samples of nodeclaims_disrupted_total and pods_disruption_initiated_total for one claim. moved is the number
// of its pods that have to move.
func DisruptedSamples(claim *v1.NodeClaim, reason, policy string, moved int) []Sample {
	if claim == nil {
		return nil
	}
	labels := map[string]string{
		LabelReason: reason, LabelPool: v1.PoolOf(claim.Labels).String(), LabelCapacityType: claim.Labels[v1.CapacityTypeLabelKey],
		labelConsolidationPolicy: policy, labelTerminationMode: TerminationMode(claim),
	}
	return []Sample{{MetricDisrupted, labels, 1}, {MetricPodsDisrupted, labels, float64(moved)}}
}

// DisruptedSamples returns the samples that count a member of the command after its NodeClaim was deleted. pool is the member's NodePool.
// For consolidation methods, the pool's consolidationPolicy is a label of the samples. pool may be nil.
func (c *Command) DisruptedSamples(m *Member, claim *v1.NodeClaim, pool *v1.NodePool) []Sample {
	if m == nil {
		return nil
	}
	policy := ""
	if pool != nil && c.Method.ConsolidationType() != "" {
		policy = PolicyLabel(pool)
	}
	return DisruptedSamples(claim, c.Reason.Label(), policy, len(m.Pods))
}
