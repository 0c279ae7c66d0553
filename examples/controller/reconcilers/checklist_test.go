package reconcilers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/fake/build"
)

// What users of earlier versions rely on, row by row of docs/coverage.md.

// records keeps a log's records.
type records struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (r *records) Write(record []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(record)
}

// of are the records with that message.
func (r *records) of(message string) []map[string]any {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []map[string]any
	for line := range strings.Lines(r.text.String()) {
		record := map[string]any{}
		if json.Unmarshal([]byte(line), &record) == nil && record["msg"] == message {
			out = append(out, record)
		}
	}
	return out
}

// levels counts the records of each level.
func (r *records) levels() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := map[string]int{}
	for line := range strings.Lines(r.text.String()) {
		record := map[string]any{}
		if json.Unmarshal([]byte(line), &record) == nil {
			out[fmt.Sprint(record["level"])]++
		}
	}
	return out
}

// messages are all of them in order.
func (r *records) messages() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for line := range strings.Lines(r.text.String()) {
		record := map[string]any{}
		if json.Unmarshal([]byte(line), &record) == nil {
			out = append(out, fmt.Sprint(record["msg"]))
		}
	}
	return out
}

func logged(t *testing.T) (*world, *records) {
	log := &records{}
	return newWorld(t, func(o *Options) { o.Logger = slog.New(slog.NewJSONHandler(log, nil)) }), log
}

func (w *world) update(o client.Object) {
	w.t.Helper()
	if err := w.client.Update(w.t.Context(), o); err != nil {
		w.t.Fatal(err)
	}
}

// S0-011, S1-001, S1-048, S1-053, S2-002, S3-001: a pod that can't be scheduled has a node made for it, of the zone, the sizes and
// with the labels and annotations that its pool says, and of no group that was set up beforehand.
func TestNodesFollowPools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		pool := get(w, &v1.NodePool{}, "default")
		pool.Spec.Template.Labels = map[string]string{"billing-team": "my-team"}
		pool.Spec.Template.Annotations = map[string]string{"custom-annotation": "custom-value"}
		pool.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{
			{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{"test-region-1b"}},
			{Key: v1.CapacityTypeLabelKey, Operator: corev1.NodeSelectorOpIn, Values: []string{v1.CapacityTypeOnDemand}},
		}
		w.update(pool)
		w.pool("default")
		node, _ := w.node(newPod("a"))
		for key, want := range map[string]string{
			"billing-team": "my-team", v1.NodePoolLabelKey: "default", corev1.LabelTopologyZone: "test-region-1b", v1.CapacityTypeLabelKey: v1.CapacityTypeOnDemand,
			v1.NodeRegisteredLabelKey: "true", v1.NodeInitializedLabelKey: "true",
		} {
			if got := node.Labels[key]; got != want {
				t.Errorf("label %s is %q, want %q", key, got, want)
			}
		}
		if node.Labels[corev1.LabelInstanceTypeStable] == "" || node.Annotations["custom-annotation"] != "custom-value" {
			t.Errorf("labels %v, annotations %v", node.Labels, node.Annotations)
		}
	})
}

// S1-006, S1-084, S1-085: the log shows how a node comes and goes: watching, planning, launching, removing. S1-056, S1-073, S1-074: it counts the
// pods, and each launch says how many pods it is for, what they ask for in all, the first of the types it may become and how many
// more, and its pool.
func TestWorkflowInTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, log := logged(t)
		var pods []*corev1.Pod
		for i := range 15 {
			pod := newPod(fmt.Sprintf("inflate-%d", i))
			pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m")}
			pods = append(pods, pod)
		}
		_, claim := w.node(pods...)
		planned, created := log.of("planned pods"), log.of("created NodeClaim")
		if len(planned) != 1 || planned[0]["pods"] != 15.0 || planned[0]["newNodes"] != 1.0 {
			t.Errorf("planned: %v", planned)
		}
		if len(created) != 1 {
			t.Fatalf("created: %v", created)
		}
		var types []string
		for _, r := range claim.Spec.Requirements {
			if r.Key == corev1.LabelInstanceTypeStable {
				types = r.Values
			}
		}
		want := fmt.Sprintf("%s and %d other(s)", strings.Join(types[:5], ", "), len(types)-5)
		requests, _ := created[0]["requests"].(map[string]any)
		if got := created[0]; got["pods"] != 15.0 || requests["cpu"] != "150m" || requests["pods"] != "15" || got["instanceTypes"] != want || got["nodePool"] != "default" {
			t.Errorf("created: %v, want the types %q", got, want)
		}
		for _, pod := range pods {
			w.delete(get(w, &corev1.Pod{}, pod.Name))
		}
		w.delete(claim)
		w.live(20)
		at := 0
		for _, message := range []string{"planned pods", "created NodeClaim", "launched NodeClaim", "registered NodeClaim", "initialized NodeClaim", "cordoned node", "removed node", "removed NodeClaim"} {
			found := slices.Index(log.messages()[at:], message)
			if found < 0 {
				t.Fatalf("no record %q after the one before: %q", message, log.messages())
			}
			at += found
		}
		// S3-056: nothing in all that is worth more than INFO.
		if levels := log.levels(); len(levels) != 1 || levels["INFO"] == 0 {
			t.Errorf("records by level: %v", levels)
		}
	})
}

