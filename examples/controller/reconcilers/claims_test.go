package reconcilers

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake"
	"github.com/drawknife/drawknife/fake/build"
)

// PRV-050 to PRV-060, PRV-065, PRV-066, PRV-073: the life of a claim, carried out.
func TestLifeOfAClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		node, claim := w.node(newPod("a"))
		for _, kind := range []string{v1.ConditionLaunched, v1.ConditionRegistered, v1.ConditionInitialized} {
			if !claim.Conditions().IsTrue(kind) {
				t.Errorf("%s is not true", kind)
			}
		}
		if claim.Status.NodeName != node.Name || node.Labels[v1.NodeInitializedLabelKey] != "true" || node.Labels[v1.NodePoolLabelKey] != "default" {
			t.Errorf("claim has node %q, node %s has labels %v", claim.Status.NodeName, node.Name, node.Labels)
		}
		if n := w.cloud.Calls(fake.MethodCreate); n != 1 {
			t.Errorf("the cloud was asked for an instance %d times", n)
		}

		w.delete(claim)
		w.live(1)
		if node = w.allNodes()[0]; node.DeletionTimestamp == nil {
			t.Error("the node of a claim that is deleted is not deleted (PRV-065)")
		}
		w.delete(newPod("a")) // as its drain would
		w.live(15)
		if claims, nodes := w.allClaims(), w.allNodes(); len(claims)+len(nodes) != 0 {
			t.Errorf("%d claims and %d nodes are left", len(claims), len(nodes))
		}
		for _, i := range w.cloud.Instances() {
			if i.Phase != fake.Gone {
				t.Errorf("instance %s is left, %s", i.ProviderID, i.Phase)
			}
		}
		if left := len(w.claims.launchAfter) + len(w.claims.checked) + len(w.nodes.draining); left != 0 {
			t.Errorf("%d notes on what is gone", left)
		}
	})
}

// PRV-050, PRV-055, PRV-056: whatever wakes the reconciler, a launch that failed is tried again no sooner than it should.
func TestLaunchFailureDoesNotHammerTheCloud(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		if err := w.cloud.Inject(fake.Fault{Method: fake.MethodCreate, Err: cloudprovider.NewTransientError(errors.New("not now")), More: -1}); err != nil {
			t.Fatal(err)
		}
		w.create(build.Claim("by-hand"))
		for range 600 { // a minute of being woken ten times a second
			w.round()
			time.Sleep(100 * time.Millisecond)
		}
		if n := w.cloud.Calls(fake.MethodCreate); n < 4 || n > 9 {
			t.Errorf("the cloud was asked %d times in a minute, want about log2(60)", n)
		}
		claim := get(w, &v1.NodeClaim{}, "by-hand")
		if c := claim.Conditions().Get(v1.ConditionLaunched); c.Reason != "LaunchFailed" {
			t.Errorf("Launched is %s/%s", c.Status, c.Reason)
		}
		w.live(5 * 60)
		if get(w, &v1.NodeClaim{}, "by-hand") != nil {
			t.Error("it is there after the launch time-out (PRV-061)")
		}
	})
}

// PRV-053: a claim that can't be met is given up, and its pods are planned again at once.
func TestInsufficientCapacityPlansAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.create(newPod("a"))
		w.plan()
		first := w.allClaims()[0]
		w.triggers().forget(stockTrigger)
		sold := fake.Fault{Method: fake.MethodCreate, Err: cloudprovider.NewInsufficientCapacityError(errors.New("sold out"))}
		if err := w.cloud.Inject(sold); err != nil {
			t.Fatal(err)
		}
		w.live(2)
		if get(w, &v1.NodeClaim{}, first.Name) != nil {
			t.Fatal("the claim is still there")
		}
		if len(w.events("InsufficientCapacityError NodeClaim/"+first.Name)) != 1 {
			t.Errorf("events: %q", w.told)
		}
		if !w.triggers().added[stockTrigger] {
			t.Error("nothing calls for a pass")
		}
		w.plan()
		if claims := w.allClaims(); len(claims) != 1 || claims[0].UID == first.UID {
			t.Errorf("claims after the next pass: %v", claims)
		}
	})
}

func (w *world) triggers() *triggers { return &w.planner.triggers }

// PRV-051: a process that is stopped between the cloud's answer and its being stored launches nothing twice.
func TestLostAnswersLaunchNothingTwice(t *testing.T) {
	for name, verb := range map[string]string{"the claim's metadata can't be stored": "patch", "the claim's status can't be stored": "status"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, nil)
				w.create(newPod("a"))
				w.plan()
				fail := 3
				w.faults = func(v string, o client.Object) error {
					if _, claim := o.(*v1.NodeClaim); claim && v == verb && fail > 0 {
						fail--
						return apierrors.NewServiceUnavailable("try later")
					}
					return nil
				}
				w.live(3)
				w.start(nil) // another process takes over
				w.live(10)
				if n := len(w.cloud.Instances()); n != 1 {
					t.Errorf("%d instances for one claim", n)
				}
				if claims := w.allClaims(); len(claims) != 1 || !claims[0].Conditions().IsTrue(v1.ConditionInitialized) {
					t.Errorf("claims: %v", claims)
				}
			})
		})
	}
}

// PRV-050: a claim whose node class is another provider's is not touched.
func TestClaimsOfOtherProviders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		claim := build.Claim("foreign")
		claim.Spec.NodeClassRef = v1.NodeClassReference{Group: "other.test", Kind: "Other", Name: "x"}
		w.create(claim)
		before := get(w, &v1.NodeClaim{}, "foreign").ResourceVersion
		w.live(5)
		if after := get(w, &v1.NodeClaim{}, "foreign").ResourceVersion; after != before || w.cloud.Calls(fake.MethodCreate) != 0 {
			t.Error("it was written to, or launched")
		}
	})
}

// A write that somebody else came before is repeated on what is there then, and is no error.
func TestConflictsAreLookedAtAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.create(build.Claim("by-hand"))
		w.faults = func(verb string, o client.Object) error {
			if verb == "patch" {
				return apierrors.NewConflict(schema.GroupResource{}, o.GetName(), errors.New("changed"))
			}
			return nil
		}
		result, err := w.claims.Reconcile(t.Context(), requestFor("by-hand"))
		if err != nil || result.RequeueAfter != conflictRetry {
			t.Errorf("answer: %v, %v", result, err)
		}
		if w.cloud.Calls(fake.MethodCreate) != 0 {
			t.Error("launched before the finalizer was stored (PRV-050)")
		}
	})
}

// PRV-080: a claim past its expireAfter is deleted.
func TestExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		claim := build.Claim("by-hand")
		claim.Spec.ExpireAfter = v1.NewNillableDuration(10 * time.Minute)
		w.create(claim)
		w.live(10)
		if result, err := w.claims.Reconcile(t.Context(), requestFor("by-hand")); err != nil || result.RequeueAfter <= 0 || result.RequeueAfter > 10*time.Minute {
			t.Errorf("it is looked at again in %v (%v), want when it expires at the latest", result.RequeueAfter, err)
		}
		time.Sleep(10 * time.Minute)
		w.live(30)
		if claims, nodes := len(w.allClaims()), len(w.allNodes()); claims+nodes != 0 {
			t.Errorf("%d claims, %d nodes are left", claims, nodes)
		}
	})
}
