package e2e_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/examples/controller/reconcilers"
	"github.com/drawknife/drawknife/fake"
	"github.com/drawknife/drawknife/internal/e2e/harness"
	"github.com/drawknife/drawknife/provisioning"
)

// planners are those that a user may choose from, in a hurry: they wait for less than they would in earnest.
func planners() map[string]disruption.Planner {
	return map[string]disruption.Planner{
		"reference": &disruption.Reference{ValidationDelay: new(time.Second)},
		"global":    &disruption.Global{ValidationDelay: new(time.Second), CoolDown: new(time.Duration), PayBack: new(time.Duration)},
	}
}

// hasty are options of a controller that waits for less than it would in earnest.
func hasty() reconcilers.Options {
	return reconcilers.Options{Disruption: reconcilers.DisruptionOptions{
		Planner: &disruption.Reference{ValidationDelay: new(time.Second)}, Period: new(time.Second),
	}}
}

// consolidated is a pool of on-demand instances of the types named whose nodes are consolidated, all at once if need be.
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
	cluster.Retry("changing nodepool "+name, func() error {
		_, err := cluster.NodePools.Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		return err
	})
}

func claimsOf(t *testing.T, cluster *harness.Cluster) []v1.NodeClaim {
	t.Helper()
	var claims []v1.NodeClaim
	cluster.Retry("listing nodeclaims", func() (err error) {
		claims, err = cluster.Claims()
		return err
	})
	return claims
}

// TestEmptyNodeRemoved (DIS-062 to DIS-065, DIS-079 to DIS-084): a node that nothing runs on goes after consolidateAfter and not
// before.
func TestEmptyNodeRemoved(t *testing.T) {
	const after = 15 * time.Second // longer than new nodes are kept for the pods they were launched for, which is 10 s with short batches
	cluster := server.Start(t, harness.Options{})
	options := hasty()
	options.Batch = &provisioning.BatchOptions{Idle: 200 * time.Millisecond, Max: time.Second}
	startController(t, cluster, options)
	cluster.CreateNodePool(fourCores("default", after))
	cluster.CreateDeployment("web", 3, harness.Pod("1", "1Gi")) // they fit on one node: none can be empty from the beginning
	cluster.Eventually("the pods run", patience, cluster.PodsRun("web", 3))
	cluster.Eventually("nodes, claims and instances belong together", patience, cluster.Settled(1))
	busy := time.Now() // no node is empty before
	cluster.Scale("web", 0)
	var given time.Time
	cluster.Eventually("a node is given up", patience, func() (bool, string) {
		claims := claimsOf(t, cluster)
		for _, claim := range claims {
			if at := claim.DeletionTimestamp; at != nil {
				given = at.Time
			}
		}
		if given.IsZero() && len(claims) == 0 {
			given = time.Now()
		}
		return !given.IsZero(), fmt.Sprint(len(claims), " claims, none deleted")
	})
	if waited := given.Sub(busy.Truncate(time.Second)); waited < after { // objects state times in seconds
		t.Errorf("a node is given up %s after it was still in use, want no less than consolidateAfter %s", waited, after)
	}
	took := cluster.Eventually("the nodes are gone", patience, cluster.Empty())
	cluster.Note("given up %s after the last pod was told to end, gone %s later", given.Sub(busy).Round(time.Second), took.Round(time.Millisecond))
}

