package reconcilers

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	autoscalingv1 "github.com/drawknife/drawknife/api/autoscaling/v1"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/scheduling/requests"
)

// withRequests is a world whose controller answers requests, with a PodTemplate for pods of a core.
func withRequests(t *testing.T, more ...func(*Options)) *world {
	t.Helper()
	w := newWorld(t, func(o *Options) {
		answersRequests(o)
		for _, change := range more {
			change(o)
		}
	})
	worker := &corev1.PodTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "worker"}}
	worker.Template.Spec = build.Pod("worker", build.CPU("1")).Spec
	w.create(worker)
	return w
}

func answersRequests(o *Options) { o.Features.ProvisioningRequest = true }

// ask creates a request for workers.
func (w *world) ask(name, class string, workers int32) {
	w.t.Helper()
	r := &autoscalingv1.ProvisioningRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	r.Spec.ProvisioningClassName = class
	r.Spec.PodSets = []autoscalingv1.PodSet{{PodTemplateRef: autoscalingv1.Reference{Name: "worker"}, Count: workers}}
	w.create(r)
}

// answerOf is what is answered to a request: "Provisioned True CapacityIsFound".
func (w *world) answerOf(name string) string {
	w.t.Helper()
	c := w.requestOf(name).Outcome()
	return c.Type + " " + string(c.Status) + " " + c.Reason
}

func (w *world) requestOf(name string) *autoscalingv1.ProvisioningRequest {
	w.t.Helper()
	r := &autoscalingv1.ProvisioningRequest{}
	if err := w.client.Get(w.t.Context(), types.NamespacedName{Namespace: "default", Name: name}, r); err != nil {
		w.t.Fatal(err)
	}
	return r
}

// A request that checks capacity launches nothing. Once there is a node its room is booked, and nobody else's: neither another
// request's, nor a pod's. The booking ends after ten minutes, also if the controller starts again meanwhile.
func TestCheckCapacity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := withRequests(t)
		w.ask("r", autoscalingv1.ClassCheckCapacity, 1)
		w.plan()
		if got := w.answerOf("r"); got != "Provisioned False CapacityIsNotFound" || len(w.allClaims()) != 0 {
			t.Fatalf("without a node: %s, %d claims", got, len(w.allClaims()))
		}
		big := newPod("big")
		big.Spec.Containers[0].Resources.Requests = build.Amounts("cpu", "2500m")
		node, _ := w.node(big)
		w.plan()
		if got := w.answerOf("r"); got != "Provisioned True CapacityIsFound" {
			t.Fatalf("with a node that has %v: %s", node.Status.Allocatable.Cpu(), got)
		}
		if got := w.requestOf("r").Status.ProvisioningClassDetails[autoscalingv1.DetailBooking]; string(got) != node.Name+" 1\n" {
			t.Errorf("booked at %q", got)
		}
		view, err := w.planner.view(t.Context(), time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if pods := view.Nodes[0].Pods; len(pods) != 2 || pods[1].Annotations[v1.DoNotDisruptAnnotationKey] != "true" || len(view.Snapshot.Nodes[0].Pods) != 2 {
			t.Errorf("planners of disruption see %d pods", len(pods))
		}
		if !w.planner.bufferedNodes()[node.Name] {
			t.Error("the node counts as empty")
		}
		w.start(answersRequests)
		w.planner.triggers.standby = false
		w.pool("default")
		w.ask("s", autoscalingv1.ClassCheckCapacity, 1)
		w.plan()
		if got := w.answerOf("s"); got != "Provisioned False CapacityIsNotFound" {
			t.Errorf("room is promised twice: %s", got)
		}
		time.Sleep(requests.DefaultBookFor)
		w.plan()
		if got := w.answerOf("r"); got != "BookingExpired True CapacityReservationTimeExpired" {
			t.Errorf("after ten minutes: %s", got)
		}
		if got := w.answerOf("s"); got != "Provisioned True CapacityIsFound" {
			t.Errorf("after the other's ten minutes: %s", got)
		}
	})
}

// Nodes that a request waits for are not empty before it is answered: it is as soon as one of them is initialised.
func TestNodesOfRequestsAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := withRequests(t, asKarpenter)
		w.change("default", func(p *v1.NodePool) { p.Spec.Disruption.ConsolidateAfter = v1.NewNillableDuration(0) })
		w.ask("r", autoscalingv1.ClassBestEffortAtomicScaleUp, 3)
		w.plan()
		claims := len(w.allClaims())
		w.live(8)
		w.planner.triggers.mu.Lock()
		called := w.planner.triggers.added[requestsTrigger]
		w.planner.triggers.mu.Unlock()
		if !called {
			t.Error("nodes of a request are initialised, and no pass is called for")
		}
		w.disrupt(28)
		for _, c := range w.allClaims() {
			if c.DeletionTimestamp != nil {
				t.Errorf("%s is removed before the request is answered", c.Name)
			}
		}
		if got := len(w.allClaims()); got != claims {
			t.Errorf("before the request is answered %d of its %d nodes are left", got, claims)
		}
	})
}

