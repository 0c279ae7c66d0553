package e2e_test

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/e2e/harness"
)

// TestExpiredNode (DIS-235 to DIS-238, scenario 16 of DIS-319): a node goes when its claim's expireAfter is over, whatever
// budgets say, and its pods run elsewhere.
func TestExpiredNode(t *testing.T) {
	const life = 8 * time.Second
	cluster := server.Start(t, harness.Options{})
	startController(t, cluster, hasty())
	pool := harness.NodePool("default")
	pool.Spec.Disruption.Budgets = []v1.Budget{{Nodes: "0"}}
	pool.Spec.Template.Spec.ExpireAfter = v1.NewNillableDuration(life)
	cluster.CreateNodePool(pool)
	cluster.CreateDeployment("web", 2, harness.Pod("1", "1Gi"))
	cluster.Eventually("a claim is made", patience, func() (bool, string) { return len(claimsOf(t, cluster)) > 0, "none" })
	first := claimsOf(t, cluster)[0]
	patchPool(t, cluster, "default", `{"spec":{"template":{"spec":{"expireAfter":"Never"}}}}`)
	cluster.Eventually("the pods run", patience, cluster.PodsRun("web", 2))
	cluster.Eventually("the claim is gone", patience, func() (bool, string) {
		for _, claim := range claimsOf(t, cluster) {
			if claim.UID != first.UID {
				continue
			}
			if at := claim.DeletionTimestamp; at != nil && at.Sub(claim.CreationTimestamp.Time) < life {
				t.Errorf("deleted at the age of %s, want %s", at.Sub(claim.CreationTimestamp.Time), life)
			}
			return false, "it is there"
		}
		return true, ""
	})
	cluster.Eventually("the pods run elsewhere", patience, cluster.PodsRun("web", 2))
	cluster.Eventually("nodes, claims and instances belong together", patience, cluster.Settled(-1))
	cluster.Note("expired after %s and replaced", life)
}

// TestInterruption (DIS-269 to DIS-274): a spot instance is about to be taken away. Its node takes no more pods, a replacement comes
// up, and the pods run there before the instance stops.
func TestInterruption(t *testing.T) {
	const notice = 2 * time.Minute // as a cloud gives it
	cluster := server.Start(t, harness.Options{})
	startController(t, cluster, hasty())
	pool := harness.NodePool("default")
	pool.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{
		requirement(v1.CapacityTypeLabelKey, corev1.NodeSelectorOpIn, v1.CapacityTypeSpot),
	}
	cluster.CreateNodePool(pool)
	cluster.CreateDeployment("web", 3, harness.Pod("1", "1Gi"))
	cluster.Eventually("the pods run", patience, cluster.PodsRun("web", 3))
	cluster.Eventually("nodes, claims and instances belong together", patience, cluster.Settled(1))
	node := cluster.Nodes()[0]
	deadline := time.Now().Add(notice)
	if err := cluster.Cloud.Interrupt(node.Spec.ProviderID, cloudprovider.InterruptionSpotReclaim, notice); err != nil {
		t.Fatal(err)
	}
	disrupted := v1.DisruptedTaint()
	cordoned := cluster.Eventually("the node takes no more pods", patience, func() (bool, string) {
		n := cluster.Node(node.Name)
		return n == nil || slices.ContainsFunc(n.Spec.Taints, func(taint corev1.Taint) bool { return v1.SameTaint(&taint, &disrupted) }), "it does"
	})
	cluster.Eventually("the pods run elsewhere", patience, func() (bool, string) {
		elsewhere := 0
		for _, pod := range cluster.Pods("web") {
			if harness.Running(pod) && pod.Spec.NodeName != node.Name {
				elsewhere++
			}
		}
		return elsewhere == 3, fmt.Sprint(elsewhere, " of 3")
	})
	if left := time.Until(deadline); left <= 0 {
		t.Errorf("the pods run elsewhere %s after the instance was to stop", -left)
	} else {
		cluster.Note("cordoned after %s, all pods elsewhere %s before the deadline", cordoned.Round(time.Millisecond), left.Round(time.Millisecond))
	}
	cluster.Eventually("an event says that the instance is interrupted", patience, func() (bool, string) {
		return told(t, cluster, "SpotInterrupted", "Node", "") > 0, "none does"
	})
	cluster.Eventually("one instance is left", patience, cluster.Settled(1))
	if left := cluster.Nodes()[0]; left.Name == node.Name {
		t.Error("the interrupted instance is the one that is left")
	}
}

// TestKilledInMidCommand (DIS-073, DIS-196): the controller is killed while a replacement is launched. Its successor takes the taint
// off or finishes what was begun; no pod is lost, and nothing stays behind.
func TestKilledInMidCommand(t *testing.T) {
	cluster := server.Start(t, harness.Options{})
	first := startController(t, cluster, hasty())
	before := roomy(t, cluster)
	killed := make(chan string, 1)
	var launches atomic.Int32
	first.line.OnCreate(func(at harness.CreateStage, claim *v1.NodeClaim) {
		if at == harness.AfterLaunch && launches.Add(1) == 1 {
			first.line.Cut()
			killed <- claim.Name
		}
	})
	widen(t, cluster)
	select {
	case name := <-killed:
		cluster.Note("killed when replacement %s had an instance", name)
	case <-time.After(patience):
		t.Fatal("no replacement was launched")
	}
	first.kill()
	disrupted := v1.DisruptedTaint()
	tainted := func(n *corev1.Node) bool {
		return slices.ContainsFunc(n.Spec.Taints, func(taint corev1.Taint) bool { return v1.SameTaint(&taint, &disrupted) })
	}
	var large *corev1.Node
	cluster.Retry("reading node "+before, func() (err error) { // what the test's own watch knows may be older
		large, err = cluster.Client.CoreV1().Nodes().Get(t.Context(), before, metav1.GetOptions{})
		return err
	})
	if !tainted(large) {
		t.Fatal("the killed controller had not tainted the node: it was killed at another moment than meant")
	}
	startController(t, cluster, hasty())
	cluster.Eventually("the pod runs on a small instance, and nothing else is left", patience, func() (bool, string) {
		if node := cluster.Node(before); node != nil {
			return false, "the large node is there"
		}
		settled, seen := cluster.Settled(1)()
		running, pods := cluster.PodsRun("web", 1)()
		return settled && running, seen + "; " + pods
	})
	node := cluster.Nodes()[0]
	if cpu := node.Status.Capacity.Cpu().Value(); cpu != 2 || tainted(node) {
		t.Errorf("the node that is left has %d cores and taints %v, want 2 and none", cpu, node.Spec.Taints)
	}
	claim, err := cluster.NodeClaims.Get(t.Context(), claimsOf(t, cluster)[0].Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if claim.Conditions().IsTrue(v1.ConditionDisruptionReason) {
		t.Error("the claim that is left says that it is disrupted")
	}
	cluster.Note("done by its successor; %d instances were launched in all", cluster.Bought())
}
