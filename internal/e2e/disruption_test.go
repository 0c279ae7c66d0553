package e2e_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/examples/controller/reconcilers"
	"github.com/drawknife/drawknife/internal/e2e/harness"
)

// hasty are options of a controller that waits for less than it would in earnest.
func hasty() reconcilers.Options {
	return reconcilers.Options{Disruption: reconcilers.DisruptionOptions{
		Planner: &disruption.Reference{ValidationDelay: time.Second}, Period: time.Second,
	}}
}

// consolidated is a pool of on-demand machines of the types named whose nodes are consolidated, all at once if need be.
func consolidated(name string, after time.Duration, instanceTypes ...string) *v1.NodePool {
	pool := harness.NodePool(name)
	pool.Spec.Disruption.ConsolidateAfter = v1.NewNillableDuration(after)
	pool.Spec.Disruption.Budgets = []v1.Budget{{Nodes: "100%"}}
	pool.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{
		requirement(v1.CapacityTypeLabelKey, corev1.NodeSelectorOpIn, v1.CapacityTypeOnDemand),
	}
	if len(instanceTypes) > 0 {
		pool.Spec.Template.Spec.Requirements = append(pool.Spec.Template.Spec.Requirements,
			requirement(corev1.LabelInstanceTypeStable, corev1.NodeSelectorOpIn, instanceTypes...))
	}
	return pool
}

// patchPool changes a pool as kubectl patch does.
func patchPool(t *testing.T, cluster *harness.Cluster, name, patch string) {
	t.Helper()
	if _, err := cluster.NodePools.Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

func claimsOf(t *testing.T, cluster *harness.Cluster) []v1.NodeClaim {
	t.Helper()
	claims, err := cluster.Claims()
	if err != nil {
		t.Fatal(err)
	}
	return claims
}

// TestEmptyNodeRemoved (DIS-062 to DIS-065, DIS-079 to DIS-084): a node that nothing runs on goes after consolidateAfter and not
// before.
func TestEmptyNodeRemoved(t *testing.T) {
	const after = 4 * time.Second
	cluster := server.Start(t, harness.Options{})
	startController(t, cluster, hasty())
	cluster.CreateNodePool(consolidated("default", after))
	cluster.CreateDeployment("web", 3, harness.Pod("1", "1Gi"))
	cluster.Eventually("the pods run", patience, cluster.PodsRun("web", 3))
	cluster.Eventually("nodes, claims and machines belong together", patience, cluster.Settled(-1))
	cluster.Lap("%d nodes", len(cluster.Nodes()))
	cluster.Scale("web", 0)
	cluster.Eventually("no pods are left", patience, cluster.PodsRun("web", 0))
	idle := time.Now()
	took := cluster.Eventually("the nodes are gone", patience, cluster.Empty())
	if since := time.Since(idle); since < after-time.Second {
		t.Errorf("nodes are gone %s after their last pod, want no less than consolidateAfter %s", since, after)
	}
	cluster.Lap("removed %s after the last pod", took.Round(time.Millisecond))
}
