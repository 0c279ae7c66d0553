package reconcilers

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// gathered are the time series of a registry by name and labels, "name{a=b,c=d}": values of counters and gauges, counts of others.
func gathered(t *testing.T, r *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			var value float64
			switch f.GetType().String() {
			case "COUNTER":
				value = m.GetCounter().GetValue()
			case "HISTOGRAM":
				value = float64(m.GetHistogram().GetSampleCount())
			case "SUMMARY":
				value = float64(m.GetSummary().GetSampleCount())
			default:
				value = m.GetGauge().GetValue()
			}
			out[f.GetName()+"{"+strings.Join(labels, ",")+"}"] = value
		}
	}
	return out
}

// ofName are the series of one name.
func ofName(all map[string]float64, name string) map[string]float64 {
	out := map[string]float64{}
	for series, value := range all {
		if strings.HasPrefix(series, name+"{") {
			out[series] = value
		}
	}
	return out
}

func measured(t *testing.T, change func(*Options)) (*world, *prometheus.Registry) {
	registry := prometheus.NewRegistry()
	w := newWorld(t, func(o *Options) {
		o.Metrics = registry
		if change != nil {
			change(o)
		}
	})
	w.leader.Store(true)
	return w, registry
}

// The gauges of PRV section 17 that show nodes and pods: right, and gone with what they show.
func TestObjectMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, registry := measured(t, nil)
		daemon := newPod("agent")
		daemon.OwnerReferences[0].Kind, daemon.OwnerReferences[0].Controller = "DaemonSet", new(true)
		web := newPod("web")
		web.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}
		node, claim := w.node(web)
		daemon.Spec.NodeName = node.Name
		w.create(daemon)
		stranger := newPod("waiting")
		stranger.Spec.NodeSelector = map[string]string{"no.such/label": "x"}
		w.create(stranger)
		w.plan()
		time.Sleep(10 * time.Second)

		all := gathered(t, registry)
		expect := func(name, labels string, want float64) {
			t.Helper()
			var found []string
			for series, value := range ofName(all, "karpenter_"+name) {
				ok := true
				for _, label := range strings.Split(labels, ",") {
					ok = ok && strings.Contains(series, label)
				}
				if ok && value == want {
					return
				}
				found = append(found, fmt.Sprint(series, " ", value))
			}
			t.Errorf("no %s{…%s…} that is %v, but\n%s", name, labels, want, strings.Join(found, "\n"))
		}
		cpu := func(list corev1.ResourceList) float64 { return list.Cpu().AsApproximateFloat64() }
		on := "node_name=" + node.Name + ",nodepool=default,phase=initialized,managed=true,zone=" + node.Labels[corev1.LabelTopologyZone] + ",resource_type=cpu"
		expect("nodes_allocatable", on, cpu(node.Status.Allocatable))
		expect("nodes_system_overhead", on, cpu(node.Status.Capacity)-cpu(node.Status.Allocatable))
		expect("nodes_total_pod_requests", on, 0.1)
		expect("nodes_total_pod_limits", on, 2)
		expect("nodes_total_daemon_requests", on, 0.1)
		expect("cluster_utilization_percent", "resource_type=cpu", 100*(0.1+0.1)/cpu(node.Status.Allocatable))
		expect("cluster_state_node_count", "", 1)
		expect("cluster_state_synced", "", 1)
		expect("cluster_state_unsynced_time_seconds", "", 0)
		expect("pods_state", "name=web,namespace=default,node="+node.Name+",scheduled=true,phase=Running,nodepool=default,managed=true,ready=false", 1)
		expect("pods_state", "name=waiting,node=,scheduled=false,phase=Pending", 1)
		expect("pods_unbound_time_seconds", "name=waiting,namespace=default", 10)
		expect("scheduler_unschedulable_pods_count", "controller=provisioner", 1)
		expect("nodeclaims_created_total", "reason=provisioned,nodepool=default,min_values_relaxed=false", 1)
		if cost := ofName(all, "karpenter_nodepools_cost_total"); len(cost) != 1 || cost["karpenter_nodepools_cost_total{nodepool=default}"] <= 0 {
			t.Errorf("costs: %v", cost)
		}

		w.delete(get(w, &corev1.Pod{}, "web"))
		w.delete(get(w, &corev1.Pod{}, "agent"))
		w.delete(get(w, &corev1.Pod{}, "waiting"))
		w.delete(claim)
		w.live(20)
		all = gathered(t, registry)
		for _, name := range []string{"nodes_allocatable", "nodes_current_lifetime_seconds", "pods_state", "pods_unbound_time_seconds", "pods_unstarted_time_seconds"} {
			if left := ofName(all, "karpenter_"+name); len(left) != 0 {
				t.Errorf("of what is gone there is %v", left)
			}
		}
		expect("nodeclaims_terminated_total", "nodepool=default,capacity_type="+node.Labels[v1.CapacityTypeLabelKey]+",zone="+node.Labels[corev1.LabelTopologyZone], 1)
		expect("nodes_terminated_total", "nodepool=default", 1) // DIS-262, as the two that follow
		expect("nodes_termination_duration_seconds", "nodepool=default", 1)
		expect("nodes_lifetime_duration_seconds", "nodepool=default", 1)
		expect("cluster_state_node_count", "", 0)
	})
}

