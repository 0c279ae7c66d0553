package reconcilers

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/learned"
)

// metrics are the controller's metrics that count actions. Their labels are names of pools, types, zones and reasons, never of single pods.
// So the number of time series is limited.
type metrics struct {
	passDuration     prometheus.Histogram
	queueDepth       prometheus.Gauge
	unschedulable    prometheus.Gauge
	ignored          prometheus.Gauge
	pendingByZone    *prometheus.GaugeVec
	claimsCreated    *prometheus.CounterVec
	claimsTerminated *prometheus.CounterVec
	claimsDisrupted  *prometheus.CounterVec
	podsDisrupted    *prometheus.CounterVec
	claimTermination *prometheus.HistogramVec
	nodesCreated     *prometheus.CounterVec
	nodesTerminated  *prometheus.CounterVec
	claimInstanceEnd *prometheus.HistogramVec
	nodeTermination  *prometheus.SummaryVec
	nodesDrained     *prometheus.CounterVec
	nodeLifetime     *prometheus.HistogramVec
	evictions        *prometheus.CounterVec
	drained          *prometheus.CounterVec
	poolLimit        *prometheus.GaugeVec
	poolUsage        *prometheus.GaugeVec
	providerDuration *prometheus.HistogramVec
	providerErrors   *prometheus.CounterVec

	// Durations for pods are measured from two times: from their creation, and from the first plan that had a place for them.
	podBound, podPlacedBound, podStartup, podPlacedStartup, podDecision prometheus.Observer
	costErrors                                                          *prometheus.CounterVec
	// learnedTypes is the number of instance types for which plans use other devices than the provider states.
	learnedTypes *prometheus.GaugeVec
	// deviceless is the number of pods that claim devices and have no place.
	deviceless *prometheus.GaugeVec
	prices     priceMetrics

	// garbageCollected and garbageFailed count garbage by kind: nodeclaim, instance, node.
	garbageCollected, garbageFailed *prometheus.CounterVec
}

const namespace = "karpenter"

// controllerLabel is the name of the controller that plans for pending pods.
const controllerLabel = "provisioner"

// quantiles are the quantiles of summaries, with their permitted errors.
var quantiles = map[float64]float64{0.5: 0.05, 0.9: 0.01, 0.99: 0.001}

// secondsToHours are buckets for durations from a second to a day.
var secondsToHours = []float64{1, 2, 5, 10, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 21600, 86400}