// TestNewNodesWaitForTheirPods (PRV-026, DIS-005): a pool that has empty nodes removed at once does not lose new ones before
// kube-scheduler has bound the pods to them that they were launched for; each instance is launched once.
func TestNewNodesWaitForTheirPods(t *testing.T) {
	cluster := server.Start(t, harness.Options{})
	startController(t, cluster, hasty())
	pool := fourCores("default", 0)
	pool.Spec.Disruption.ConsolidationPolicy = v1.ConsolidationPolicyWhenEmpty
	cluster.CreateNodePool(pool)
	cluster.CreateDeployment("web", 12, harness.Pod("1", "1Gi"))
	cluster.Eventually("the pods run", patience, cluster.PodsRun("web", 12))
	cluster.Eventually("nodes, claims and instances belong together", patience, cluster.Settled(-1))
	nodes := len(cluster.Nodes())
	if n := cluster.Bought(); n != nodes {
		t.Errorf("%d instances were launched for the pods of %d nodes", n, nodes)
	}
	cluster.Note("%d nodes", nodes)
	cluster.Scale("web", 0)
	took := cluster.Eventually("the nodes are gone", patience, cluster.Empty())
	cluster.Note("removed after %s", took.Round(time.Millisecond))
}

// surplus is a label of pods that are not to stay when their deployment is scaled down.
const surplus = "surplus"

