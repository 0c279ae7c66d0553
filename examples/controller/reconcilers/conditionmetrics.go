package reconcilers

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// conditionMetrics are the metrics operator_<kind>_status_condition_* and operator_<kind>_termination_*: the conditions of objects, how
// long they last, how often they change, and how long deletions take. If objects is false, there are only the counters and histograms, not
// the metrics of single objects.
type conditionMetrics struct {
	reader  *conditionReader
	now     func() time.Time
	objects bool
	kinds   map[string]*conditionFamily

	mu    sync.Mutex
	known map[objectKey]conditioned
}

type objectKey struct{ kind, name string }

// conditioned is the state of an object for the metrics.
type conditioned struct {
	conditions []metav1.Condition
	deleted    time.Time // zero if the object is not being deleted
}

// conditionFamily contains the metrics of one kind.
type conditionFamily struct {
	count, current, leaving *prometheus.Desc
	changes                 *prometheus.CounterVec
	spent                   *prometheus.HistogramVec
	gone                    prometheus.Histogram
}

func newConditionMetrics(reader *conditionReader, objects bool, now func() time.Time) *conditionMetrics {
	m := &conditionMetrics{reader: reader, now: now, objects: objects, kinds: map[string]*conditionFamily{}, known: map[objectKey]conditioned{}}
	kinds := []string{"NodePool", "NodeClaim", "Node"}
	for kind := range reader.versions {
		kinds = append(kinds, kind)
	}
	for _, kind := range kinds {
		subsystem := strings.ToLower(kind)
		name := func(rest string) string { return prometheus.BuildFQName("operator", subsystem, rest) }
		of := []string{"name", "type", "status", "reason"}
		m.kinds[kind] = &conditionFamily{
			count:   prometheus.NewDesc(name("status_condition_count"), "1 for each condition that an object has.", of, nil),
			current: prometheus.NewDesc(name("status_condition_current_status_seconds"), "For how long a condition has been what it is.", of, nil),
			leaving: prometheus.NewDesc(name("termination_current_time_seconds"), "For how long an object has been going.", []string{"name"}, nil),
			changes: prometheus.NewCounterVec(prometheus.CounterOpts{
				Name: name("status_condition_transitions_total"), Help: "Changes of conditions, by what they became.",
			}, []string{"type", "status", "reason"}),
			spent: prometheus.NewHistogramVec(prometheus.HistogramOpts{
				Name: name("status_condition_transition_seconds"), Help: "For how long conditions were something before they changed.", Buckets: secondsToHours,
			}, []string{"type", "status"}),
			gone: prometheus.NewHistogram(prometheus.HistogramOpts{
				Name: name("termination_duration_seconds"), Help: "Time from an object's deletion to its end.", Buckets: secondsToHours,
			}),
		}
	}
	return m
}

// seen records a change of an object.
func (m *conditionMetrics) seen(before, after client.Object) {
	kind, is := m.reader.of(after)
	oldKind, was := m.reader.of(before)
	object := after
	if object == nil {
		object = before
	}
	family := m.kinds[cmp.Or(kind, oldKind)]
	if family == nil {
		return
	}
	now := m.now()
	key := objectKey{cmp.Or(kind, oldKind), v1.QualifiedName(object)}
	m.mu.Lock()
	defer m.mu.Unlock()
	if kind == "" {
		delete(m.known, key)
		if at := before.GetDeletionTimestamp(); after == nil && at != nil {
			family.gone.Observe(max(0, now.Sub(at.Time).Seconds()))
		}
		return
	}
	if m.objects {
		shown := conditioned{conditions: is}
		if at := object.GetDeletionTimestamp(); at != nil {
			shown.deleted = at.Time
		}
		m.known[key] = shown
	}
	if before == nil {
		return // the earlier state is unknown
	}
	for i := range is {
		c := &is[i]
		at := slices.IndexFunc(was, func(old metav1.Condition) bool { return old.Type == c.Type })
		if at >= 0 && was[at].Status == c.Status {
			continue
		}
		family.changes.WithLabelValues(c.Type, string(c.Status), c.Reason).Inc()
		if at >= 0 {
			family.spent.WithLabelValues(c.Type, string(was[at].Status)).Observe(max(0, c.LastTransitionTime.Sub(was[at].LastTransitionTime.Time).Seconds()))
		}
	}
}

// Describe sends the descriptions of all metrics that Collect may send.
func (m *conditionMetrics) Describe(out chan<- *prometheus.Desc) {
	for _, f := range m.kinds {
		out <- f.count
		out <- f.current
		out <- f.leaving
		f.changes.Describe(out)
		f.spent.Describe(out)
		f.gone.Describe(out)
	}
}

// Collect sends the state of the known objects, and the counters.
func (m *conditionMetrics) Collect(out chan<- prometheus.Metric) {
	for _, f := range m.kinds {
		f.changes.Collect(out)
		f.spent.Collect(out)
		f.gone.Collect(out)
	}
	now := m.now()
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, object := range m.known {
		f := m.kinds[key.kind]
		gauge := func(d *prometheus.Desc, value float64, labels ...string) {
			out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
		}
		for i := range object.conditions {
			c := &object.conditions[i]
			labels := []string{key.name, c.Type, string(c.Status), c.Reason}
			gauge(f.count, 1, labels...)
			gauge(f.current, max(0, now.Sub(c.LastTransitionTime.Time).Seconds()), labels...)
		}
		if !object.deleted.IsZero() {
			gauge(f.leaving, max(0, now.Sub(object.deleted).Seconds()), key.name)
		}
	}
}
