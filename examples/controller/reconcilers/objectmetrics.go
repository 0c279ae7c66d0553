package reconcilers

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/examples/controller/clusterdebug"
	"github.com/drawknife/drawknife/provisioning"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/cluster"
	"github.com/drawknife/drawknife/scheduling/pods"
)

// stateMetrics are the metrics that show the current state of the cluster. They are computed from the view of the cluster at the time of
// the scrape, so a deleted object has no metrics. There is a time series for each node and resource, and for each pod that has not
// finished. If objects is false, there are only time series of the whole cluster.
type stateMetrics struct {
	state    *cluster.State
	now      func() time.Time
	began    time.Time
	objects  bool
	waiting  *podTimes
	catalogs atomic.Pointer[provisioning.PoolSet]
	// passing is the start of the running planning pass, in nanoseconds of Unix time; 0 if none is running.
	passing atomic.Int64

	synced, unsynced, nodeCount          *prometheus.Desc
	utilization, cost, unfinished        *prometheus.Desc
	lifetime, podState                   *prometheus.Desc
	allocatable, requests, limits        *prometheus.Desc
	daemonRequests, daemonLimits, system *prometheus.Desc
	unbound, unstarted, undecided        *prometheus.Desc
	placedUnbound, placedUnstarted       *prometheus.Desc
	devices                              deviceMetrics
	// keys are the node labels shown, in the order of their metric labels.
	keys []string
}

// shownLabels returns names, the metric labels for the node labels of instance types, and keys, the keys of these node labels. A metric
// label is the part of the key after the slash, with characters that metrics allow. If two keys result in the same metric label, the first
// key is used. Keys that result in a label in the parameter taken are left out.
func shownLabels(vocabulary []string, taken ...string) (names, keys []string) {
	for _, key := range vocabulary {
		name := strings.NewReplacer("-", "_", ".", "_").Replace(key[strings.LastIndex(key, "/")+1:])
		if !slices.Contains(taken, name) && !slices.Contains(names, name) {
			names, keys = append(names, name), append(keys, key)
		}
	}
	return names, keys
}

func newStateMetrics(o *Options, state *cluster.State, waiting *podTimes) *stateMetrics {
	s := &stateMetrics{state: state, now: o.now, began: o.now(), objects: !o.WithoutObjectMetrics, waiting: waiting}
	desc := func(subsystem, name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(prometheus.BuildFQName(namespace, subsystem, name), help, labels, nil)
	}
	of := []string{"node_name", "phase", "managed"}
	var names []string
	names, s.keys = shownLabels(o.Provider.Describe().Vocabulary.WellKnown, append(of, "resource_type")...)
	node := slices.Concat(of, names)
	resource := append(slices.Clone(node), "resource_type")

	s.synced = desc("cluster_state", "synced", "1 if all that the API has is in the view of the cluster.")
	s.unsynced = desc("cluster_state", "unsynced_time_seconds", "For how long the view of the cluster has not been complete.")
	s.nodeCount = desc("cluster_state", "node_count", "Nodes, and NodeClaims without one, in the view of the cluster.")
	s.utilization = desc("cluster", "utilization_percent", "What pods request of what nodes have.", "resource_type")
	s.cost = desc("nodepools", "cost_total", "What the nodes of NodePools cost, USD per hour.", "nodepool")
	s.unfinished = desc("scheduler", "unfinished_work_seconds", "For how long the running planning pass has been at work; 0 while there is none.", "controller")
	s.devices = newDeviceMetrics(desc)
	s.lifetime = desc("nodes", "current_lifetime_seconds", "Age of nodes.", node...)
	s.allocatable = desc("nodes", "allocatable", "What nodes have for pods.", resource...)
	s.requests = desc("nodes", "total_pod_requests", "What pods request of nodes, those of DaemonSets left out.", resource...)
	s.limits = desc("nodes", "total_pod_limits", "Limits of pods on nodes, those of DaemonSets left out.", resource...)
	s.daemonRequests = desc("nodes", "total_daemon_requests", "What pods of DaemonSets request of nodes.", resource...)
	s.daemonLimits = desc("nodes", "total_daemon_limits", "Limits of pods of DaemonSets on nodes.", resource...)
	s.system = desc("nodes", "system_overhead", "What nodes keep for themselves.", resource...)
	s.podState = desc("pods", "state", "Pods that have not ended.", "name", "namespace", "owner", "node", "scheduled", "nodepool", "zone", "arch",
		"capacity_type", "instance_type", "phase", "ready", "managed")
	s.unbound = desc("pods", "unbound_time_seconds", "For how long a pod has not been bound.", "name", "namespace")
	s.unstarted = desc("pods", "unstarted_time_seconds", "For how long a pod has not been ready.", "name", "namespace")
	s.undecided = desc("pods", "provisioning_scheduling_undecided_time_seconds", "For how long no planning pass has dealt with a pod.", "name", "namespace")
	s.placedUnbound = desc("pods", "provisioning_unbound_time_seconds", "For how long a pod that a plan has a place for has not been bound.", "name", "namespace")
	s.placedUnstarted = desc("pods", "provisioning_unstarted_time_seconds", "For how long a pod that a plan has a place for has not been ready.", "name", "namespace")
	return s
}

