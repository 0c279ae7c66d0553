package reconcilers

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/fake"
	"github.com/drawknife/drawknife/provisioning"
)

// running runs parts of the controller until the test ends.
func (w *world) running(parts ...func(context.Context) error) { w.t.Cleanup(w.stoppable(parts...)) }

// stoppable runs parts of the controller until stop is called, as a process that ends does.
func (w *world) stoppable(parts ...func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(w.t.Context())
	var group sync.WaitGroup
	for _, start := range parts {
		group.Go(func() {
			if err := start(ctx); err != nil {
				w.t.Error(err)
			}
		})
	}
	return func() { cancel(); group.Wait() }
}

// PRV-066 to PRV-071, PRV-073: a node is drained, pods whose budget refuses are asked again, and the instance ends last.
func TestNodeDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		node, _ := w.node(newPod("free"), newPod("guarded"))
		refusing, asked := true, map[string]int{}
		w.faults = func(verb string, o client.Object) error {
			if verb != "eviction" {
				return nil
			}
			asked[o.GetName()]++
			if o.GetName() == "guarded" && refusing {
				return apierrors.NewTooManyRequests("the budget does not allow it", 1)
			}
			return nil
		}
		w.running(w.wiring.evictions.Start)
		w.delete(node)
		w.live(60)
		if get(w, &corev1.Pod{}, "free") != nil || get(w, &corev1.Pod{}, "guarded") == nil {
			t.Fatal("want the free pod gone and the guarded one there")
		}
		if asked["free"] != 1 {
			t.Errorf("the eviction of the free pod was asked for %d times", asked["free"])
		}
		if n := asked["guarded"]; n < 8 || n > 16 {
			t.Errorf("the eviction of the guarded pod was asked for %d times in a minute, want a wait that grows to 10 s (PRV-070)", n)
		}
		if len(w.events("Evicted Pod/free")) != 1 || len(w.events("FailedDraining Pod/guarded")) != 1 {
			t.Errorf("events: %q", w.told)
		}
		leaving := get(w, &corev1.Node{}, node.Name)
		if !hasTaint(leaving, v1.DisruptedTaint()) || leaving.Labels[corev1.LabelNodeExcludeBalancers] == "" {
			t.Errorf("a leaving node has taints %v, labels %v", leaving.Spec.Taints, leaving.Labels)
		}
		if w.cloud.Instances()[0].Phase != fake.Running {
			t.Error("the instance ends before its node is drained")
		}

		w.faulting.Lock()
		refusing = false
		w.faulting.Unlock()
		w.live(30)
		if claims, nodes := len(w.allClaims()), len(w.allNodes()); claims+nodes != 0 {
			t.Errorf("%d claims and %d nodes are left", claims, nodes)
		}
	})
}

func hasTaint(node *corev1.Node, taint corev1.Taint) bool {
	return slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return v1.SameTaint(&t, &taint) })
}

// PRV-069: after its deadline a pod is deleted, whatever its annotation says.
func TestNodeDrainDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		kept := newPod("kept")
		kept.Annotations = map[string]string{v1.DoNotDisruptAnnotationKey: "true"}
		grace := int64(10)
		kept.Spec.TerminationGracePeriodSeconds = &grace
		node, claim := w.node(kept)
		claim.Annotations[v1.NodeClaimTerminationTimestampAnnotationKey] = time.Now().Add(40 * time.Second).Format(time.RFC3339)
		if err := w.client.Update(t.Context(), claim); err != nil {
			t.Fatal(err)
		}
		w.running(w.wiring.evictions.Start)
		w.delete(node)
		w.live(29)
		if get(w, &corev1.Pod{}, "kept") == nil {
			t.Fatal("the pod was deleted before its time")
		}
		w.live(4)
		if get(w, &corev1.Pod{}, "kept") != nil {
			t.Error("the pod is there after its deadline less its grace period")
		}
		if len(w.events("Disrupted Pod/kept")) != 1 {
			t.Errorf("events: %q", w.told)
		}
	})
}

// PRV-066: a node without a claim is drained too, and no instance is ended.
func TestNodeWithoutClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.create(&corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: "orphan", Finalizers: []string{v1.TerminationFinalizer}},
			Spec:       corev1.NodeSpec{ProviderID: "fake:///nowhere/i-1"},
			Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
		})
		pod := newPod("a")
		pod.Spec.NodeName = "orphan"
		w.create(pod)
		w.running(w.wiring.evictions.Start)
		w.delete(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "orphan"}})
		w.live(3)
		if get(w, &corev1.Pod{}, "a") != nil || get(w, &corev1.Node{}, "orphan") == nil {
			t.Error("want the pod evicted, and the node there for 5 s of draining at least (PRV-071)")
		}
		w.live(10)
		if get(w, &corev1.Node{}, "orphan") != nil {
			t.Error("the node is still there")
		}
		if n := w.cloud.Calls(fake.MethodDelete); n != 0 {
			t.Errorf("the cloud was asked to end an instance %d times", n)
		}
	})
}

// A node that bears no finalizer of drawknife's is none of its business.
func TestForeignNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.create(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "foreign", Finalizers: []string{"other.test/finalizer"}}})
		w.delete(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "foreign"}})
		before := get(w, &corev1.Node{}, "foreign").ResourceVersion
		w.live(10)
		if after := get(w, &corev1.Node{}, "foreign").ResourceVersion; after != before {
			t.Error("it was written to")
		}
	})
}

// PRV-070: an eviction that was granted is not asked for again while the watch lags; one that a pod of the same name is
// asked for is its own.
func TestEvictionsAskOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		asked := 0
		w.faults = func(verb string, _ client.Object) error {
			if verb == "eviction" {
				asked++
			}
			return nil
		}
		w.create(newPod("a"))
		pod := get(w, &corev1.Pod{}, "a")
		target := provisioning.EvictPod{Key: types.NamespacedName{Namespace: "default", Name: "a"}, UID: pod.UID}
		w.running(w.wiring.evictions.Start)
		for range 50 { // for five seconds its node's look asks for it again and again
			w.wiring.evictions.add(target)
			time.Sleep(100 * time.Millisecond)
		}
		if asked != 1 {
			t.Errorf("asked %d times", asked)
		}
		time.Sleep(watchLag)
		w.wiring.evictions.add(target)
		synctest.Wait()
		if asked != 2 {
			t.Errorf("asked %d times, want a second time once the watch must have shown it", asked)
		}
		other := target
		other.UID = "another"
		w.wiring.evictions.add(other)
		synctest.Wait()
		if asked != 3 {
			t.Errorf("asked %d times, want a third for another pod of the name", asked)
		}
		w.wiring.evictions.remove([]*corev1.Pod{pod, {ObjectMeta: metav1.ObjectMeta{UID: "another"}}})
		if n := len(w.wiring.evictions.asked); n != 0 {
			t.Errorf("%d pods remembered of nodes that are gone", n)
		}
	})
}
