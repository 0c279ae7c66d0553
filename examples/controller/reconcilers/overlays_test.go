package reconcilers

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/fake/build"
)

func newOverlay(name, price string, types ...string) *v1.NodeOverlay {
	o := &v1.NodeOverlay{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1.NodeOverlaySpec{Price: &price}}
	if len(types) > 0 {
		o.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{{Key: corev1.LabelInstanceTypeStable, Operator: corev1.NodeSelectorOpIn, Values: types}}
	}
	return o
}

// PRV-142, PRV-143: an overlay shows whether it counts, and why not; of two that say the same the later one in order does not,
// until the other is gone.
func TestOverlayConditions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(o *Options) { o.Features.NodeOverlay = true })
		look := func() ctrl.Result {
			t.Helper()
			w.watch()
			result, err := w.overlays.Reconcile(t.Context(), ctrl.Request{})
			if err != nil {
				t.Fatal(err)
			}
			return result
		}
		if look().RequeueAfter != 0 {
			t.Error("none are looked at again though there are none")
		}
		wrong, adjustment := newOverlay("wrong", "1"), "+10%"
		wrong.Spec.PriceAdjustment = &adjustment // one or the other: a rule that schemas don't have
		w.create(newOverlay("a", "1", "m1.large"), newOverlay("b", "2", "m1.large", "m1.xlarge"), wrong)
		if again := look().RequeueAfter; again != 6*time.Hour {
			t.Errorf("again in %s", again)
		}
		check := func(name string, status metav1.ConditionStatus, reason string) {
			t.Helper()
			if c := get(w, &v1.NodeOverlay{}, name).Conditions().Get(v1.ConditionValidationSucceeded); c.Status != status || c.Reason != reason {
				t.Errorf("overlay %s: %s/%s, want %s/%s: %s", name, c.Status, c.Reason, status, reason, c.Message)
			}
		}
		check("b", metav1.ConditionTrue, v1.ConditionValidationSucceeded)
		check("a", metav1.ConditionFalse, "Conflict")
		check("wrong", metav1.ConditionFalse, "Invalid")
		version := get(w, &v1.NodeOverlay{}, "a").ResourceVersion
		if look(); get(w, &v1.NodeOverlay{}, "a").ResourceVersion != version {
			t.Error("what has not changed is written again")
		}
		w.delete(get(w, &v1.NodeOverlay{}, "b"))
		look()
		check("a", metav1.ConditionTrue, v1.ConditionValidationSucceeded)

		w.delete(get(w, &v1.NodeOverlay{}, "a"))
		w.create(newOverlay("c", "3"))
		w.faults = func(verb string, _ client.Object) error {
			if verb == "status" {
				return errors.New("not now")
			}
			return nil
		}
		w.watch()
		if _, err := w.overlays.Reconcile(t.Context(), ctrl.Request{}); err == nil {
			t.Error("what could not be stored is no error")
		}
	})
}

// Overlays are looked at when a pool begins or ceases to take part, not each time its usage is shown.
func TestBecomesReady(t *testing.T) {
	before := build.Pool("p")
	after := before.DeepCopy()
	if (becomesReady{}).Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}) {
		t.Error("nothing has changed")
	}
	after.Conditions().SetTrue(v1.ConditionValidationSucceeded, time.Now())
	after.Conditions().SetTrue(v1.ConditionNodeClassReady, time.Now())
	if !(becomesReady{}).Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}) {
		t.Error("a pool that became ready was missed")
	}
}