// Nodes of a request that is deleted go at once, though nothing else has changed since there was nothing to do.
func TestNodesOfDeletedRequestsGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := withRequests(t)
		w.change("default", func(p *v1.NodePool) { p.Spec.Disruption.ConsolidateAfter = v1.NewNillableDuration(0) })
		w.ask("r", autoscalingv1.ClassBestEffortAtomicScaleUp, 3)
		w.plan()
		w.live(8)
		w.plan()
		w.disrupt(60)
		if len(w.allClaims()) == 0 {
			t.Fatal("nodes with booked room are removed")
		}
		w.delete(w.requestOf("r"))
		w.plan()
		w.disrupt(60)
		if left := len(w.allClaims()); left > 0 {
			t.Errorf("a minute after their request %d nodes are left", left)
		}
	})
}

// A request for new nodes is provisioned once they are initialised. They stay, though they are empty, for as long as the booking
// does, and its pods are nominated for them.
func TestAtomicScaleUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := withRequests(t)
		w.change("default", func(p *v1.NodePool) { p.Spec.Disruption.ConsolidateAfter = v1.NewNillableDuration(0) })
		w.ask("r", autoscalingv1.ClassBestEffortAtomicScaleUp, 3)
		w.plan()
		claims := len(w.allClaims())
		if got := w.answerOf("r"); got != "Provisioned False CapacityIsBeingProvisioned" || claims == 0 {
			t.Fatalf("%s, %d claims", got, claims)
		}
		w.plan()
		if len(w.allClaims()) != claims {
			t.Fatalf("%d claims became %d", claims, len(w.allClaims()))
		}
		w.live(8)
		w.plan()
		if got := w.answerOf("r"); got != "Provisioned True CapacityIsProvisioned" {
			t.Fatalf("with its nodes: %s", got)
		}
		w.disrupt(60)
		if len(w.allClaims()) != claims {
			t.Fatalf("nodes with booked room are removed: %d claims became %d", claims, len(w.allClaims()))
		}
		for _, name := range []string{"a", "b", "c"} {
			w.create(build.Pod(name, build.CPU("1"), build.Annotations(autoscalingv1.ConsumeAnnotationKey, "r"), build.Unschedulable()))
		}
		w.plan()
		if len(w.allClaims()) != claims {
			t.Errorf("nodes are launched for pods that use the booking: %d claims", len(w.allClaims()))
		}
		for _, name := range []string{"a", "b", "c"} {
			w.delete(get(w, &corev1.Pod{}, name))
		}
		time.Sleep(requests.DefaultBookFor)
		w.plan()
		w.disrupt(60)
		if len(w.allClaims()) != 0 {
			t.Errorf("%d claims stay after the booking: %s", len(w.allClaims()), w.answerOf("r"))
		}
	})
}

// A request for a plan is told the price, and nothing is launched.
func TestPlanRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := withRequests(t)
		w.ask("r", autoscalingv1.ClassPlan, 3)
		w.plan()
		details := w.requestOf("r").Status.ProvisioningClassDetails
		if got := w.answerOf("r"); got != "Provisioned False CapacityIsPlanned" || details[autoscalingv1.DetailPlanHourlyCost] == "" || len(w.allClaims()) != 0 {
			t.Errorf("%s with %v, %d claims", got, details, len(w.allClaims()))
		}
	})
}

// An answer that could not be written promises nothing; one that the cache does not show yet counts.
func TestAnswersThatAreLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := withRequests(t)
		big := newPod("big")
		big.Spec.Containers[0].Resources.Requests = build.Amounts("cpu", "2500m")
		w.node(big)
		w.ask("r", autoscalingv1.ClassCheckCapacity, 1)
		w.faults = func(verb string, o client.Object) error {
			if _, ok := o.(*autoscalingv1.ProvisioningRequest); ok && verb == "status" {
				return errors.New("the API server is away")
			}
			return nil
		}
		w.plan()
		if got := w.requestOf("r"); len(got.Status.Conditions) != 0 {
			t.Fatalf("answered: %+v", got.Status)
		}
		w.faults = nil
		stale := *w.requestOf("r")
		w.plan()
		if got := w.answerOf("r"); got != "Provisioned True CapacityIsFound" {
			t.Fatal(got)
		}
		latest := w.planner.requests.latest([]autoscalingv1.ProvisioningRequest{stale})
		if len(latest) != 1 || !latest[0].Booked() {
			t.Errorf("the answer is forgotten: %+v", latest)
		}
		current := *w.requestOf("r")
		if latest := w.planner.requests.latest([]autoscalingv1.ProvisioningRequest{current}); latest[0].ResourceVersion != current.ResourceVersion || len(w.planner.requests.written) != 0 {
			t.Errorf("what the cache shows is not taken: %+v", latest)
		}
	})
}

// Without the feature requests are left alone; with it they are looked at from time to time.
func TestRequestsAreAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.ask("r", autoscalingv1.ClassPlan, 1)
		w.plan()
		if got := w.requestOf("r"); len(got.Status.Conditions) != 0 {
			t.Errorf("answered: %+v", got.Status)
		}
		r := &requestReconciler{w.planner.triggers.add}
		result, err := r.Reconcile(t.Context(), reconcile.Request{})
		if err != nil || result.RequeueAfter != requestsEvery || !w.planner.triggers.added[requestsTrigger] {
			t.Errorf("%+v, %v", result, err)
		}
	})
}
