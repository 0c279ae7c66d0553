package e2e_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/e2e/harness"
)

// TestDriftRollsPool (DIS-092 to DIS-095, DIS-217; S0-044 to S0-048): the way from an old NodePool to a new one. The old one
// gets a taint that no pod tolerates: all its nodes have drifted, and are replaced by nodes of the new pool, one at a time as
// its budget says, each only when its replacement is ready.
func TestDriftRollsPool(t *testing.T) {
	const pods = 2
	cluster := server.Start(t, harness.Options{})
	startController(t, cluster, hasty())
	old := fourCores("old", 0)
	old.Spec.Disruption.ConsolidateAfter = v1.Never()
	old.Spec.Disruption.Budgets = []v1.Budget{{Nodes: "1"}}
	cluster.CreateNodePool(old)
	cluster.CreateDeployment("web", pods, harness.Pod("3", "2Gi"))
	cluster.Eventually("the pods run", patience, cluster.PodsRun("web", pods))
	cluster.Eventually("nodes, claims and instances belong together", patience, cluster.Settled(pods))

	replacement := fourCores("new", 0)
	replacement.Spec.Disruption.ConsolidateAfter = v1.Never()
	cluster.CreateNodePool(replacement)
	patchPool(t, cluster, "old", `{"spec":{"template":{"spec":{"taints":[{"key":"karpenter.sh/legacy","value":"true","effect":"NoSchedule"}]}}}}`)
	cluster.Note("the old pool has the taint")
	cluster.Eventually("all of its nodes have drifted, or are gone", patience, func() (bool, string) {
		drifted, there := 0, 0
		for _, claim := range claimsOf(t, cluster) {
			if claim.Labels[v1.NodePoolLabelKey] != "old" || claim.DeletionTimestamp != nil {
				continue
			}
			there++
			if claim.Conditions().IsTrue(v1.ConditionDrifted) {
				drifted++
			}
		}
		return drifted == there, fmt.Sprintf("%d of %d", drifted, there)
	})
	disrupted := v1.DisruptedTaint()
	most := 0
	took := cluster.Eventually("all nodes are of the new pool", patience, func() (bool, string) {
		nodes := cluster.Nodes()   // read before the claims: a node that leaves when another one has ended is not seen next to it
		lives := map[string]bool{} // the budget does not count instances that are being ended (DIS-199)
		gone, replaced := pods, 0
		for _, claim := range claimsOf(t, cluster) {
			lives[claim.Status.NodeName] = !claim.Conditions().IsTrue(v1.ConditionInstanceTerminating)
			switch {
			case claim.Labels[v1.NodePoolLabelKey] == "new" && claim.Conditions().IsTrue(v1.ConditionInitialized):
				replaced++
			case claim.Labels[v1.NodePoolLabelKey] == "old" && claim.DeletionTimestamp == nil:
				gone--
			}
		}
		if gone > replaced {
			t.Errorf("%d old nodes are given up, and %d new ones are ready", gone, replaced)
		}
		leaving, left, ready := 0, 0, 0
		for _, node := range nodes {
			switch {
			case node.Labels[v1.NodePoolLabelKey] == "new":
				if node.Labels[v1.NodeInitializedLabelKey] == "true" {
					ready++
				}
			case !lives[node.Name]:
				left++
			case node.DeletionTimestamp != nil, slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool { return v1.SameTaint(&taint, &disrupted) }):
				leaving++
				left++
			default:
				left++
			}
		}
		if leaving+left > 0 && ready+left < pods {
			t.Errorf("there are %d new nodes and %d old ones for %d pods", ready, left, pods)
		}
		most = max(most, leaving)
		return left == 0, fmt.Sprintf("%d are left, %d of them leave", left, leaving)
	})
	if most > 1 { // none is seen when each leaves between two looks
		t.Errorf("up to %d nodes left at a time, want 1", most)
	}
	cluster.Eventually("the pods run", patience, cluster.PodsRun("web", pods))
	cluster.Eventually("nodes, claims and instances belong together", patience, cluster.Settled(pods))
	cluster.Note("rolled after %s, up to %d node at a time", took.Round(time.Millisecond), most)
}