func newMetrics(registerer prometheus.Registerer) (*metrics, error) {
	var all []prometheus.Collector
	counter := func(subsystem, name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Subsystem: subsystem, Name: name, Help: help}, labels)
		all = append(all, c)
		return c
	}
	gauge := func(subsystem, name, help string, labels ...string) *prometheus.GaugeVec {
		g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: namespace, Subsystem: subsystem, Name: name, Help: help}, labels)
		all = append(all, g)
		return g
	}
	histogram := func(subsystem, name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: namespace, Subsystem: subsystem, Name: name, Help: help, Buckets: buckets}, labels)
		all = append(all, h)
		return h
	}
	controller := prometheus.Labels{"controller": controllerLabel}
	passDuration := histogram("scheduler", "scheduling_duration_seconds", "How long a planning pass took.", prometheus.ExponentialBuckets(0.001, 2, 17), "controller")
	queueDepth := gauge("scheduler", "queue_depth", "Objects that the running planning pass is for.", "controller")
	unschedulable := gauge("scheduler", "unschedulable_pods_count", "Pods without a place after the last planning pass.", "controller")
	ignored := gauge("scheduler", "ignored_pods_count", "Pods that the last planning pass had nothing to plan for: they can't be placed by any pool, or are not meant to.")
	pool, zone, capacityType := "nodepool", "zone", "capacity_type"
	m := &metrics{
		claimsCreated:    counter("nodeclaims", "created_total", "NodeClaims created.", "reason", pool, "min_values_relaxed"),
		claimsTerminated: counter("nodeclaims", "terminated_total", "NodeClaims that are gone.", pool, capacityType, zone),
		claimsDisrupted:  counter("nodeclaims", "disrupted_total", "NodeClaims given up or disrupted, by reason.", "reason", pool, capacityType, "consolidation_policy", "termination_mode"),
		podsDisrupted: counter("pods", "disruption_initiated_total", "Pods that have to move since their NodeClaim is given up or disrupted, by reason.",
			"reason", pool, capacityType, "consolidation_policy", "termination_mode"),
		claimTermination: histogram("nodeclaims", "termination_duration_seconds", "Time from a NodeClaim's deletion to its end.", secondsToHours, pool),
		nodesCreated:     counter("nodes", "created_total", "Nodes registered.", pool, zone),
		nodesTerminated:  counter("nodes", "terminated_total", "Nodes that are gone.", pool, zone),
		claimInstanceEnd: histogram("nodeclaims", "instance_termination_duration_seconds", "Time from the first request to end a NodeClaim's instance until it was gone.", secondsToHours, pool),
		nodesDrained:     counter("nodes", "drained_total", "Nodes whose pods have all left for their end.", pool),
		pendingByZone:    gauge("scheduler", "pending_pods_by_effective_zone_count", "Pods that the last planning pass was for, by the zone they can go to: its name, flexible for several, none.", "controller", zone),
		nodeLifetime:     histogram("nodes", "lifetime_duration_seconds", "Age of nodes at their end.", prometheus.ExponentialBuckets(60, 2, 18), pool),
		evictions:        counter("pods", "eviction_requests_total", "Answers of the eviction API, by HTTP status.", "code"),
		drained:          counter("pods", "drained_total", "Pods that a drain made leave, by reason.", "reason"),
		poolLimit:        gauge("nodepools", "limit", "Limits of NodePools.", pool, "resource_type"),
		poolUsage:        gauge("nodepools", "usage", "What the nodes of NodePools have in all.", pool, "resource_type"),
		providerDuration: histogram("cloudprovider", "duration_seconds", "How long calls of the cloud provider took.", prometheus.DefBuckets, "controller", "method", "provider"),
		providerErrors:   counter("cloudprovider", "errors_total", "Calls of the cloud provider that failed, by kind.", "controller", "method", "provider", "error"),
	}
	m.learnedTypes = gauge("nodepools", "learned_device_types", "Instance types of NodePools whose devices are planned as nodes have published them.", pool)
	m.deviceless = gauge("scheduler", "unschedulable_pods_by_device_class_count",
		"Pods that claim devices of a DeviceClass and had no place after the last planning pass, by reason: Devices if no node can have what they claim.", "device_class", "reason")
	m.prices = newPriceMetrics(gauge)
	m.costErrors = counter("nodepools", "cost_tracker_errors_total", "Times that the prices of a NodePool's instances could not be found out.", pool)
	m.garbageCollected = counter("garbage", "collected_total",
		"NodeClaims without an instance, instances without a NodeClaim and Nodes without either that were ended.", "kind", pool)
	m.garbageFailed = counter("garbage", "failures_total", "Times that one of these could not be ended.", "kind", pool)
	m.podBound = histogram("pods", "bound_duration_seconds", "Time from a pod's creation to its being bound.", secondsToHours).With(nil)
	m.podPlacedBound = histogram("pods", "provisioning_bound_duration_seconds", "Time from the plan that first had a place for a pod to its being bound.", secondsToHours).With(nil)
	m.podPlacedStartup = histogram("pods", "provisioning_startup_duration_seconds", "Time from the plan that first had a place for a pod to its being ready.", secondsToHours).With(nil)
	m.podDecision = histogram("pods", "scheduling_decision_duration_seconds", "Time from the first sight of a pod to the first plan that dealt with it.", prometheus.ExponentialBuckets(0.01, 2, 17)).With(nil)
	startup := prometheus.NewSummary(prometheus.SummaryOpts{
		Namespace: namespace, Subsystem: "pods", Name: "startup_duration_seconds", Help: "Time from a pod's creation to its being ready.",
		Objectives: quantiles,
	})
	m.nodeTermination = prometheus.NewSummaryVec(prometheus.SummaryOpts{
		Namespace: namespace, Subsystem: "nodes", Name: "termination_duration_seconds", Help: "Time from a node's deletion to its end.",
		Objectives: quantiles,
	}, []string{pool})
	m.podStartup, all = startup, append(all, startup, m.nodeTermination, newBuildInfo())
	m.passDuration = passDuration.With(controller).(prometheus.Histogram)
	m.queueDepth, m.unschedulable = queueDepth.With(controller), unschedulable.With(controller)
	m.ignored = ignored.With(nil)
	if registerer == nil {
		return m, nil
	}
	var errs []error
	for _, collector := range all {
		errs = append(errs, registerer.Register(collector))
	}
	return m, errors.Join(errs...)
}

