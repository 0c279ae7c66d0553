package reconcilers

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/provisioning"
)

// The intervals of PRV section 16: each event no more often than it asks for.
func TestRecorderRepeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t}
		r := newRecorder(w, time.Now)
		publish := func(name string, uid types.UID, every *time.Duration) {
			r.publish([]provisioning.Event{{Kind: "Pod", Namespace: "default", Name: name, UID: uid, Reason: provisioning.EventFailedScheduling, Message: "no place", Every: every}})
		}
		for range 10 {
			publish("a", "1", nil)
			publish("b", "2", new(5*time.Minute))
		}
		publish("a", "another of the name", nil)
		if len(w.told) != 3 {
			t.Errorf("told %q", w.told)
		}
		time.Sleep(provisioning.DefaultEventInterval)
		publish("a", "1", nil)
		publish("b", "2", new(5*time.Minute))
		if len(w.told) != 4 {
			t.Errorf("after two minutes: %q", w.told)
		}
		for range 3 {
			publish("c", "3", new(time.Duration))
		}
		if len(w.told) != 7 {
			t.Errorf("one that may be repeated at once: %q", w.told)
		}
	})
}

// Nominations: ten at once and five a second.
func TestRecorderLimitsNominations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t}
		r := newRecorder(w, time.Now)
		next := 0
		nominate := func(n int) {
			for range n {
				next++
				r.publish([]provisioning.Event{{Kind: "Pod", Name: fmt.Sprint("p", next), Reason: provisioning.EventNominated}})
			}
		}
		nominate(1000)
		if len(w.told) != 10 {
			t.Errorf("%d at once", len(w.told))
		}
		time.Sleep(2 * time.Second)
		nominate(1000)
		if len(w.told) != 20 {
			t.Errorf("%d after two seconds", len(w.told))
		}
	})
}

// The memory of events has an end.
func TestRecorderForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecorder(&world{t: t}, time.Now)
		for i := range mostRemembered + 10 {
			r.publish([]provisioning.Event{{Kind: "Pod", Name: fmt.Sprint("p", i), Reason: provisioning.EventFailedScheduling}})
		}
		if n := len(r.until); n > mostRemembered {
			t.Errorf("%d events are remembered", n)
		}
	})
}
