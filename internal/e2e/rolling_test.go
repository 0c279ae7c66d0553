package e2e_test

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/e2e/harness"
)

// twoPools is a pool of the name "old" with a node for each of so many pods, and another one that may replace it. Nothing disrupts
// their nodes.
func twoPools(t *testing.T, cluster *harness.Cluster, pods int) {
	t.Helper()
	for _, name := range []string{"old", "new"} {
		pool := fourCores(name, 0)
		pool.Spec.Disruption.ConsolidateAfter = v1.Never()
		pool.Spec.Disruption.Budgets = []v1.Budget{{Nodes: "0"}}
		cluster.CreateNodePool(pool)
		if name == "old" {
			cluster.CreateDeployment("web", int32(pods), harness.Pod("3", "2Gi"))
			cluster.Eventually("the pods run", patience, cluster.PodsRun("web", pods))
			cluster.Eventually("nodes, claims and instances belong together", patience, cluster.Settled(pods))
		}
	}
}

// TestDeletionRollsPool (S0-049, S0-050): an old pool is deleted in the foreground. All of its nodes drain side by side, their pods go
// to nodes of the new pool, and the pool is there until the last of its claims is gone.
func TestDeletionRollsPool(t *testing.T) {
	const pods = 2
	cluster := server.Start(t, harness.Options{})
	startController(t, cluster, hasty())
	twoPools(t, cluster, pods)
	// While a budget lets no pod go none of the nodes can end, however late the deletion of another one begins.
	budgets := cluster.Client.PolicyV1().PodDisruptionBudgets(cluster.Namespace)
	cluster.CreateBudget("web", 0)
	cluster.Eventually("the budget is counted", patience, cluster.BudgetAllows("web", pods, 0))
	if err := cluster.NodePools.Delete(t.Context(), "old", metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationForeground)}); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually("all nodes of the old pool drain", patience, func() (bool, string) {
		leaving := 0
		for _, claim := range claimsOf(t, cluster) {
			if claim.Labels[v1.NodePoolLabelKey] == "old" && claim.DeletionTimestamp != nil {
				leaving++
			}
		}
		marked := 0
		for _, node := range cluster.Nodes() {
			if node.Labels[v1.NodePoolLabelKey] == "old" && v1.DisruptionMarked(node) {
				marked++
			}
		}
		return leaving == pods && marked == pods, fmt.Sprintf("%d claims are deleted, %d nodes take no more pods", leaving, marked)
	})
	if err := budgets.Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	took := cluster.Eventually("the old pool is gone", patience, func() (bool, string) {
		pools, err := cluster.NodePools.List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return false, err.Error()
		}
		there := len(pools.Items) == 2
		left, leaving := 0, 0
		for _, claim := range claimsOf(t, cluster) { // read after the pools: a claim that is there now was there then
			if claim.Labels[v1.NodePoolLabelKey] != "old" {
				continue
			}
			left++
			if claim.DeletionTimestamp != nil {
				leaving++
			}
		}
		if !there && left > 0 {
			t.Errorf("the pool is gone before %d of its claims", left)
		}
		if left < pods && leaving < left {
			t.Errorf("a claim is gone before the deletion of %d others has begun", left-leaving)
		}
		return !there, fmt.Sprintf("%d claims are left, %d of them are deleted", left, leaving)
	})
	cluster.Eventually("the pods run", patience, cluster.PodsRun("web", pods))
	cluster.Eventually("nodes, claims and instances belong together", patience, cluster.Settled(pods))
	ofNewPool(t, cluster)
	cluster.Note("rolled after %s", took)
}

// TestRolledByHand (S0-047, S0-051): the old pool gets a taint that keeps new instances from it, and a budget keeps its nodes from being
// rolled for that; then its nodes are deleted one by one, as kubectl delete node does. Each is drained, and its pods go to
// nodes of the new pool.
func TestRolledByHand(t *testing.T) {
	const pods = 2
	cluster := server.Start(t, harness.Options{})
	startController(t, cluster, hasty())
	twoPools(t, cluster, pods)
	patchPool(t, cluster, "old", `{"spec":{"template":{"spec":{"taints":[{"key":"karpenter.sh/legacy","value":"true","effect":"NoSchedule"}]}}}}`)
	cluster.Eventually("the controller has seen the taint", patience, func() (bool, string) {
		drifted := 0
		for _, claim := range claimsOf(t, cluster) {
			if claim.Conditions().IsTrue(v1.ConditionDrifted) {
				drifted++
			}
		}
		return drifted == pods, fmt.Sprintf("%d of %d have drifted", drifted, pods)
	})
	for _, node := range cluster.Nodes() {
		if node.Labels[v1.NodePoolLabelKey] != "old" {
			t.Fatalf("node %s is of another pool before anything was deleted", node.Name)
		}
		if err := cluster.Client.CoreV1().Nodes().Delete(t.Context(), node.Name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		cluster.Eventually(node.Name+" is gone", patience, func() (bool, string) { return cluster.Node(node.Name) == nil, "it is there" })
		cluster.Eventually("the pods run", patience, cluster.PodsRun("web", pods))
		cluster.Eventually("nodes, claims and instances belong together", patience, cluster.Settled(pods))
		cluster.Note("%s is rolled", node.Name)
	}
	ofNewPool(t, cluster)
}

// ofNewPool fails the test if any node is of another pool than "new".
func ofNewPool(t *testing.T, cluster *harness.Cluster) {
	t.Helper()
	for _, node := range cluster.Nodes() {
		if pool := node.Labels[v1.NodePoolLabelKey]; pool != "new" {
			t.Errorf("node %s is of pool %s", node.Name, pool)
		}
	}
}
