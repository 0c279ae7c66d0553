package reconcilers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/provisioning"
)

// forceWithin is force for a fault, which is asked with the lock of faults held.
func (w *world) forceWithin(o client.Object) {
	w.faulting.Unlock()
	defer w.faulting.Lock()
	w.force(o)
}

// force takes an object away whatever its finalizers say, as an operator does.
func (w *world) force(o client.Object) {
	w.t.Helper()
	faults := w.faults
	w.faults = nil
	defer func() { w.faults = faults }()
	if len(o.GetFinalizers()) > 0 {
		o.SetFinalizers(nil)
		if err := w.client.Update(w.t.Context(), o); err != nil {
			w.t.Fatal(err)
		}
	}
	if err := w.client.Delete(w.t.Context(), o); client.IgnoreNotFound(err) != nil {
		w.t.Fatal(err)
	}
}

// PRV-058, PRV-059: a node that is gone when it is to be written ends the step: no claim is registered with it.
func TestNodeVanishesWhileItIsRegistered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.create(newPod("a"))
		w.plan()
		vanished := false
		w.faults = func(verb string, o client.Object) error {
			if node, ok := o.(*corev1.Node); ok && verb == "patch" && node.Labels[v1.NodeRegisteredLabelKey] == "true" && !vanished {
				vanished = true
				w.forceWithin(get(w, &corev1.Node{}, node.Name))
			}
			return nil
		}
		w.live(8)
		claim := w.allClaims()[0]
		if got := claim.Conditions().Get(v1.ConditionRegistered); !vanished || got.Status == "True" || got.Reason != "NodeNotFound" {
			t.Errorf("vanished %t: Registered is %s/%s", vanished, got.Status, got.Reason)
		}
		time.Sleep(provisioning.DefaultRegistrationTimeout)
		w.live(10)
		if get(w, &v1.NodeClaim{}, claim.Name) != nil {
			t.Error("it is there after the time for its registration")
		}
		for _, i := range w.cloud.Instances() {
			if i.Phase != fake.Gone {
				t.Errorf("instance %s is %s", i.ProviderID, i.Phase)
			}
		}
	})
}

// PRV-060: a claim whose node is gone is no room any more: the pods that were planned for it get another node at once, and the
// claim goes when its time is over.
func TestNodeVanishesAfterItWasRegistered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.create(newPod("a"))
		w.plan()
		w.live(8)
		first, node := w.allClaims()[0], w.allNodes()[0]
		w.triggers().forget(stockTrigger)
		w.force(node)
		w.live(1)
		lost := get(w, &v1.NodeClaim{}, first.Name)
		if !provisioning.NodeLost(lost) {
			t.Fatalf("Registered is %v", lost.Conditions().Get(v1.ConditionRegistered))
		}
		if !w.triggers().added[stockTrigger] {
			t.Error("nothing calls for a pass")
		}
		w.plan()
		if claims := w.allClaims(); len(claims) != 2 {
			t.Fatalf("%d claims: its pod waits for a node that will not come", len(claims))
		}
		w.live(8)
		w.plan()
		if claims := w.allClaims(); len(claims) != 2 {
			t.Errorf("%d claims after another pass", len(claims))
		}
		time.Sleep(provisioning.DefaultRegistrationTimeout)
		w.live(15)
		if get(w, &v1.NodeClaim{}, first.Name) != nil {
			t.Error("the claim that lost its node is there after its time")
		}
		if claims, nodes := w.allClaims(), w.allNodes(); len(claims) != 1 || len(nodes) != 1 {
			t.Errorf("%d claims, %d nodes, want the second of each", len(claims), len(nodes))
		}
	})
}

// A node that the cache alone does not show is not lost.
func TestNodeThatACacheLacks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		_, claim := w.node(newPod("a"))
		act := *w.claims.actor
		act.client = &nodeless{act.client}
		w.claims.actor = &act
		if _, err := w.claims.Reconcile(t.Context(), requestFor(claim.Name)); err != nil {
			t.Fatal(err)
		}
		if after := get(w, &v1.NodeClaim{}, claim.Name); !after.Conditions().IsTrue(v1.ConditionRegistered) {
			t.Errorf("Registered is %v", after.Conditions().Get(v1.ConditionRegistered))
		}
	})
}

// nodeless is a cache that shows no nodes.
type nodeless struct{ client.Client }

func (n *nodeless) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if _, nodes := list.(*corev1.NodeList); nodes {
		return nil
	}
	return n.Client.List(ctx, list, options...)
}

// PRV-050: claims of a plan are created with their finalizer, so that one which is deleted at once keeps nothing.
func TestClaimsAreCreatedWithTheirFinalizer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		var created []string
		w.faults = func(verb string, o client.Object) error {
			if _, claim := o.(*v1.NodeClaim); claim && verb == "create" {
				created = o.GetFinalizers()
			}
			return nil
		}
		w.create(newPod("a"))
		w.plan()
		if !slices.Equal(created, []string{v1.TerminationFinalizer}) {
			t.Errorf("created with finalizers %v", created)
		}
	})
}

