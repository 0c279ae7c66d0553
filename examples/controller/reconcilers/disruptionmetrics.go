package reconcilers

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption"
)

// disruptionMetrics are the metrics of package disruption, and the metrics of interruption messages.
type disruptionMetrics struct {
	counters   map[string]*prometheus.CounterVec
	gauges     map[string]*prometheus.GaugeVec
	histograms map[string]*prometheus.HistogramVec

	// approvals counts the decisions on commands that need approval; waiting counts the commands without a decision.
	approvals *prometheus.CounterVec
	waiting   prometheus.Gauge

	received      *prometheus.CounterVec
	deleted       prometheus.Counter
	queueDuration prometheus.Histogram
}

// newDisruptionMetrics registers the metrics of disruption that common does not register already.
func newDisruptionMetrics(registerer prometheus.Registerer, common *metrics) (*disruptionMetrics, error) {
	m := &disruptionMetrics{
		counters: map[string]*prometheus.CounterVec{
			disruption.MetricDisrupted: common.claimsDisrupted, disruption.MetricPodsDisrupted: common.podsDisrupted,
		},
		gauges: map[string]*prometheus.GaugeVec{}, histograms: map[string]*prometheus.HistogramVec{},
		approvals: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Subsystem: "voluntary_disruption", Name: "approvals_total", Help: "Commands that had to be approved, by what became of that: approved, refused, expired or outdated.",
		}, []string{"decision"}),
		waiting: prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: namespace, Subsystem: "voluntary_disruption", Name: "commands_awaiting_approval", Help: "Commands that wait for approval.",
		}),
		received: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Subsystem: "interruption", Name: "received_messages_total", Help: "Messages of the cloud about instances.",
		}, []string{"message_type"}),
		deleted: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: namespace, Subsystem: "interruption", Name: "deleted_messages_total", Help: "Messages of the cloud that were dealt with.",
		}),
		queueDuration: prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: namespace, Subsystem: "interruption", Name: "message_queue_duration_seconds",
			Help: "Time from a message's being sent to its being read.", Buckets: secondsToHours,
		}),
	}
	all := []prometheus.Collector{m.approvals, m.waiting, m.received, m.deleted, m.queueDuration}
	for _, described := range disruption.Metrics() {
		if m.counters[described.Name] != nil {
			continue
		}
		switch described.Kind {
		case disruption.Counter:
			c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: described.Name, Help: described.Help}, described.Labels)
			m.counters[described.Name], all = c, append(all, c)
		case disruption.Gauge:
			g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: described.Name, Help: described.Help}, described.Labels)
			m.gauges[described.Name], all = g, append(all, g)
		case disruption.Histogram:
			h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: described.Name, Help: described.Help, Buckets: described.Buckets}, described.Labels)
			m.histograms[described.Name], all = h, append(all, h)
		}
	}
	if registerer == nil {
		return m, nil
	}
	var errs []error
	for _, collector := range all {
		errs = append(errs, registerer.Register(collector))
	}
	return m, errors.Join(errs...)
}

// take records samples. A sample of an undeclared metric, or with other labels, is ignored here: it is a bug of package disruption, whose
// tests find it.
func (m *disruptionMetrics) take(samples ...[]disruption.Sample) {
	for _, s := range slices.Concat(samples...) {
		switch {
		case m.counters[s.Metric] != nil:
			if counter, err := m.counters[s.Metric].GetMetricWith(s.Labels); err == nil {
				counter.Add(s.Value)
			}
		case m.gauges[s.Metric] != nil:
			if gauge, err := m.gauges[s.Metric].GetMetricWith(s.Labels); err == nil {
				gauge.Set(s.Value)
			}
		case m.histograms[s.Metric] != nil:
			if histogram, err := m.histograms[s.Metric].GetMetricWith(s.Labels); err == nil {
				histogram.Observe(s.Value)
			}
		}
	}
}

// show sets the gauges. It first resets the gauges in names, so that the gauges of deleted pools disappear.
func (m *disruptionMetrics) show(samples []disruption.Sample, names ...string) {
	for _, name := range names {
		m.gauges[name].Reset()
	}
	m.take(samples)
}

// planned records the metrics of a plan and its fleet.
func (m *disruptionMetrics) planned(fleet *disruption.Fleet, plan *disruption.Plan, took time.Duration) {
	labels := map[string]string{"reason": "", "consolidation_type": ""}
	if len(plan.Commands) > 0 {
		labels = plan.Commands[0].Method.MetricLabels()
	}
	evaluated := []disruption.Sample{{Metric: disruption.MetricEvaluationDuration, Labels: labels, Value: took.Seconds()}}
	m.take(fleet.Samples(), plan.Samples(fleet), evaluated)
}

// approval counts the decision on a command that needs approval.
func (m *disruptionMetrics) approval(state ApprovalState) {
	m.approvals.WithLabelValues(string(state)).Inc()
}

// timedOut counts a plan that reached its time limit.
func (m *disruptionMetrics) timedOut() {
	for _, method := range []disruption.Method{disruption.MethodMultiNode, disruption.MethodSingleNode} {
		m.counters[disruption.MetricTimeouts].WithLabelValues(method.ConsolidationType()).Inc()
	}
}

// disrupted counts a disrupted claim, and the pods that have to move.
func (m *metrics) disrupted(claim *v1.NodeClaim, reason string, pods int) {
	labels := []string{reason, poolName(claim.Labels), claim.Labels[v1.CapacityTypeLabelKey], "", disruption.TerminationMode(claim)}
	m.claimsDisrupted.WithLabelValues(labels...).Inc()
	m.podsDisrupted.WithLabelValues(labels...).Add(float64(pods))
}

// createdReason returns the reason label of nodeclaims_created_total for a replacement.
func createdReason(r disruption.Reason) string { return strings.ToLower(string(r)) }