// PRV-010, disable-cluster-state-observability: no series and no event for each object, and those of the whole stay.
func TestWithoutObjectMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, registry := measured(t, func(o *Options) { o.WithoutObjectMetrics = true })
		w.node(newPod("a"))
		all := gathered(t, registry)
		for series := range all {
			if strings.Contains(series, "node_name=") || strings.Contains(series, "name=a") {
				t.Errorf("there is %s", series)
			}
		}
		for _, name := range []string{"cluster_state_node_count", "cluster_utilization_percent", "nodeclaims_created_total", "build_info"} {
			if len(ofName(all, "karpenter_"+name)) == 0 {
				t.Errorf("there is no %s", name)
			}
		}
		if told := w.events("Launched"); len(told) != 0 {
			t.Errorf("events: %q", told)
		}
	})
}

// PRV-037: times of pods, each measured once, and forgotten when the pod is ready.
func TestPodTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, registry := measured(t, nil)
		count := func() map[string]float64 {
			out := map[string]float64{}
			for series, n := range gathered(t, registry) {
				if strings.HasPrefix(series, "karpenter_pods_") && strings.Contains(series, "_duration_seconds") {
					out[strings.TrimSuffix(strings.TrimPrefix(series, "karpenter_pods_"), "_duration_seconds{}")] = n
				}
			}
			return out
		}
		none := map[string]float64{"bound": 0, "provisioning_bound": 0, "startup": 0, "provisioning_startup": 0, "scheduling_decision": 0}
		if diff := cmp.Diff(none, count()); diff != "" {
			t.Fatal(diff)
		}
		w.node(newPod("a"))
		want := maps.Clone(none)
		want["scheduling_decision"], want["bound"], want["provisioning_bound"] = 1, 1, 1
		if diff := cmp.Diff(want, count()); diff != "" {
			t.Errorf("bound (-want +got):\n%s", diff)
		}
		for _, status := range []corev1.ConditionStatus{corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionTrue} {
			pod := get(w, &corev1.Pod{}, "a")
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: status}}
			if err := w.client.Status().Update(t.Context(), pod); err != nil {
				t.Fatal(err)
			}
			w.watch()
		}
		want["startup"], want["provisioning_startup"] = 1, 1
		if diff := cmp.Diff(want, count()); diff != "" {
			t.Errorf("ready (-want +got):\n%s", diff)
		}
		if n := len(w.planner.waitingPods.pods); n != 0 {
			t.Errorf("%d pods are followed", n)
		}
		w.start(nil) // pods that were there before are not measured by a new process
		if n := len(w.planner.waitingPods.pods); n != 0 {
			t.Errorf("%d pods are followed after a restart", n)
		}
	})
}

// PRV section 16, last row: conditions that change are told of, by the leader.
func TestConditionTransitions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := measured(t, nil)
		_, claim := w.node(newPod("a"))
		want := fmt.Sprintf("Launched NodeClaim/%s: Status condition transitioned, Type: Launched, Status: Unknown -> True, Reason: Launched", claim.Name)
		if told := w.events("Launched NodeClaim/"); !slices.Equal(told, []string{want}) {
			t.Errorf("told %q, want %q", told, want)
		}
		w.leader.Store(false)
		before := len(w.told)
		w.delete(get(w, &corev1.Pod{}, "a"))
		w.delete(claim)
		w.live(2)
		if told := w.told[before:]; slices.ContainsFunc(told, func(e string) bool { return strings.Contains(e, "transitioned") }) {
			t.Errorf("a standby told %q", told)
		}
	})
}

// Of a pool that is gone nothing is shown, whether or not anybody saw it go.
func TestMetricsOfPoolsThatAreGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, registry := measured(t, nil)
		w.pool("default")
		if shown := ofName(gathered(t, registry), "karpenter_nodepools_usage"); len(shown) == 0 {
			t.Error("of a pool nothing is shown")
		}
		w.delete(get(w, &v1.NodePool{}, "default"))
		if _, err := w.pools.Reconcile(t.Context(), requestFor("default")); err != nil {
			t.Fatal(err)
		}
		if left := ofName(gathered(t, registry), "karpenter_nodepools_usage"); len(left) != 0 {
			t.Errorf("of what is gone there is %v", left)
		}
	})
}

func TestShownLabels(t *testing.T) {
	names, keys := shownLabels([]string{"karpenter.sh/nodepool", "a.test/zone-id", "b.test/zone.id", "c.test/phase"}, "phase")
	if !slices.Equal(names, []string{"nodepool", "zone_id"}) || !slices.Equal(keys, []string{"karpenter.sh/nodepool", "a.test/zone-id"}) {
		t.Errorf("%v of %v", names, keys)
	}
}