func (m *metrics) passStarted(objects int) { m.queueDepth.Set(float64(objects)) }

// passDone records a pass that produced a plan; byZone is the number of its pods by zone.
func (m *metrics) passDone(plan *scheduling.Plan, byZone map[string]int, took time.Duration) {
	m.queueDepth.Set(0)
	ignored := 0
	for i := range plan.Unschedulable {
		if toIgnore(&plan.Unschedulable[i]) {
			ignored++
		}
	}
	m.ignored.Set(float64(ignored))
	m.unschedulable.Set(float64(len(plan.Unschedulable) - ignored))
	m.pendingByZone.Reset()
	for zone, pods := range byZone {
		m.pendingByZone.WithLabelValues(controllerLabel, zone).Set(float64(pods))
	}
	m.prices.planned(plan)
	m.passDuration.Observe(took.Seconds())
}

// toIgnore reports whether the pod is invalid or has opted out: then no pool can ever have a node for it.
func toIgnore(pod *scheduling.Unschedulable) bool {
	return slices.ContainsFunc(pod.Reasons, func(r scheduling.Reason) bool {
		return r.Code == scheduling.ReasonPodInvalid || r.Code == scheduling.ReasonOptedOut
	})
}

func (m *metrics) claimCreated(claim *v1.NodeClaim, reason string) {
	relaxed := claim.Annotations[v1.NodeClaimMinValuesRelaxedAnnotationKey]
	if relaxed == "" {
		relaxed = "false"
	}
	m.claimsCreated.WithLabelValues(reason, poolName(claim.Labels), relaxed).Inc()
}

func (m *metrics) claimTerminated(claim *v1.NodeClaim, now time.Time) {
	pool := poolName(claim.Labels)
	m.claimsTerminated.WithLabelValues(pool, claim.Labels[v1.CapacityTypeLabelKey], claim.Labels[corev1.LabelTopologyZone]).Inc()
	if claim.DeletionTimestamp != nil {
		m.claimTermination.WithLabelValues(pool).Observe(now.Sub(claim.DeletionTimestamp.Time).Seconds())
	}
	if ending := claim.DeepCopy().Conditions().Get(v1.ConditionInstanceTerminating); ending.Status == "True" {
		m.claimInstanceEnd.WithLabelValues(pool).Observe(now.Sub(ending.LastTransitionTime.Time).Seconds())
	}
}

func (m *metrics) nodeCreated(claim *v1.NodeClaim) {
	m.nodesCreated.WithLabelValues(poolName(claim.Labels), claim.Labels[corev1.LabelTopologyZone]).Inc()
}

func (m *metrics) nodeTerminated(node *corev1.Node, now time.Time) {
	pool := poolName(node.Labels)
	m.nodesTerminated.WithLabelValues(pool, node.Labels[corev1.LabelTopologyZone]).Inc()
	m.nodeLifetime.WithLabelValues(pool).Observe(now.Sub(node.CreationTimestamp.Time).Seconds())
	if node.DeletionTimestamp != nil {
		m.nodeTermination.WithLabelValues(pool).Observe(now.Sub(node.DeletionTimestamp.Time).Seconds())
	}
}