// Describe sends the descriptions of all metrics that Collect may send.
func (s *stateMetrics) Describe(out chan<- *prometheus.Desc) {
	for _, d := range append(s.devices.describe(),
		s.synced, s.unsynced, s.nodeCount, s.utilization, s.cost, s.unfinished, s.lifetime, s.podState, s.allocatable, s.requests, s.limits,
		s.daemonRequests, s.daemonLimits, s.system, s.unbound, s.unstarted, s.undecided, s.placedUnbound, s.placedUnstarted,
	) {
		out <- d
	}
}

// Collect reads the view of the cluster.
func (s *stateMetrics) Collect(out chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	now := s.now()
	view := s.state.Snapshot(cluster.Query{Time: now})
	gauge(s.nodeCount, float64(len(view.Nodes)))
	if s.state.Synced() {
		gauge(s.synced, 1)
		gauge(s.unsynced, 0)
	} else {
		gauge(s.synced, 0)
		gauge(s.unsynced, now.Sub(s.began).Seconds())
	}
	work := 0.0
	if began := s.passing.Load(); began != 0 {
		work = max(0, now.Sub(time.Unix(0, began)).Seconds())
	}
	gauge(s.unfinished, work, controllerLabel)
	s.poolCosts(view, gauge)
	s.devices.collect(view, s.catalogs.Load(), gauge)
	requested, have := sums{}, sums{}
	leaving := map[types.UID]bool{} // pods of nodes that are being removed: they are pending, but still have a node, and are shown in the metrics of that node
	for i := range view.Nodes {
		m := &view.Nodes[i]
		if m.Leaving {
			for _, pod := range m.Pods {
				leaving[pod.UID] = true
			}
		}
		if m.Node == nil {
			continue
		}
		loads := loadOf(m)
		requested.add(loads.requests)
		requested.add(loads.daemonRequests)
		for name, q := range m.Node.Status.Allocatable {
			have[name] += q.AsApproximateFloat64()
		}
		if s.objects {
			s.node(m, &loads, now, gauge)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(have)) {
		if have[name] > 0 {
			gauge(s.utilization, 100*requested[name]/have[name], string(name))
		}
	}
	if !s.objects {
		return
	}
	for _, pod := range view.Snapshot.Pods {
		if !leaving[pod.UID] {
			s.pod(pod, nil, gauge)
		}
	}
	s.waiting.collect(s, now, gauge)
}

// sums are amounts by resource, in the unit of the resource: cores, bytes or pieces.
type sums map[corev1.ResourceName]float64

func (s sums) add(other sums) {
	for name, value := range other {
		s[name] += value
	}
}

func (s sums) addList(list corev1.ResourceList) {
	for name, q := range list {
		s[name] += q.AsApproximateFloat64()
	}
}

// load contains the sums of the requests and limits of an instance's pods.
type load struct{ requests, limits, daemonRequests, daemonLimits sums }

func loadOf(m *cluster.NodeState) load {
	l := load{sums{}, sums{}, sums{}, sums{}}
	for _, pod := range m.Pods {
		requests, limits := l.requests, l.limits
		if pods.OwnedByDaemonSet(pod) {
			requests, limits = l.daemonRequests, l.daemonLimits
		}
		requests.addList(scheduling.PodRequests(pod))
		requests[corev1.ResourcePods]++
		for i := range pod.Spec.Containers {
			limits.addList(pod.Spec.Containers[i].Resources.Limits)
		}
	}
	return l
}

// node sends the metrics of one node.
func (s *stateMetrics) node(m *cluster.NodeState, l *load, now time.Time, gauge func(*prometheus.Desc, float64, ...string)) {
	labels := []string{m.Node.Name, m.Phase.String(), strconv.FormatBool(m.Claim != nil)}
	for _, key := range s.keys {
		labels = append(labels, m.Node.Labels[key])
	}
	gauge(s.lifetime, now.Sub(m.Node.CreationTimestamp.Time).Seconds(), labels...)
	each := func(d *prometheus.Desc, list sums) {
		for name, value := range list {
			gauge(d, value, append(slices.Clone(labels), string(name))...)
		}
	}
	allocatable, system := sums{}, sums{}
	allocatable.addList(m.Node.Status.Allocatable)
	system.addList(m.Node.Status.Capacity)
	for name := range system {
		system[name] -= allocatable[name]
	}
	each(s.allocatable, allocatable)
	each(s.system, system)
	each(s.requests, l.requests)
	each(s.limits, l.limits)
	each(s.daemonRequests, l.daemonRequests)
	each(s.daemonLimits, l.daemonLimits)
	for _, pod := range m.Pods {
		s.pod(pod, m, gauge)
	}
}

// pod sends the metrics of one pod. m is the instance to which the pod is bound, or nil.
func (s *stateMetrics) pod(pod *corev1.Pod, m *cluster.NodeState, gauge func(*prometheus.Desc, float64, ...string)) {
	owner := ""
	if ref := metav1.GetControllerOf(pod); ref != nil {
		owner = ref.Kind + "/" + ref.Name
	}
	node, managed, labels := "", false, map[string]string(nil)
	if m != nil {
		node, managed, labels = m.Node.Name, m.Claim != nil, m.Node.Labels
	}
	gauge(s.podState, 1, pod.Name, pod.Namespace, owner, node, strconv.FormatBool(m != nil), poolName(labels),
		labels[corev1.LabelTopologyZone], labels[corev1.LabelArchStable], labels[v1.CapacityTypeLabelKey], labels[corev1.LabelInstanceTypeStable],
		string(pod.Status.Phase), strconv.FormatBool(pods.Ready(pod)), strconv.FormatBool(managed))
}

func (s *stateMetrics) passBegan(now time.Time) { s.passing.Store(now.UnixNano()) }
func (s *stateMetrics) passEnded()              { s.passing.Store(0) }

// learn stores the instance types of a planning pass, which contain the prices.
func (s *stateMetrics) learn(set *provisioning.PoolSet) { s.catalogs.Store(set) }

// poolCosts sends the costs of the pools' instances at the prices of the last planning pass. An instance whose offering is not in the
// pool's catalog counts as 0.
func (s *stateMetrics) poolCosts(view *cluster.View, gauge func(*prometheus.Desc, float64, ...string)) {
	set := s.catalogs.Load()
	if set == nil {
		return
	}
	prices := clusterdebug.Prices(set)
	costs := map[string]float64{}
	for _, pool := range set.NodePools {
		costs[pool.Key.String()] = 0
	}
	for i := range view.Nodes {
		m := &view.Nodes[i]
		if m.Claim == nil || m.ProviderID == "" {
			continue
		}
		if _, ok := costs[m.Pool.String()]; ok {
			costs[m.Pool.String()] += prices[m.Pool][clusterdebug.OfferingOf(m.Claim.Labels)]
		}
	}
	for name, cost := range costs {
		gauge(s.cost, cost, name)
	}
}
