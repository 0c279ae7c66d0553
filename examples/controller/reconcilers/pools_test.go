package reconcilers

import (
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/provisioning"
)

// PRV-003, PRV-085: what keeps a pool from launching is on its conditions, and other pools go on.
func TestPoolConditions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		if pool := w.pool("default"); !pool.Conditions().IsTrue(v1.ConditionReady) {
			t.Errorf("conditions: %v", pool.Status.Conditions)
		}
		broken := build.Pool("broken")
		broken.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{{Key: "kubernetes.io/hostname", Operator: corev1.NodeSelectorOpIn, Values: []string{"x"}}}
		w.create(broken)
		if pool := w.pool("broken"); pool.Conditions().IsTrue(v1.ConditionReady) || pool.Conditions().IsTrue(v1.ConditionValidationSucceeded) {
			t.Errorf("conditions of a pool that is not valid: %v", pool.Status.Conditions)
		}
		w.cloud.SetNodeClassStatus(build.Pool("").Spec.Template.Spec.NodeClassRef, cloudprovider.NodeClassReadiness{Status: "False", Reason: "NoSubnets", Message: "there are none"})
		pool := w.pool("default")
		if c := pool.Conditions().Get(v1.ConditionNodeClassReady); c.Status != "False" || c.Reason != "NoSubnets" || pool.Conditions().IsTrue(v1.ConditionReady) {
			t.Errorf("conditions while the node class is not ready: %v", pool.Status.Conditions)
		}
		version := pool.ResourceVersion
		if again := w.pool("default"); again.ResourceVersion != version {
			t.Error("a look at which nothing has changed writes")
		}
	})
}

// PRV-050: nothing is written to pools of another provider, unless the reference has this one's group with a kind that it does not have.
func TestPoolsOfOtherProviders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		own := build.Pool("").Spec.Template.Spec.NodeClassRef
		theirs, slip := build.Pool("theirs"), build.Pool("slip")
		theirs.Spec.Template.Spec.NodeClassRef = v1.NodeClassReference{Group: "other.test", Kind: own.Kind, Name: "x"}
		slip.Spec.Template.Spec.NodeClassRef = v1.NodeClassReference{Group: own.Group, Kind: "Slip", Name: "x"}
		w.create(theirs)
		w.create(slip)
		if pool := w.pool("theirs"); len(pool.Status.Conditions) > 0 || len(pool.Annotations) > 0 || pool.Status.Nodes != nil {
			t.Errorf("a pool of another provider has annotations %v and status %+v", pool.Annotations, pool.Status)
		}
		if c := w.pool("slip").Conditions().Get(v1.ConditionNodeClassReady); c.Reason != provisioning.PoolReasonClassUnsupported {
			t.Errorf("the pool whose kind is a slip has condition %v", c)
		}
	})
}

// PRV-024, PRV-084: usage is that of nodes with an instance that stay.
func TestPoolUsage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		node, claim := w.node(newPod("a"))
		status := w.pool("default").Status
		want := node.Status.Capacity[corev1.ResourceCPU]
		if got := status.Resources[corev1.ResourceCPU]; got.Cmp(want) != 0 || *status.Nodes != 1 {
			t.Errorf("usage is %v, nodes %d", status.Resources, *status.Nodes)
		}
		w.delete(claim)
		status = w.pool("default").Status
		if got := status.Resources[corev1.ResourceCPU]; !got.IsZero() || *status.Nodes != 0 {
			t.Errorf("usage is %v, nodes %d while the only node leaves", status.Resources, *status.Nodes)
		}
	})
}

// PRV-110: launches that end badly show on the pool.
func TestPoolRegistrationHealth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.node(newPod("a"))
		if pool := w.pool("default"); !pool.Conditions().IsTrue(v1.ConditionNodeRegistrationHealthy) {
			t.Errorf("after a node has registered: %v", pool.Status.Conditions)
		}
		for range 2 {
			w.claims.health.givenUp(t.Context(), w.client, w.allClaims()[0])
		}
		if c := w.pool("default").Conditions().Get(v1.ConditionNodeRegistrationHealthy); c.Status != "False" {
			t.Errorf("after two launches that came to nothing: %v", c)
		}
	})
}

// PRV-040, PRV-044, PRV-120, PRV-121: a static pool is brought to its number of nodes, within its limit, up and down.
func TestStaticPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(o *Options) { o.Features.StaticCapacity = true })
		pool := build.Pool("static")
		replicas := int64(3)
		pool.Spec.Replicas = &replicas
		pool.Spec.Limits = corev1.ResourceList{"nodes": resource.MustParse("4")}
		w.create(pool)
		w.pool("static")
		w.pool("static") // what was ordered is known before any watch shows it
		if n := len(w.allClaims()); n != 3 {
			t.Fatalf("%d claims, want 3", n)
		}
		w.live(10)
		scale := func(n int64) {
			pool := get(w, &v1.NodePool{}, "static")
			pool.Spec.Replicas = &n
			if err := w.client.Update(t.Context(), pool); err != nil {
				t.Fatal(err)
			}
			w.pool("static")
			w.pool("static")
		}
		scale(9)
		if n := len(w.allClaims()); n != 4 {
			t.Errorf("%d claims, want 4 as limits.nodes says", n)
		}
		scale(1)
		w.live(20)
		if claims, nodes := len(w.allClaims()), len(w.allNodes()); claims != 1 || nodes != 1 {
			t.Errorf("%d claims and %d nodes are left, want 1", claims, nodes)
		}
	})
}

// PRV-011: without the feature pools with replicas are left alone.
func TestStaticPoolWithoutTheFeature(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		pool := build.Pool("static")
		replicas := int64(3)
		pool.Spec.Replicas = &replicas
		w.create(pool)
		w.pool("static")
		if n := len(w.allClaims()); n != 0 {
			t.Errorf("%d claims", n)
		}
	})
}