// S1-023: what a pool's limit leaves no room for is not launched, and the pods are told so.
func TestLimitHoldsLaunchesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		pool := get(w, &v1.NodePool{}, "default")
		pool.Spec.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
		w.update(pool)
		w.pool("default")
		w.node(newPod("a"))
		large := newPod("b")
		large.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("900m")}
		w.create(large)
		w.plan()
		if n := len(w.allClaims()); n != 1 {
			t.Errorf("%d claims, want the one that the limit allows", n)
		}
		if told := w.events("FailedScheduling Pod/b"); len(told) != 1 || !strings.Contains(told[0], "limit") {
			t.Errorf("told %q", told)
		}
	})
}

// S1-051, S1-088, S3-005: without a pool nothing is launched, the pods are told why, that is no fault to be repeated at once, and
// a pool that comes later has it done.
func TestNothingWithoutPools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, log := logged(t)
		w.delete(get(w, &v1.NodePool{}, "default"))
		w.create(newPod("a"))
		w.watch()
		w.live(2)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- w.planner.Start(ctx) }()
		time.Sleep(25 * time.Second)
		synctest.Wait()
		if n := len(log.of("planned pods")); n < 1 || n > 4 {
			t.Errorf("%d passes in 25 s, want one every ten", n)
		}
		if told := w.events("FailedScheduling Pod/a"); len(told) == 0 || !strings.Contains(told[0], "no nodepool") {
			t.Errorf("told %q", told)
		}
		if len(w.allClaims()) > 0 || len(log.of("cannot complete planning pass, retrying")) > 0 {
			t.Errorf("claims %v, log %q", w.allClaims(), log.messages())
		}
		w.create(build.Pool("later"))
		w.pool("later")
		time.Sleep(5 * time.Second)
		if len(w.allClaims()) != 1 {
			t.Errorf("%d claims once there is a pool, want 1", len(w.allClaims()))
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// S1-097: an error says what was being done, then why not, the outermost first.
func TestChainedErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, log := logged(t)
		w.faults = func(verb string, o client.Object) error {
			if _, isClaim := o.(*v1.NodeClaim); isClaim && verb == "create" {
				return fmt.Errorf("asking the API server: %w", errors.New("it is on fire"))
			}
			return nil
		}
		w.create(newPod("a"))
		w.watch()
		err := w.planner.pass(t.Context())
		const want = "creating a nodeclaim of nodepool default: asking the API server: it is on fire"
		if err == nil || err.Error() != want {
			t.Errorf("got %v", err)
		}
		if held := log.of("cannot create NodeClaim"); len(held) != 1 || held[0]["error"] != want {
			t.Errorf("logged %v", held)
		}
	})
}

// S2-001: nodes follow from what pods request; what is in use is neither watched nor asked for.
func TestNoUtilisation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		for _, kind := range watchedKinds(&Options{Features: Features{NodeOverlay: true, CapacityBuffer: true}, DefaultTopologySpread: []corev1.TopologySpreadConstraint{{}}}) {
			if gvk, err := w.client.GroupVersionKindFor(kind.object); err != nil || strings.Contains(gvk.Group, "metrics") {
				t.Errorf("%v %v is watched", gvk, err)
			}
		}
		idle := newPod("idle")
		idle.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("3")
		node, _ := w.node(idle) // whatever it does there
		second := newPod("second")
		second.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("3")
		w.create(second)
		w.plan()
		if n := len(w.allClaims()); n != 2 {
			t.Errorf("%d claims next to node %s, whose room is requested: want another", n, node.Name)
		}
	})
}

// S2-038: pods of nodes that are taken away from a node group come up on nodes of pools.
func TestPodsOfNodesTakenAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		group := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "group-1"}, Status: corev1.NodeStatus{
			Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("8"), corev1.ResourceMemory: resource.MustParse("32Gi"), corev1.ResourcePods: resource.MustParse("110")},
			Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		}}
		w.create(group)
		web := newPod("web")
		web.Spec.NodeName, web.Status = "group-1", corev1.PodStatus{Phase: corev1.PodRunning}
		w.create(web)
		w.plan()
		if n := len(w.allClaims()); n != 0 {
			t.Fatalf("%d claims while the group has the pod", n)
		}
		w.delete(web)
		w.delete(group)
		w.node(newPod("web-again"))
	})
}