// halfUsed has two nodes of the pool default with one pod each that would fit on one. The pods bear the labels of the deployment
// "web". Which pods a deployment loses is its controller's choice, and which node they leave empty would be luck: one of each node
// costs more to lose. Nothing is consolidated until then; from then on the pool's nodes are, after the time given.
func halfUsed(t *testing.T, cluster *harness.Cluster, after time.Duration) {
	t.Helper()
	pool := fourCores("default", after)
	pool.Spec.Disruption.ConsolidateAfter = v1.Never()
	cluster.CreateNodePool(pool)
	template := harness.Pod("1", "1Gi")
	template.Labels = map[string]string{surplus: "true"}
	cluster.CreateDeployment("web", 6, template) // 3 fit on a node
	cluster.Eventually("the pods run", patience, cluster.PodsRun("web", 6))
	cluster.Eventually("nodes, claims and instances belong together", patience, cluster.Settled(2))
	kept := map[types.UID]bool{}
	for _, node := range cluster.Nodes() {
		pod := cluster.OnNode(node.Name)[0]
		patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"1"},"labels":{%q:null}}}`, corev1.PodDeletionCost, surplus)
		if _, err := cluster.Client.CoreV1().Pods(cluster.Namespace).Patch(t.Context(), pod.Name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		kept[pod.UID] = true
	}
	// The controller that chooses counts the pods that bear all labels of their template: it then knows what they cost, too.
	cluster.Eventually("the pods' controller knows which are to stay", patience, func() (bool, string) {
		sets, err := cluster.Client.AppsV1().ReplicaSets(cluster.Namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil || len(sets.Items) != 1 {
			return false, fmt.Sprint(len(sets.Items), " replica sets, ", err)
		}
		status := sets.Items[0].Status
		return status.Replicas == 6 && status.FullyLabeledReplicas == 4, fmt.Sprintf("%+v", status)
	})
	cluster.Scale("web", 2)
	cluster.Eventually("two pods are left", patience, cluster.PodsRun("web", 2))
	for _, pod := range cluster.Pods("web") {
		if !kept[pod.UID] {
			t.Fatalf("pod %s is left, though another one on its node costs more to lose", pod.Name)
		}
	}
	patchPool(t, cluster, "default", fmt.Sprintf(`{"spec":{"disruption":{"consolidateAfter":%q}}}`, after))
}

// fourCores is a pool of instances with four cores.
func fourCores(name string, after time.Duration) *v1.NodePool {
	pool := consolidated(name, after)
	pool.Spec.Template.Spec.Requirements = append(pool.Spec.Template.Spec.Requirements, requirement(fake.LabelInstanceCPU, corev1.NodeSelectorOpIn, "4"))
	return pool
}

// TestUnderusedNodesMerged (DIS-106, DIS-136, DIS-184 to DIS-193): of two nodes that are half used one goes, and its pod runs
// on the other.
func TestUnderusedNodesMerged(t *testing.T) {
	for name, planner := range planners() {
		if testing.Short() && name != "global" {
			continue
		}
		t.Run(name, func(t *testing.T) { underusedNodesMerged(t, planner) })
	}
}

func underusedNodesMerged(t *testing.T, planner disruption.Planner) {
	cluster := server.Start(t, harness.Options{})
	options := hasty()
	options.Disruption.Planner = planner
	startController(t, cluster, options)
	halfUsed(t, cluster, 4*time.Second)
	took := cluster.Eventually("one node is left", patience, cluster.Settled(1))
	cluster.Eventually("both pods run", patience, cluster.PodsRun("web", 2))
	if n := cluster.Bought(); n != 2 {
		t.Errorf("%d instances were launched, want the two at the beginning", n)
	}
	cluster.Note("merged after %s", took.Round(time.Millisecond))
}

// roomy has a pod on a node far too large for it, of a pool that may now launch small ones too.
func roomy(t *testing.T, cluster *harness.Cluster) (before string) {
	t.Helper()
	pool := consolidated("default", 0)
	pool.Spec.Template.Spec.Requirements = append(pool.Spec.Template.Spec.Requirements, requirement(fake.LabelInstanceCPU, corev1.NodeSelectorOpIn, "8"))
	cluster.CreateNodePool(pool)
	cluster.CreateDeployment("web", 1, harness.Pod("500m", "512Mi"))
	cluster.Eventually("the pod runs", patience, cluster.PodsRun("web", 1))
	cluster.Eventually("nodes, claims and instances belong together", patience, cluster.Settled(1))
	cluster.Note("the pod runs on an instance of type %s", cluster.Nodes()[0].Labels[corev1.LabelInstanceTypeStable])
	return cluster.Nodes()[0].Name
}

// widen lets the pool launch small instances too: no drift, since its nodes meet that as well (DIS-225).
func widen(t *testing.T, cluster *harness.Cluster) {
	t.Helper()
	patchPool(t, cluster, "default", `{"spec":{"template":{"spec":{"requirements":[
		{"key":"karpenter.sh/capacity-type","operator":"In","values":["on-demand"]},
		{"key":"`+fake.LabelInstanceCPU+`","operator":"In","values":["2","8"]}]}}}}`)
}

// TestNodeReplacedByCheaper (DIS-140, DIS-143, DIS-187, DIS-189): the cheaper node is ready before the other one goes.
func TestNodeReplacedByCheaper(t *testing.T) {
	cluster := server.Start(t, harness.Options{})
	startController(t, cluster, hasty())
	before := roomy(t, cluster)
	widen(t, cluster)
	took := cluster.Eventually("the node is gone", patience, func() (bool, string) {
		old, ready := cluster.Node(before), 0
		for _, node := range cluster.Nodes() {
			if node.Name != before && node.Labels[v1.NodeInitializedLabelKey] == "true" {
				ready++
			}
		}
		if old != nil && old.DeletionTimestamp != nil && ready == 0 {
			t.Error("the node is deleted before its replacement is ready")
		}
		return old == nil, fmt.Sprint(ready, " replacements are ready")
	})
	cluster.Eventually("the pod runs", patience, cluster.PodsRun("web", 1))
	cluster.Eventually("one instance is left", patience, cluster.Settled(1))
	node := cluster.Nodes()[0]
	if cpu := node.Status.Capacity.Cpu().Value(); cpu != 2 {
		t.Errorf("the node has %d cores, want 2", cpu)
	}
	cluster.Note("replaced by type %s after %s", node.Labels[corev1.LabelInstanceTypeStable], took.Round(time.Millisecond))
}

// TestPodDisruptionBudgetBlocksAndAllows (DIS-045, DIS-058, DIS-281): while a budget lets no pod go its node stays and says why;
// once it does the node goes, without waiting until it is looked at anyway (DIS-177).
func TestPodDisruptionBudgetBlocksAndAllows(t *testing.T) {
	cluster := server.Start(t, harness.Options{})
	startController(t, cluster, hasty())
	budgets := cluster.Client.PolicyV1().PodDisruptionBudgets(cluster.Namespace)
	cluster.CreateBudget("web", 0)
	halfUsed(t, cluster, time.Second)
	cluster.Eventually("the nodes say that the budget holds them", patience, func() (bool, string) {
		return told(t, cluster, "DisruptionBlocked", "Node", cluster.Namespace+"/web") == 2, "they do not"
	})
	cluster.Never("a node is given up", 5*time.Second, givenUp(cluster, 2))
	cluster.Note("blocked")
	if _, err := budgets.Patch(t.Context(), "web", types.MergePatchType, []byte(`{"spec":{"maxUnavailable":1}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	took := cluster.Eventually("one node is left", patience, cluster.Settled(1))
	cluster.Eventually("both pods run", patience, cluster.PodsRun("web", 2))
	cluster.Note("allowed, and merged after %s", took.Round(time.Millisecond))
}

