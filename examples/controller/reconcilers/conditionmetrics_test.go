package reconcilers

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/drawknife/drawknife/api/option"
	v1 "github.com/drawknife/drawknife/api/v1"
)

// names of the metrics of PRV section 17, and labels that distinguish objects.
var section17 = strings.Fields(`
scheduler_scheduling_duration_seconds scheduler_queue_depth scheduler_unfinished_work_seconds scheduler_unschedulable_pods_count
scheduler_ignored_pods_count scheduler_pending_pods_by_effective_zone_count
nodeclaims_created_total nodeclaims_terminated_total nodeclaims_disrupted_total nodeclaims_termination_duration_seconds
nodeclaims_instance_termination_duration_seconds
nodes_created_total nodes_terminated_total nodes_termination_duration_seconds nodes_drained_total nodes_lifetime_duration_seconds
nodes_allocatable nodes_total_pod_requests nodes_total_pod_limits nodes_total_daemon_requests nodes_total_daemon_limits nodes_system_overhead
nodes_current_lifetime_seconds pods_state pods_startup_duration_seconds pods_bound_duration_seconds pods_provisioning_bound_duration_seconds
pods_provisioning_startup_duration_seconds pods_scheduling_decision_duration_seconds pods_unstarted_time_seconds pods_unbound_time_seconds
pods_provisioning_unstarted_time_seconds pods_provisioning_unbound_time_seconds pods_provisioning_scheduling_undecided_time_seconds
pods_eviction_requests_total pods_drained_total nodepools_limit nodepools_usage nodepools_cost_total nodepools_cost_tracker_errors_total
cluster_state_node_count cluster_state_synced cluster_state_unsynced_time_seconds cluster_utilization_percent
cloudprovider_duration_seconds cloudprovider_errors_total build_info`)

// PRV section 17: every metric is there, and none but those that switching them off takes away grows with nodes or pods.
func TestMetricNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, registry := measured(t, nil)
		descs := make(chan *prometheus.Desc, 1000)
		registry.Describe(descs)
		close(descs)
		form := regexp.MustCompile(`fqName: "([^"]+)".*variableLabels: \{([^}]*)\}`)
		labels := map[string][]string{}
		for d := range descs {
			found := form.FindStringSubmatch(d.String())
			if found == nil {
				t.Fatalf("no name in %s", d)
			}
			labels[found[1]] = strings.Split(found[2], ",")
		}
		want := make([]string, 0, len(section17))
		for _, name := range section17 {
			want = append(want, "karpenter_"+name)
		}
		for _, kind := range []string{"nodepool", "nodeclaim", "node"} {
			for _, rest := range []string{
				"status_condition_count", "status_condition_current_status_seconds", "status_condition_transitions_total",
				"status_condition_transition_seconds", "termination_current_time_seconds", "termination_duration_seconds",
			} {
				want = append(want, "operator_"+kind+"_"+rest)
			}
		}
		for _, name := range want {
			if _, ok := labels[name]; !ok {
				t.Errorf("there is no %s", name)
			}
		}
		for name, of := range labels {
			if slices.Contains(of, "scheduling_id") || slices.Contains(of, "pod") {
				t.Errorf("%s has labels %v: without end", name, of)
			}
		}
	})
}

