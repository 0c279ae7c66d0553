package reconcilers

import (
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/provisioning"
)

// deployment is one of a ready pod, whose ReplicaSet owns the pod.
func (w *world) deployment(pod *corev1.Pod) *appsv1.Deployment {
	w.t.Helper()
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "uid-deployment"}}
	d.Spec.Replicas = new(int32(1))
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	set := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-1", UID: "uid-web", OwnerReferences: []metav1.OwnerReference{{
		APIVersion: "apps/v1", Kind: "Deployment", Name: "web", UID: d.UID, Controller: new(true),
	}}}}
	set.Spec.Selector = d.Spec.Selector
	w.create(d, set)
	pod.OwnerReferences[0].Controller = new(true)
	return d
}

func (w *world) replicas() (n int32, surge string) {
	w.t.Helper()
	d := &appsv1.Deployment{}
	if err := w.client.Get(w.t.Context(), types.NamespacedName{Namespace: "default", Name: "web"}, d); err != nil {
		w.t.Fatal(err)
	}
	return *d.Spec.Replicas, d.Annotations[provisioning.SurgeAnnotation]
}

// ready has the pod run and serve.
func (w *world) ready(name string) {
	w.t.Helper()
	pod := get(w, &corev1.Pod{}, name)
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
	if err := w.client.Status().Update(w.t.Context(), pod); err != nil {
		w.t.Fatal(err)
	}
}

// With SurgeFirst a pod leaves its node only once another is ready in its stead, also when the controller is started again in
// between; afterwards its workload is as it was.
func TestSurgeFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		surging := func(o *Options) { o.Evictor = provisioning.SurgeFirst{} }
		w := newWorld(t, surging)
		web := newPod("web")
		w.deployment(web)
		node, _ := w.node(web)
		w.ready("web")
		stop := w.stoppable(w.wiring.evictions.Start, w.surge.Start)
		w.delete(node)
		w.live(10)
		if n, note := w.replicas(); n != 2 || note == "" {
			t.Fatalf("it asks for %d replicas (%q), want one more", n, note)
		}
		if get(w, &corev1.Pod{}, "web") == nil {
			t.Fatal("the pod is evicted before another is ready")
		}
		stop()
		w.start(surging)
		stop = w.stoppable(w.wiring.evictions.Start, w.surge.Start)
		defer stop()
		w.live(10)
		if n, _ := w.replicas(); n != 2 || get(w, &corev1.Pod{}, "web") == nil {
			t.Fatalf("after a restart: %d replicas, pod %v", n, get(w, &corev1.Pod{}, "web"))
		}
		another := newPod("web-2")
		another.OwnerReferences[0].Controller = new(true)
		w.create(another)
		w.ready("web-2")
		w.live(10)
		if get(w, &corev1.Pod{}, "web") != nil {
			t.Fatal("the pod stays although another is ready")
		}
		w.live(30)
		if n, note := w.replicas(); n != 1 || note != "" {
			t.Errorf("%d replicas and the note %q are left", n, note)
		}
		if get(w, &corev1.Node{}, node.Name) != nil {
			t.Error("the node is left")
		}
		if n := len(w.surge.wanted); n != 0 {
			t.Errorf("%d evictions are remembered", n)
		}
	})
}

// A drain that does not want a pod gone any more says so by silence: the surge is taken back.
func TestSurgeIsTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(o *Options) { o.Evictor = provisioning.SurgeFirst{} })
		web := newPod("web")
		w.deployment(web)
		w.node(web)
		w.ready("web")
		defer w.stoppable(w.surge.Start)()
		pod := get(w, &corev1.Pod{}, "web")
		w.surge.add(provisioning.EvictPod{Key: types.NamespacedName{Namespace: "default", Name: "web"}, UID: pod.UID})
		time.Sleep(wantedFor - time.Second)
		if n, _ := w.replicas(); n != 2 {
			t.Fatalf("%d replicas while it is wanted", n)
		}
		time.Sleep(4 * time.Second)
		if n, note := w.replicas(); n != 1 || note != "" {
			t.Errorf("%d replicas and the note %q when nobody wants it any more", n, note)
		}
	})
}

// What somebody else changes meanwhile is left as it is.
func TestScaleOnlyWhatWasSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(o *Options) { o.Evictor = provisioning.SurgeFirst{} })
		w.deployment(newPod("web"))
		key := types.NamespacedName{Namespace: "default", Name: "web"}
		for name, e := range map[string]provisioning.ScaleWorkload{
			"another": {Kind: "Deployment", Key: key, UID: "other", From: 1, To: 2},
			"scaled":  {Kind: "Deployment", Key: key, UID: "uid-deployment", From: 3, To: 4},
			"gone":    {Kind: "ReplicaSet", Key: types.NamespacedName{Namespace: "default", Name: "none"}, UID: "x", From: 1, To: 2},
		} {
			if err := w.surge.scale(t.Context(), e); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if n, _ := w.replicas(); n != 1 {
			t.Errorf("%d replicas, want the one as before", n)
		}
		if err := w.surge.scale(t.Context(), provisioning.ScaleWorkload{Kind: "StatefulSet", Key: key}); err == nil {
			t.Error("a StatefulSet is scaled")
		}
	})
}
