package reconcilers

import (
	"context"
	"testing"
	"testing/synctest"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/drawknife/drawknife/api/v1"
)

func order(s *claimStore, token string) (*v1.NodeClaim, error) {
	claim := newClaim("")
	claim.GenerateName = "default-"
	return s.CreateNodeClaim(context.Background(), token, claim)
}

// PRV-041, PRV-051: an order is carried out once, however often and with whatever answers it is given.
func TestClaimStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		store := &claimStore{client: w.client, reader: w.client}
		first, err := order(store, "1")
		if err != nil {
			t.Fatal(err)
		}
		again, err := order(store, "1")
		if err != nil || again.UID != first.UID {
			t.Errorf("the order given again made %v, %v", again, err)
		}
		if other, err := order(store, "2"); err != nil || other.UID == first.UID {
			t.Errorf("another order made %v, %v", other, err)
		}

		w.faults = func(verb string, _ client.Object) error {
			if verb == "created" {
				return apierrors.NewTimeoutError("the answer was lost", 1)
			}
			return nil
		}
		lost, err := order(store, "3")
		if err != nil || lost.Annotations[orderAnnotation] != "3" {
			t.Errorf("an order whose answer was lost made %v, %v", lost, err)
		}
		w.faults = nil

		taken := newClaim(nameOf("default-", "4", 0))
		w.create(taken)
		if beside, err := order(store, "4"); err != nil || beside.Name != nameOf("default-", "4", 1) {
			t.Errorf("an order whose name is taken made %v, %v", beside, err)
		}
		if n := len(w.allClaims()); n != 5 {
			t.Errorf("%d claims, want 5", n)
		}
	})
}

// A time-out that left nothing behind is an error, and the order may be given again.
func TestClaimStoreTimeOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		store := &claimStore{client: w.client, reader: w.client}
		w.faults = func(verb string, _ client.Object) error {
			if verb == "create" {
				return apierrors.NewTimeoutError("nobody answers", 1)
			}
			return nil
		}
		if claim, err := order(store, "1"); !apierrors.IsTimeout(err) {
			t.Errorf("claim %v, error %v", claim, err)
		}
		w.faults = nil
		if _, err := order(store, "1"); err != nil {
			t.Error(err)
		}
	})
}

func TestNameOfClaims(t *testing.T) {
	long := nameOf("a-pool-whose-name-is-as-long-as-names-of-pools-may-be-which-is-63", "1", 0)
	if len(long) != 63 {
		t.Errorf("%q has %d characters, want 63: labels bear it", long, len(long))
	}
	first, again := nameOf("p-", "1", 0), nameOf("p-", "1", 0)
	if first != again || first == nameOf("p-", "2", 0) {
		t.Error("names do not follow from tokens")
	}
}

// What was deleted meanwhile, or is another object of the name, is left alone.
func TestDeleteExactly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.create(newClaim("a"))
		for _, stale := range []*v1.NodeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "older"}}, {ObjectMeta: metav1.ObjectMeta{Name: "b", UID: "x"}}} {
			if err := deleteExactly(t.Context(), w.client, stale); err != nil {
				t.Errorf("%s: %v", stale.UID, err)
			}
		}
		if get(w, &v1.NodeClaim{}, "a") == nil {
			t.Error("another object of the name was deleted")
		}
	})
}
