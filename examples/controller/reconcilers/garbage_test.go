package reconcilers

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake"
	"github.com/drawknife/drawknife/fake/build"
)

// PRV-081: a claim whose instance the cloud does not know any more goes, unless its node is ready all the same.
func TestGarbageClaims(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		_, claim := w.node(newPod("a"))
		time.Sleep(time.Minute)
		collect := func() {
			t.Helper()
			if err := w.garbage.collect(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		collect()
		if get(w, &v1.NodeClaim{}, claim.Name).DeletionTimestamp != nil {
			t.Fatal("a claim with an instance is collected")
		}
		if err := w.cloud.Delete(t.Context(), claim); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		w.cloud.Settle()
		collect()
		if get(w, &v1.NodeClaim{}, claim.Name).DeletionTimestamp == nil {
			t.Error("a claim without an instance stays")
		}
	})
}

// PRV-081: an instance whose claim is gone is ended, by any process that finds it.
func TestGarbageInstances(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		claim := build.Claim("gone")
		claim.UID = "uid-gone"
		if _, err := w.cloud.Create(t.Context(), claim); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		if err := w.garbage.collect(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		w.cloud.Settle()
		for _, i := range w.cloud.Instances() {
			if i.Phase != fake.Gone {
				t.Errorf("%s is %s", i.ProviderID, i.Phase)
			}
		}
	})
}

// A cloud that can't list its instances costs no claim, and is asked again.
func TestGarbageWithoutAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		_, claim := w.node(newPod("a"))
		time.Sleep(time.Minute)
		if err := w.cloud.Inject(fake.Fault{Method: fake.MethodList, Err: cloudprovider.NewTransientError(errors.New("not now")), More: 1}); err != nil {
			t.Fatal(err)
		}
		w.running(w.garbage.Start)
		before := w.cloud.Calls(fake.MethodList)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if n := w.cloud.Calls(fake.MethodList) - before; n < 4 || n > 6 {
			t.Errorf("asked %d times in ten minutes", n)
		}
		if get(w, &v1.NodeClaim{}, claim.Name).DeletionTimestamp != nil {
			t.Error("the claim is collected")
		}
	})
}

// blind is a cache that does not show the object of a name yet.
type blind struct {
	client.Client
	to string
}

func (b *blind) Get(ctx context.Context, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
	if key.Name == b.to {
		return apierrors.NewNotFound(corev1.Resource("objects"), key.Name)
	}
	return b.Client.Get(ctx, key, o, options...)
}

func (b *blind) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	err := b.Client.List(ctx, list, options...)
	if claims, ok := list.(*v1.NodeClaimList); ok {
		claims.Items = slices.DeleteFunc(claims.Items, func(c v1.NodeClaim) bool { return c.Name == b.to })
	}
	return err
}

// PRV-083: what befalls a pod is stored as of then though the watch of nodes, or of claims, shows its node or claim later; of a node
// that never comes nothing is kept.
func TestPodEventsOfStrangers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		node, claim := w.node(newPod("a"))
		w.podEvents.store(t.Context())
		act := *w.podEvents.actor
		cache := &blind{Client: act.client}
		act.client = cache
		events := &podEvents{actor: &act, last: map[string]time.Time{}}
		for _, name := range []string{node.Name, claim.Name} {
			time.Sleep(time.Minute)
			cache.to = name
			at := time.Now()
			pod := get(w, &corev1.Pod{}, "a")
			ended := pod.DeepCopy()
			ended.Status.Phase = corev1.PodSucceeded
			events.seen(pod, ended)
			events.store(t.Context())
			time.Sleep(10 * time.Second)
			cache.to = ""
			events.store(t.Context())
			if got := get(w, &v1.NodeClaim{}, claim.Name).Status.LastPodEventTime.Time; !got.Equal(at.Truncate(time.Second)) {
				t.Errorf("while %s is not seen: it is noted as of %s, want %s", name, got, at)
			}
		}
		stray := newPod("stray")
		stray.Spec.NodeName = "nowhere"
		events.seen(nil, stray)
		time.Sleep(strangerFor)
		events.store(t.Context())
		if len(events.last) > 0 {
			t.Errorf("kept are %v", events.last)
		}
	})
}

// PRV-083: binding and ending of pods is stored on the claim, at most every ten seconds, and the last of it in the end.
func TestPodEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		_, claim := w.node(newPod("a"))
		last := func() time.Time { return get(w, &v1.NodeClaim{}, claim.Name).Status.LastPodEventTime.Time }
		w.podEvents.store(t.Context())
		bound := last()
		if bound.IsZero() {
			t.Fatal("the pod that was bound is not noted")
		}
		time.Sleep(3 * time.Second)
		w.delete(get(w, &corev1.Pod{}, "a"))
		w.watch()
		deleted := time.Now()
		w.podEvents.store(t.Context())
		if !last().Equal(bound) {
			t.Error("stored twice within ten seconds")
		}
		time.Sleep(8 * time.Second)
		w.podEvents.store(t.Context())
		if got := last(); !got.Equal(deleted.Truncate(time.Second)) {
			t.Errorf("the end of the pod is noted as of %s, want %s", got, deleted)
		}
		version := get(w, &v1.NodeClaim{}, claim.Name).ResourceVersion
		time.Sleep(time.Minute)
		w.podEvents.store(t.Context())
		if get(w, &v1.NodeClaim{}, claim.Name).ResourceVersion != version {
			t.Error("written although nothing happened")
		}
	})
}

// TestPodEventsOnStandby has a process that does not lead keep the events of the last minutes alone, which the leader may not have
// stored.
func TestPodEventsOnStandby(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		events := &podEvents{actor: w.podEvents.actor, last: map[string]time.Time{}}
		note := func(node string) {
			pod := newPod("a")
			pod.Spec.NodeName = node
			ended := pod.DeepCopy()
			ended.Status.Phase = corev1.PodSucceeded
			events.seen(pod, ended)
		}
		kept := func() []string { return slices.Sorted(maps.Keys(events.last)) }
		note("old")
		time.Sleep(handover - time.Second)
		note("new")
		time.Sleep(time.Second)
		note("last")
		if got := kept(); !slices.Equal(got, []string{"last", "new"}) {
			t.Errorf("a standby keeps %v, want new and last", got)
		}
		ctx, stop := context.WithCancel(t.Context())
		stop()
		if err := events.Start(ctx); err != nil { // leads, and has no time to store anything
			t.Fatal(err)
		}
		time.Sleep(2 * handover)
		note("later")
		if got := kept(); !slices.Equal(got, []string{"last", "later", "new"}) {
			t.Errorf("a leader keeps %v until it has stored it", got)
		}
	})
}