// PRV-051: a claim that is taken away while the cloud is asked for its instance costs none: it is terminated at once.
func TestClaimVanishesWhileItIsLaunched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.create(build.Claim("by-hand"))
		vanished := false
		w.faults = func(verb string, o client.Object) error {
			if claim, ok := o.(*v1.NodeClaim); ok && w.cloud.Calls(fake.MethodCreate) == 1 && !vanished && verb == "patch" {
				vanished = true
				w.forceWithin(get(w, &v1.NodeClaim{}, claim.Name))
			}
			return nil
		}
		w.live(5)
		if n := w.cloud.Calls(fake.MethodDelete); !vanished || n != 1 {
			t.Errorf("vanished %t, asked to end the instance %d times", vanished, n)
		}
		time.Sleep(time.Minute)
		w.cloud.Settle()
		for _, i := range w.cloud.Instances() {
			if i.Phase != fake.Gone {
				t.Errorf("instance %s is %s", i.ProviderID, i.Phase)
			}
		}
	})
}

// PRV-081: an instance that can't be ended keeps no other from being collected, and is tried again ever more seldom; what is
// collected is counted, logged and told, and its node goes with it.
func TestGarbageOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := prometheus.NewRegistry()
		w := newWorld(t, func(o *Options) { o.Metrics = registry })
		for i := range 4 {
			claim := build.Claim(fmt.Sprintf("gone-%d", i))
			claim.UID = ""
			claim.Labels = map[string]string{v1.NodePoolLabelKey: "default"}
			w.create(claim)
		}
		w.live(10)
		for _, c := range w.allClaims() {
			w.force(c)
		}
		nodes := w.allNodes()
		if len(nodes) != 4 {
			t.Fatalf("%d nodes", len(nodes))
		}
		stuck := nodes[0].Spec.ProviderID
		refuse := &stubborn{CloudProvider: w.garbage.provider, id: stuck}
		act := *w.garbage.actor
		act.provider = refuse
		w.garbage.actor = &act
		time.Sleep(time.Minute)
		look := func() {
			t.Helper()
			if err := w.garbage.collect(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		look()
		if refuse.asked != 1 || refuse.ended != 3 {
			t.Fatalf("after one look: the one that is stuck was asked for %d times, %d others are ended, want 1 and 3", refuse.asked, refuse.ended)
		}
		if n := len(w.events("GarbageCollected NodePool/default: Terminating instance ")); n != 3 {
			t.Errorf("%d events on the pool: %q", n, w.told)
		}
		if n := len(w.events("GarbageCollected Node/")); n != 3 {
			t.Errorf("%d events on nodes: %q", n, w.told)
		}
		counted := gathered(t, registry)
		if got, failed := counted["karpenter_garbage_collected_total{kind=instance,nodepool=default}"], counted["karpenter_garbage_failures_total{kind=instance,nodepool=default}"]; got != 3 || failed != 1 {
			t.Errorf("counted %v collected and %v failed", got, failed)
		}
		w.live(20)
		left := w.allNodes()
		if len(left) != 1 || left[0].Spec.ProviderID != stuck {
			t.Errorf("%d nodes are left: %v", len(left), left)
		}
		for range 30 {
			time.Sleep(provisioning.GarbageEvery)
			look()
		}
		if refuse.asked < 4 || refuse.asked > 7 { // 2, 4, 8, 16, 32 minutes apart
			t.Errorf("asked %d times in an hour for one that can't be ended", refuse.asked)
		}
		refuse.id = ""
		for range 17 {
			time.Sleep(provisioning.GarbageEvery)
			look()
		}
		if refuse.ended != 4 || len(w.garbage.refused) != 0 {
			t.Errorf("%d are ended when nothing is refused any more, and notes are left on %v", refuse.ended, w.garbage.refused)
		}
	})
}

// stubborn is a cloud that refuses to end one instance.
type stubborn struct {
	cloudprovider.CloudProvider
	id           string
	mu           sync.Mutex
	asked, ended int
}

func (s *stubborn) Delete(ctx context.Context, claim *v1.NodeClaim) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if claim.Status.ProviderID == s.id {
		s.asked++
		return cloudprovider.NewUnauthorizedError("TerminateInstances", errors.New("not allowed"))
	}
	s.ended++
	return s.CloudProvider.Delete(ctx, claim)
}

// PRV-081: a list that is short by an instance costs no claim: the cloud is asked for the very instance.
func TestGarbageAsksTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		node, claim := w.node(newPod("a"))
		time.Sleep(time.Minute)
		sick := node.DeepCopy()
		sick.Status.Conditions = nil
		if err := w.client.Status().Update(t.Context(), sick); err != nil {
			t.Fatal(err)
		}
		act := *w.garbage.actor
		act.provider = &forgetful{act.provider}
		w.garbage.actor = &act
		if err := w.garbage.collect(t.Context()); err != nil {
			t.Fatal(err)
		}
		if get(w, &v1.NodeClaim{}, claim.Name).DeletionTimestamp != nil || strings.Contains(strings.Join(w.told, "\n"), "GarbageCollected") {
			t.Errorf("the claim of an instance that runs is collected: %q", w.told)
		}
	})
}

// forgetful is a cloud whose list is empty.
type forgetful struct{ cloudprovider.CloudProvider }

func (f *forgetful) List(context.Context) ([]*v1.NodeClaim, error) { return nil, nil }
