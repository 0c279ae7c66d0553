package reconcilers

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake"
)

// PRV-081: a claim whose machine the cloud does not know any more goes, unless its node is ready all the same.
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
			t.Fatal("a claim with a machine is collected")
		}
		if err := w.cloud.Delete(t.Context(), claim); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		w.cloud.Settle()
		collect()
		if get(w, &v1.NodeClaim{}, claim.Name).DeletionTimestamp == nil {
			t.Error("a claim without a machine stays")
		}
	})
}

// PRV-081: a machine whose claim is gone is ended, by whoever finds it.
func TestGarbageMachines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		claim := newClaim("gone")
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

// A cloud that can't list its machines costs no claim, and is asked again.
func TestGarbageWithoutAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		_, claim := w.node(newPod("a"))
		time.Sleep(time.Minute)
		if err := w.cloud.Inject(fake.Fault{Method: fake.MethodList, Err: cloudprovider.NewTransientError(errors.New("not now")), Times: 2}); err != nil {
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