// givenUp is the condition that any of so many nodes is marked, deleted or gone: a command begins with the mark.
func givenUp(cluster *harness.Cluster, nodes int) harness.Condition {
	disrupted := v1.DisruptedTaint()
	return func() (bool, string) {
		there := cluster.Nodes()
		for _, node := range there {
			marked := slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool { return v1.SameTaint(&taint, &disrupted) })
			if marked || node.DeletionTimestamp != nil {
				return true, node.Name
			}
		}
		return len(there) < nodes, fmt.Sprint(len(there), " nodes")
	}
}

// told counts the objects of the kind that events of the reason mention with the words.
func told(t *testing.T, cluster *harness.Cluster, reason, kind, words string) int {
	t.Helper()
	var list *eventsv1.EventList
	cluster.Retry("listing events", func() (err error) {
		list, err = cluster.Client.EventsV1().Events(metav1.NamespaceAll).List(t.Context(), metav1.ListOptions{FieldSelector: "reason=" + reason})
		return err
	})
	names := map[string]bool{}
	for i := range list.Items {
		if e := &list.Items[i]; e.Regarding.Kind == kind && strings.Contains(e.Note, words) {
			names[e.Regarding.Name] = true
		}
	}
	return len(names)
}

// TestMaintenanceWindow (DIS-202, DIS-208): while a window with a budget of none is open an empty node stays, and its pool says
// why; afterwards it goes.
func TestMaintenanceWindow(t *testing.T) {
	cluster := server.Start(t, harness.Options{})
	startController(t, cluster, hasty())
	pool := consolidated("default", 0)
	pool.Spec.Disruption.Budgets = []v1.Budget{{Nodes: "100%"}, {Nodes: "0", Schedule: new("0 0 * * *"), Duration: new(v1.NewDuration(24 * time.Hour))}}
	cluster.CreateNodePool(pool)
	cluster.CreateDeployment("web", 1, harness.Pod("1", "1Gi"))
	cluster.Eventually("the pod runs", patience, cluster.PodsRun("web", 1))
	cluster.Scale("web", 0)
	cluster.Eventually("no pods are left", patience, cluster.PodsRun("web", 0))
	cluster.Eventually("the pool says that nothing may go", patience, func() (bool, string) {
		return told(t, cluster, "DisruptionBlocked", "NodePool", "Empty") == 1, "it does not"
	})
	cluster.Never("the node is given up", 5*time.Second, givenUp(cluster, 1))
	cluster.Note("the window holds the node")
	// The window is now half a day away.
	opens := time.Now().UTC().Add(12 * time.Hour).Hour()
	patchPool(t, cluster, "default", fmt.Sprintf(`{"spec":{"disruption":{"budgets":[{"nodes":"100%%"},{"nodes":"0","schedule":"0 %d * * *","duration":"1h"}]}}}`, opens))
	took := cluster.Eventually("the node is gone", patience, cluster.Empty())
	cluster.Note("removed %s after the window", took.Round(time.Millisecond))
}