func (m *metrics) evictionAnswered(code string) { m.evictions.WithLabelValues(code).Inc() }
func (m *metrics) podDrained(reason string)     { m.drained.WithLabelValues(reason).Inc() }

// poolShown sets the gauges of a pool's limits and usage. If the pool is being deleted, poolShown removes these gauges.
func (m *metrics) poolShown(pool *v1.NodePool) {
	m.poolGone(v1.QualifiedName(pool))
	if pool.DeletionTimestamp != nil {
		return
	}
	for name, q := range pool.Spec.Limits {
		m.poolLimit.WithLabelValues(v1.QualifiedName(pool), string(name)).Set(q.AsApproximateFloat64())
	}
	for name, q := range pool.Status.Resources {
		m.poolUsage.WithLabelValues(v1.QualifiedName(pool), string(name)).Set(q.AsApproximateFloat64())
	}
}

// poolGone removes the metrics of a pool.
func (m *metrics) poolGone(name string) {
	mine := prometheus.Labels{"nodepool": name}
	m.poolLimit.DeletePartialMatch(mine)
	m.poolUsage.DeletePartialMatch(mine)
	m.learnedTypes.DeletePartialMatch(mine)
}

// learnedShown sets the number of the pool's types with learned devices. It sets no gauge if the pool has no such types.
func (m *metrics) learnedShown(pool *v1.NodePool, corrections learned.Corrections) {
	types := map[string]bool{}
	for i := range corrections {
		if c := &corrections[i]; c.Pool == pool.Key() && !c.Unconfirmed {
			types[c.InstanceType] = true
		}
	}
	if len(types) > 0 {
		m.learnedTypes.WithLabelValues(v1.QualifiedName(pool)).Set(float64(len(types)))
	}
}

// timedProvider measures the calls of a provider.
type timedProvider struct {
	cloudprovider.CloudProvider
	metrics *metrics
}

// Unwrap returns the wrapped provider, for cloudprovider.As.
func (p *timedProvider) Unwrap() cloudprovider.CloudProvider { return p.CloudProvider }

// begin starts to measure a call; call the returned function when the call has ended.
func (p *timedProvider) begin(method string) func(error) {
	started := time.Now()
	return func(err error) {
		p.metrics.providerDuration.WithLabelValues("", method, p.Name()).Observe(time.Since(started).Seconds())
		if err != nil {
			p.metrics.providerErrors.WithLabelValues("", method, p.Name(), string(cloudprovider.KindOf(err))).Inc()
		}
	}
}

// InstanceTypes calls the provider, and measures the duration.
func (p *timedProvider) InstanceTypes(ctx context.Context, pool *v1.NodePool) (types []*cloudprovider.InstanceType, err error) {
	defer func(end func(error)) { end(err) }(p.begin("InstanceTypes"))
	return p.CloudProvider.InstanceTypes(ctx, pool)
}

// Create calls the provider, and measures the duration.
func (p *timedProvider) Create(ctx context.Context, claim *v1.NodeClaim) (instance *v1.NodeClaim, err error) {
	defer func(end func(error)) { end(err) }(p.begin("Create"))
	return p.CloudProvider.Create(ctx, claim)
}

// Delete calls the provider, and measures the duration.
func (p *timedProvider) Delete(ctx context.Context, claim *v1.NodeClaim) (err error) {
	defer func(end func(error)) { end(err) }(p.begin("Delete"))
	return p.CloudProvider.Delete(ctx, claim)
}

// Get calls the provider, and measures the duration.
func (p *timedProvider) Get(ctx context.Context, id string) (instance *v1.NodeClaim, err error) {
	defer func(end func(error)) { end(err) }(p.begin("Get"))
	return p.CloudProvider.Get(ctx, id)
}

// List calls the provider, and measures the duration.
func (p *timedProvider) List(ctx context.Context) (instances []*v1.NodeClaim, err error) {
	defer func(end func(error)) { end(err) }(p.begin("List"))
	return p.CloudProvider.List(ctx)
}
