package decision

import "slices"

// MetricKind is the type of a metric.
type MetricKind string

// The metric types of Prometheus.
const (
	Counter   MetricKind = "counter"
	Gauge     MetricKind = "gauge"
	Histogram MetricKind = "histogram"
)

// Metric describes one of the metrics of disruption. It is only a description: the program that exports metrics registers it with its
// registry.
type Metric struct {
	// Name has the prefix MetricPrefix; it is one of the Metric constants.
	Name string
	Kind MetricKind
	// Labels are the labels that each Sample of the metric has.
	Labels []string
	// Buckets are the upper bounds of a histogram, ascending.
	Buckets []float64
	// Help is one sentence.
	Help string
}

// MetricPrefix begins the name of every metric.
const MetricPrefix = "karpenter_"

// The names of the metrics of disruption.
const (
	MetricEligibleNodes        = MetricPrefix + "voluntary_disruption_eligible_nodes"
	MetricDecisions            = MetricPrefix + "voluntary_disruption_decisions_total"
	MetricDecisionsByPool      = MetricPrefix + "voluntary_disruption_decisions_by_nodepool_total"
	MetricEvaluationDuration   = MetricPrefix + "voluntary_disruption_decision_evaluation_duration_seconds"
	MetricTimeouts             = MetricPrefix + "voluntary_disruption_consolidation_timeouts_total"
	MetricFailedValidations    = MetricPrefix + "voluntary_disruption_failed_validations_total"
	MetricQueueFailures        = MetricPrefix + "voluntary_disruption_queue_failures_total"
	MetricCommandFailures      = MetricPrefix + "voluntary_disruption_command_failures_total"
	MetricAllowedDisruptions   = MetricPrefix + "nodepools_allowed_disruptions"
	MetricConsumingBudgets     = MetricPrefix + "nodepools_nodes_consuming_budgets"
	MetricScore                = MetricPrefix + "consolidation_score"
	MetricMoves                = MetricPrefix + "consolidation_moves_total"
	MetricDisrupted            = MetricPrefix + "nodeclaims_disrupted_total"
	MetricPodsDisrupted        = MetricPrefix + "pods_disruption_initiated_total"
	MetricUnhealthyDisrupted   = MetricPrefix + "nodeclaims_unhealthy_disrupted_total"
	MetricBackOffFailures      = MetricPrefix + "voluntary_disruption_backoff_failures_total"
	MetricBackOffSeconds       = MetricPrefix + "voluntary_disruption_backoff_seconds"
	LabelReason                = "reason"
	LabelDecision              = "decision"
	LabelType                  = "consolidation_type"
	labelCause                 = "cause"
	LabelPool                  = "nodepool"
	LabelPolicy                = "policy"
	labelConsolidationPolicy   = "consolidation_policy"
	LabelCapacityType          = "capacity_type"
	labelTerminationMode       = "termination_mode"
	LabelCondition, LabelImage = "condition", "image_id"
)

// Metrics returns the metrics of this package's Samples. Package provisioning also counts nodeclaims_disrupted_total, for claims whose
// launch it abandons.
func Metrics() []Metric {
	disrupted := []string{LabelReason, LabelPool, LabelCapacityType, labelConsolidationPolicy, labelTerminationMode}
	return []Metric{
		{MetricEligibleNodes, Gauge, []string{LabelReason}, nil, "Nodes that may be disrupted for a reason, budgets aside."},
		{MetricDecisions, Counter, []string{LabelDecision, LabelReason, LabelType}, nil, "Commands that were started."},
		{MetricDecisionsByPool, Counter, []string{LabelPool, LabelDecision, LabelReason, LabelType}, nil, "Commands that were started, once for each NodePool that loses nodes."},
		{MetricEvaluationDuration, Histogram, []string{LabelReason, LabelType}, secondsToMinutes(), "How long a method looked for commands."},
		{MetricTimeouts, Counter, []string{LabelType}, nil, "Searches that ended before all candidates had their turn."},
		{MetricFailedValidations, Counter, []string{LabelType}, nil, "Commands that were void when they were to be started."},
		{MetricQueueFailures, Counter, []string{LabelDecision, LabelReason, LabelType}, nil, "Replacements that were not ready when their command failed."},
		{MetricCommandFailures, Counter, []string{LabelReason, LabelType, labelCause}, nil, "Commands that were taken back, or held back before they began, by why."},
		{MetricAllowedDisruptions, Gauge, []string{LabelPool, LabelReason}, nil, "Nodes that the budgets of a NodePool let be disrupted at a time."},
		{MetricConsumingBudgets, Gauge, []string{LabelPool, LabelReason}, nil, "Nodes of a NodePool that are being disrupted or not ready."},
		{MetricScore, Histogram, []string{LabelDecision, LabelPool, LabelPolicy}, []float64{0.1, 0.25, 0.33, 0.5, 1, 2, 5, 10}, "Scores of moves of Balanced NodePools."},
		{MetricMoves, Counter, []string{LabelDecision, LabelPool, LabelPolicy}, nil, "Moves of consolidation that were approved or rejected."},
		{MetricDisrupted, Counter, disrupted, nil, "NodeClaims given up or disrupted, by reason."},
		{MetricPodsDisrupted, Counter, slices.Clone(disrupted), nil, "Pods that had to move from disrupted nodes."},
		{MetricUnhealthyDisrupted, Counter, []string{LabelCondition, LabelPool, LabelCapacityType, LabelImage}, nil, "Nodes repaired, by the condition that called them broken."},
		{MetricBackOffFailures, Counter, []string{LabelPool}, nil, "Failures of drift that had a NodePool left alone for a while."},
		{MetricBackOffSeconds, Gauge, []string{LabelPool}, nil, "Seconds for which drift leaves a NodePool alone."},
	}
}

func secondsToMinutes() []float64 {
	return []float64{0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 180}
}

// Sample is one value of a metric: an amount to add to a counter, the value of a gauge, or an observation for a histogram. It has exactly
// the Labels of its Metric.
type Sample struct {
	Metric string
	Labels map[string]string
	Value  float64
}
