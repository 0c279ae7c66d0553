package reconcilers

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"syscall"
	"testing"
	"testing/synctest"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/fake/build"
)

func order(s *claimStore, token string) (*v1.NodeClaim, error) {
	claim := build.Claim("")
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

		taken := build.Claim(nameOf("default-", "4", 0))
		w.create(taken)
		if another, err := order(store, "4"); err != nil || another.Name != nameOf("default-", "4", 1) {
			t.Errorf("an order whose name is taken made %v, %v", another, err)
		}
		if n := len(w.allClaims()); n != 4 {
			t.Errorf("%d claims, want 4", n)
		}
	})
}

// PRV-051: an answer that was lost leaves the order done, whatever was lost it in: the API server's own time, a proxy or the
// connection. What the API server refused is not asked for again.
func TestClaimStoreLostAnswers(t *testing.T) {
	cases := map[string]struct {
		verb  string // "create" fails before the claim is stored, "created" after
		times int
		err   error
		asked int
		fails bool
	}{
		"time-out":                     {"created", 1, apierrors.NewTimeoutError("the answer was lost", 1), 1, false},
		"server time-out":              {"created", 1, apierrors.NewServerTimeout(schema.GroupResource{Resource: "nodeclaims"}, "create", 1), 1, false},
		"broken connection":            {"created", 1, &url.Error{Op: "Post", URL: "https://api", Err: io.ErrUnexpectedEOF}, 1, false},
		"reset connection":             {"created", 1, &net.OpError{Op: "read", Err: syscall.ECONNRESET}, 1, false},
		"gateway's word":               {"created", 1, apierrors.NewGenericServerResponse(502, "POST", schema.GroupResource{}, "", "bad gateway", 0, true), 1, false},
		"request lost":                 {"create", 1, &url.Error{Op: "Post", URL: "https://api", Err: syscall.ECONNREFUSED}, 2, false},
		"request lost again and again": {"create", 9, &url.Error{Op: "Post", URL: "https://api", Err: syscall.ECONNREFUSED}, answerAttempts, true},
		"refused":                      {"create", 9, apierrors.NewForbidden(schema.GroupResource{Resource: "nodeclaims"}, "a", errors.New("no")), 1, true},
		"too many requests":            {"create", 9, apierrors.NewTooManyRequests("later", 1), 1, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, nil)
				store := &claimStore{client: w.client, reader: w.client}
				asked := 0
				w.faults = func(verb string, _ client.Object) error {
					if verb == "create" {
						asked++
					}
					if verb == c.verb && asked <= c.times {
						return c.err
					}
					return nil
				}
				claim, err := order(store, "1")
				if failed := err != nil; failed != c.fails || failed && !errors.Is(err, c.err) {
					t.Errorf("error %v", err)
				}
				if claim != nil && claim.Annotations[orderAnnotation] != "1" {
					t.Errorf("claim %v is not that of the order", claim)
				}
				if want := map[bool]int{false: 1}[c.fails]; len(w.allClaims()) != want || asked != c.asked {
					t.Errorf("%d claims after %d requests, want %d after %d", len(w.allClaims()), asked, want, c.asked)
				}
			})
		})
	}
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
		w.create(build.Claim("a"))
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
