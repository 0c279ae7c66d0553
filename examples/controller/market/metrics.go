package market

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/drawknife/drawknife/cloudprovider/commitments"
)

// Metrics show commitments, and observations of spot markets. A nil *Metrics shows nothing.
type Metrics struct {
	amount, own, others, elsewhere *prometheus.GaugeVec
	events                         *prometheus.CounterVec
	scores                         prometheus.Counter
}

// NewMetrics registers the metrics. It returns nil if registerer is nil.
func NewMetrics(registerer prometheus.Registerer) (*Metrics, error) {
	if registerer == nil {
		return nil, nil
	}
	gauge := func(name, help string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "drawknife", Subsystem: "commitment", Name: name, Help: help}, []string{"id", "kind", "unit"})
	}
	m := &Metrics{
		amount:    gauge("amount", "What is paid for per hour, in the unit of the commitment."),
		own:       gauge("own_use", "What nodes of the cluster use of it."),
		others:    gauge("others_use", "What other clusters of the account report that they use of it."),
		elsewhere: gauge("elsewhere_use", "What instances outside these clusters are believed to use of it."),
		events: prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "drawknife", Subsystem: "spot_market", Name: "observations_total",
			Help: "What was observed of own spot nodes: launched, refused, interrupted."}, []string{"event"}),
		scores: prometheus.NewCounter(prometheus.CounterOpts{Namespace: "drawknife", Subsystem: "spot_market", Name: "placement_scores_total",
			Help: "Requests for spot placement scores."}),
	}
	for _, c := range []prometheus.Collector{m.amount, m.own, m.others, m.elsewhere, m.events, m.scores} {
		if err := registerer.Register(c); err != nil {
			return nil, fmt.Errorf("registering metrics: %w", err)
		}
	}
	return m, nil
}

// shown updates the metrics for the use of each commitment, by this cluster and by others. Commitments that no longer exist are no longer
// shown.
func (m *Metrics) shown(shares []commitments.Share, own commitments.Uses) {
	if m == nil {
		return
	}
	for _, g := range []*prometheus.GaugeVec{m.amount, m.own, m.others, m.elsewhere} {
		g.Reset()
	}
	for i := range shares {
		s := &shares[i]
		labels := []string{s.ID, string(s.Kind), s.Unit}
		m.amount.WithLabelValues(labels...).Set(s.Amount)
		m.own.WithLabelValues(labels...).Set(own[s.ID])
		m.others.WithLabelValues(labels...).Set(s.Others)
		m.elsewhere.WithLabelValues(labels...).Set(s.Elsewhere)
	}
}

func (m *Metrics) event(name string) {
	if m != nil {
		m.events.WithLabelValues(name).Inc()
	}
}

func (m *Metrics) scored() {
	if m != nil {
		m.scores.Inc()
	}
}