// PRV section 17: what conditions objects have, since when, how often and after how long they change, and how long objects
// take to go; those of objects that are gone are gone too.
func TestConditionMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, registry := measured(t, nil)
		node, claim := w.node(newPod("a"))
		node.Status.Conditions = []corev1.NodeCondition{{Type: "Ready", Status: "True", Reason: "KubeletReady", LastTransitionTime: metav1.Now()}}
		if err := w.client.Status().Update(t.Context(), node); err != nil {
			t.Fatal(err)
		}
		w.watch()
		time.Sleep(7 * time.Second)
		all := gathered(t, registry)
		initialized := claim.Conditions().Get(v1.ConditionInitialized)
		for series, want := range map[string]float64{
			"operator_nodeclaim_status_condition_count{name=" + claim.Name + ",reason=Initialized,status=True,type=Initialized}":                  1,
			"operator_nodeclaim_status_condition_current_status_seconds{name=" + claim.Name + ",reason=Initialized,status=True,type=Initialized}": time.Since(initialized.LastTransitionTime.Time).Seconds(),
			"operator_nodeclaim_status_condition_transitions_total{reason=Initialized,status=True,type=Initialized}":                              1,
			"operator_nodeclaim_status_condition_transition_seconds{status=Unknown,type=Initialized}":                                             1,
			"operator_nodepool_status_condition_count{name=default,reason=Ready,status=True,type=Ready}":                                          1,
			"operator_node_status_condition_current_status_seconds{name=" + node.Name + ",reason=KubeletReady,status=True,type=Ready}":            7,
		} {
			if got, ok := all[series]; !ok || got != want {
				t.Errorf("%s is %v, want %v of\n%v", series, got, want, ofName(all, series[:strings.Index(series, "{")]))
			}
		}
		node.Status.Conditions[0].Status, node.Status.Conditions[0].LastTransitionTime = "False", metav1.Now()
		if err := w.client.Status().Update(t.Context(), node); err != nil {
			t.Fatal(err)
		}
		w.watch()
		want := []string{"Ready Node/" + node.Name + ": Status condition transitioned, Type: Ready, Status: True -> False, Reason: KubeletReady"}
		if diff := cmp.Diff(want, w.events("Ready Node/")); diff != "" {
			t.Errorf("events: %s", diff)
		}

		w.delete(get(w, &corev1.Pod{}, "a"))
		w.delete(claim)
		w.watch()
		time.Sleep(time.Second)
		if leaving := ofName(gathered(t, registry), "operator_nodeclaim_termination_current_time_seconds"); len(leaving) != 1 {
			t.Errorf("leaving: %v", leaving)
		}
		w.live(20)
		all = gathered(t, registry)
		for _, name := range []string{"status_condition_count", "status_condition_current_status_seconds", "termination_current_time_seconds"} {
			for _, kind := range []string{"nodeclaim", "node"} {
				if left := ofName(all, "operator_"+kind+"_"+name); len(left) != 0 {
					t.Errorf("of what is gone there is %v", left)
				}
			}
		}
		for _, series := range []string{
			"operator_nodeclaim_termination_duration_seconds{}", "operator_node_termination_duration_seconds{}",
			"karpenter_nodes_drained_total{nodepool=default}", "karpenter_nodes_termination_duration_seconds{nodepool=default}",
			"karpenter_nodeclaims_instance_termination_duration_seconds{nodepool=default}",
		} {
			if all[series] != 1 {
				t.Errorf("%s is %v, want 1", series, all[series])
			}
		}
	})
}

// PRV-010: without metrics of objects, what adds up stays.
func TestConditionMetricsWithoutObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, registry := measured(t, func(o *Options) { o.WithoutObjectMetrics = true })
		w.node(newPod("a"))
		all := gathered(t, registry)
		if shown := ofName(all, "operator_nodeclaim_status_condition_count"); len(shown) != 0 {
			t.Errorf("there is %v", shown)
		}
		if n := all["operator_nodeclaim_status_condition_transitions_total{reason=Launched,status=True,type=Launched}"]; n != 1 {
			t.Errorf("%v launches are counted, want 1", n)
		}
	})
}

// Conditions of node classes, whatever their kind, are told and shown like others; nodes that no pool made are not.
func TestConditionsOfNodeClasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, registry := measured(t, func(o *Options) { o.NodeClasses = []client.Object{&v1.NodeOverlay{}} })
		before := &v1.NodeOverlay{ObjectMeta: metav1.ObjectMeta{Name: "class"}}
		before.Conditions().SetFalse(v1.ConditionValidationSucceeded, "Wrong", "it is wrong", time.Now())
		after := before.DeepCopy()
		time.Sleep(3 * time.Second)
		after.Conditions().SetTrue(v1.ConditionValidationSucceeded, time.Now())
		stranger := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "stranger"}, Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: "Ready"}}}}
		for _, o := range []client.Object{before, stranger} {
			w.feed.notifySeen(nil, o)
		}
		w.feed.notifySeen(before, after)
		w.feed.notifySeen(nil, nil)
		all := gathered(t, registry)
		if n := all["operator_nodeoverlay_status_condition_transitions_total{reason=ValidationSucceeded,status=True,type=ValidationSucceeded}"]; n != 1 {
			t.Errorf("%v changes, want 1 of %v", n, ofName(all, "operator_nodeoverlay_status_condition_transitions_total"))
		}
		if told := w.events("ValidationSucceeded NodeOverlay/class"); len(told) != 1 {
			t.Errorf("told %q", told)
		}
		if shown := ofName(all, "operator_node_status_condition_count"); len(shown) != 0 {
			t.Errorf("there is %v", shown)
		}
	})
}

// A kind that the scheme does not know can't be watched.
func TestUnknownNodeClass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		_, err := newConditionReader(w.client, []client.Object{&metav1.PartialObjectMetadata{}})
		var wrong *option.Error
		if !errors.As(err, &wrong) || wrong.Option != "NodeClasses[0]" {
			t.Errorf("got %v", err)
		}
	})
}
