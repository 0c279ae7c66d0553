package reconcilers

import (
	"errors"
	"strings"
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

// A static pool whose claims the API server refuses has no pod that could report it: the pool does, by event and condition, and
// is healthy again once a claim is taken.
func TestRefusedClaimsShowOnThePool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(o *Options) { o.Features.StaticCapacity = true })
		pool := build.Pool("static")
		replicas := int64(1)
		pool.Spec.Replicas = &replicas
		refused := true
		w.faults = func(verb string, o client.Object) error {
			if _, claim := o.(*v1.NodeClaim); claim && refused && verb == "create" {
				return apierrors.NewInvalid(schema.GroupKind{Group: v1.GroupVersion().Group, Kind: v1.KindNodeClaim}, "static-x", nil)
			}
			return nil
		}
		w.create(pool)
		w.pool("static") // its conditions
		w.pool("static") // its claim
		w.pool("static") // what became of it
		c := w.pool("static").Conditions().Get(v1.ConditionLaunchHealthy)
		if c.Status != "False" || c.Reason != "NodeClaimRefused" || !strings.Contains(c.Message, "is invalid") {
			t.Errorf("condition %+v", c)
		}
		if got := w.events("LaunchFailed NodePool/static"); len(got) != 1 || !strings.Contains(got[0], "is invalid") {
			t.Errorf("events %v", got)
		}
		if pool := w.pool("static"); !ready(pool) {
			t.Errorf("a pool that can't launch is not ready: %v", pool.Status.Conditions)
		}
		refused = false
		time.Sleep(time.Minute)
		w.pool("static")
		w.live(10)
		if pool := w.pool("static"); !pool.Conditions().IsTrue(v1.ConditionLaunchHealthy) || len(w.allNodes()) != 1 {
			t.Errorf("%d nodes, %v", len(w.allNodes()), pool.Status.Conditions)
		}
	})
}

// What the cloud refuses shows on the claim's pool too, with the cloud's reason, by event and condition.
func TestRefusedLaunchesShowOnThePool(t *testing.T) {
	for _, c := range []struct {
		err    error
		reason string
	}{
		{cloudprovider.NewInsufficientCapacityError(errors.New("none left")), "InsufficientCapacity"},
		{cloudprovider.NewQuotaExceededError("VolumeLimitExceeded", errors.New("no volumes are left in the account")), "QuotaExceeded"},
		{cloudprovider.NewNodeClassNotReadyError("default", "it has no subnets", nil), "NodeClassNotReady"},
		{cloudprovider.NewCreateError("RequestInvalid", "no such image", nil), "RequestInvalid"},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, nil)
			if err := w.cloud.Inject(fake.Fault{Method: fake.MethodCreate, Err: c.err}); err != nil {
				t.Fatal(err)
			}
			w.create(newPod("a"))
			w.plan()
			w.live(1)
			if got := w.pool("default").Conditions().Get(v1.ConditionLaunchHealthy); got.Status != "False" || got.Reason != c.reason {
				t.Errorf("%v: condition %+v", c.err, got)
			}
			if told := append(w.events("LaunchFailed NodeClaim/"), w.events("InsufficientCapacityError NodeClaim/")...); len(told) != 1 {
				t.Errorf("%v: events %v", c.err, told)
			}
		})
	}
}
