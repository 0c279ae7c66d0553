package e2e_test

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/examples/controller/kubelet"
	"github.com/drawknife/drawknife/examples/controller/reconcilers"
	"github.com/drawknife/drawknife/fake"
	"github.com/drawknife/drawknife/internal/e2e/harness"
	"github.com/drawknife/drawknife/provisioning"
)

// patience is how long a scenario waits for something that takes seconds on an idle machine.
const patience = 2 * time.Minute

// requirement is one that a pool or a claim makes.
func requirement(key string, operator corev1.NodeSelectorOperator, values ...string) v1.NodeSelectorRequirementWithMinValues {
	return v1.NodeSelectorRequirementWithMinValues{Key: key, Operator: operator, Values: values}
}

// placedAsMeant waits until it is known where pods are to go, which events say, and has them placedWell.
func placedAsMeant(t *testing.T, cluster *harness.Cluster) {
	t.Helper()
	cluster.Eventually("the controller says of a pod where it is to go, by a Nominated event", patience, func() (bool, string) {
		placements := cluster.Placements()
		return placements.Told > 0, placements.String()
	})
	placedWell(t, cluster)
}

// placedWell logs how many pods kube-scheduler bound to the very node that the planner meant them to go to. The others are
// to be in a place at least as good: every pod is bound, no instance was launched for nothing, and all instances together cost no
// more than those that were planned. An instance that no pod is on was not launched for nothing if kube-scheduler has a pod that was
// meant for it elsewhere, on a node that had room left; controllers limit the rate of events, so that not of all pods it is known.
func placedWell(t *testing.T, cluster *harness.Cluster) {
	t.Helper()
	placements := cluster.Placements()
	cluster.Note("%v", placements)
	costs := cluster.Costs()
	cluster.Note("%v", costs)
	if costs.Fleet > costs.Ordered*(1+1e-9) {
		t.Errorf("the instances cost more than was planned: %v; elsewhere are %v", costs, placements.Elsewhere)
	}
	for _, pod := range cluster.Pods("") {
		if pod.Spec.NodeName == "" {
			t.Errorf("pod %s is bound nowhere", pod.Name)
		}
	}
	for _, node := range cluster.Nodes() {
		switch {
		case len(cluster.OnNode(node.Name)) > 0:
		case placements.Deserted[node.Name] || placements.Told < placements.Bound:
			cluster.Note("node %s is empty; elsewhere are %v", node.Name, placements.Elsewhere)
		default:
			t.Errorf("node %s was launched for nothing; elsewhere are %v", node.Name, placements.Elsewhere)
		}
	}
}

// removePools deletes all pools, and waits until that has ended their claims, nodes and instances.
func removePools(t *testing.T, cluster *harness.Cluster) {
	t.Helper()
	if err := cluster.NodePools.DeleteCollection(t.Context(), metav1.DeleteOptions{
		PropagationPolicy: new(metav1.DeletePropagationBackground),
	}, metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	took := cluster.Eventually("nodes, claims and instances are gone with their pool", patience, cluster.Empty())
	cluster.Note("all removed in %s", took.Round(time.Millisecond))
}

// TestInflate scales the classic deployment from nothing to five pods, to a hundred, and back to nothing.
func TestInflate(t *testing.T) {
	cluster := server.Start(t, harness.Options{})
	startController(t, cluster, reconcilers.Options{})
	cluster.CreateNodePool(harness.NodePool("default"))
	cluster.CreateDeployment("inflate", 0, harness.Pod("1", "1536Mi"))
	for _, n := range []int{5, 100} {
		cluster.Scale("inflate", int32(n))
		took := cluster.Eventually(fmt.Sprint(n, " pods run"), patience, cluster.PodsRun("inflate", n))
		cluster.Eventually("nodes, claims and instances belong together", patience, cluster.Settled(-1))
		cluster.Note("%d pods run on %d nodes after %s", n, len(cluster.Nodes()), took.Round(time.Millisecond))
		placedAsMeant(t, cluster)
	}
	cluster.Scale("inflate", 0)
	cluster.Eventually("no pods are left", patience, cluster.PodsRun("inflate", 0))
	removePools(t, cluster)
}

// TestMixedConstraints has pods that spread over zones, keep apart, keep together, need a taint tolerated, an architecture,
// and a disk, all at once.
func TestMixedConstraints(t *testing.T) {
	cluster := server.Start(t, harness.Options{})
	startController(t, cluster, reconcilers.Options{})
	cluster.CreateNodePool(harness.NodePool("general"))
	dedicated := harness.NodePool("dedicated")
	dedicated.Spec.Template.Labels = map[string]string{"team": "blue"}
	taint := corev1.Taint{Key: "team", Value: "blue", Effect: corev1.TaintEffectNoSchedule}
	dedicated.Spec.Template.Spec.Taints = []corev1.Taint{taint}
	cluster.CreateNodePool(dedicated)
	class := createStorageClass(t, cluster)
	createClaim(t, cluster, class, "data")

	spread := harness.Pod("500m", "512Mi")
	spread.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
		MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule,
		MinDomains:    new(int32(3)), // without it zones count from when they have a node, and the first one takes what it has room for
		LabelSelector: &metav1.LabelSelector{MatchLabels: harness.Labels("spread")},
	}}
	cluster.CreateDeployment("spread", 9, spread)

	apart := harness.Pod("250m", "256Mi")
	apart.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: harness.Labels("apart")},
		}},
	}}
	cluster.CreateDeployment("apart", 4, apart)

	together := harness.Pod("250m", "256Mi")
	together.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			TopologyKey: corev1.LabelTopologyZone, LabelSelector: &metav1.LabelSelector{MatchLabels: harness.Labels("together")},
		}},
	}}
	cluster.CreateDeployment("together", 3, together)

	blue := harness.Pod("1", "1Gi")
	blue.Spec.NodeSelector = map[string]string{"team": "blue"}
	blue.Spec.Tolerations = []corev1.Toleration{{Key: "team", Operator: corev1.TolerationOpEqual, Value: "blue", Effect: corev1.TaintEffectNoSchedule}}
	cluster.CreateDeployment("blue", 2, blue)

	arm := harness.Pod("1", "1Gi")
	arm.Spec.NodeSelector = map[string]string{corev1.LabelArchStable: v1.ArchitectureArm64}
	cluster.CreateDeployment("arm", 2, arm)

	cluster.CreateDeployment("store", 1, withVolume(harness.Pod("500m", "512Mi"), "data"))

	counts := map[string]int{"spread": 9, "apart": 4, "together": 3, "blue": 2, "arm": 2, "store": 1}
	for name, n := range counts {
		cluster.Eventually(fmt.Sprint(n, " pods of ", name, " run"), patience, cluster.PodsRun(name, n))
	}
	cluster.Note("all run on %d nodes", len(cluster.Nodes()))
	placedAsMeant(t, cluster)

	// That kube-scheduler bound them proves most; what follows is that the pods really asked for it.
	where := func(name, label string) map[string]int {
		counts := map[string]int{}
		for _, pod := range cluster.Pods(name) {
			counts[cluster.Node(pod.Spec.NodeName).Labels[label]]++
		}
		return counts
	}
	for _, n := range where("spread", corev1.LabelTopologyZone) {
		if n != 3 {
			t.Errorf("zones hold %v of the pods that spread, want 3 each", where("spread", corev1.LabelTopologyZone))
			break
		}
	}
	if got := where("apart", corev1.LabelHostname); len(got) != 4 {
		t.Errorf("the 4 pods that keep apart are on %v", got)
	}
	if got := where("together", corev1.LabelTopologyZone); len(got) != 1 {
		t.Errorf("the pods that keep together are in %v", got)
	}
	if got := where("blue", v1.NodePoolLabelKey); got["dedicated"] != 2 {
		t.Errorf("the blue pods are in pools %v", got)
	}
	if got := where("arm", corev1.LabelArchStable); got[v1.ArchitectureArm64] != 2 {
		t.Errorf("the pods for arm64 are on %v", got)
	}

	// The disk holds its pod to its zone, also after the pod had gone.
	zone := func() string {
		return cluster.Node(cluster.Pods("store")[0].Spec.NodeName).Labels[corev1.LabelTopologyZone]
	}
	before := zone()
	cluster.Scale("store", 0)
	cluster.Eventually("the pod with a disk is gone", patience, cluster.PodsRun("store", 0))
	cluster.Scale("store", 1)
	cluster.Eventually("the pod with a disk is back", patience, cluster.PodsRun("store", 1))
	if got := zone(); got != before {
		t.Errorf("the pod with a disk in %s is in %s", before, got)
	}
}

// TestLimitsAndWeights fills the pool with the greater weight up to its limit, then the other, and leaves waiting what has no
// room in either.
func TestLimitsAndWeights(t *testing.T) {
	cluster := server.Start(t, harness.Options{})
	startController(t, cluster, reconcilers.Options{})
	limit := func(cpu string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
	}
	for name, weight := range map[string]int32{"first": 50, "second": 10} {
		pool := harness.NodePool(name)
		pool.Spec.Weight = &weight
		pool.Spec.Limits = limit("8")
		cluster.CreateNodePool(pool)
	}
	cluster.CreateDeployment("web", 30, harness.Pod("1", "1Gi"))
	const smallest = 2 // cores of the smallest instance that a pod has room on
	capacity := func() map[string]int64 {
		sum := map[string]int64{}
		for _, node := range cluster.Nodes() {
			sum[node.Labels[v1.NodePoolLabelKey]] += node.Status.Capacity.Cpu().Value()
		}
		return sum
	}
	cluster.Eventually("both pools are full", patience, func() (bool, string) {
		c := capacity()
		return c["first"] > 8-smallest && c["second"] > 8-smallest, fmt.Sprint("cores ", c)
	})
	cluster.Never("a pool has outgrown its limit", 3*time.Second, func() (bool, string) {
		c := capacity()
		return c["first"] > 8 || c["second"] > 8, fmt.Sprint("cores ", c)
	})
	cluster.Note("cores by pool: %v", capacity())
	// With more room in the second pool the rest comes up there.
	patchPool(t, cluster, "second", `{"spec":{"limits":{"cpu":"100"}}}`)
	cluster.Eventually("all pods run", patience, cluster.PodsRun("web", 30))
	if c := capacity(); c["first"] > 8 {
		t.Errorf("cores by pool are %v, the first is limited to 8", c)
	}
}

// poolsReady waits until the controller has found that the pools may launch.
func poolsReady(t *testing.T, cluster *harness.Cluster, names ...string) {
	t.Helper()
	for _, name := range names {
		cluster.Eventually("nodepool "+name+" is ready", patience, func() (bool, string) {
			pool, err := cluster.NodePools.Get(t.Context(), name, metav1.GetOptions{})
			if err != nil {
				return false, err.Error()
			}
			return pool.Conditions().IsTrue(v1.ConditionReady), fmt.Sprintf("%+v", pool.Status.Conditions)
		})
	}
}

// TestWeight has everything in the pool with the greater weight, though the other one's instances are cheaper.
func TestWeight(t *testing.T) {
	cluster := server.Start(t, harness.Options{})
	startController(t, cluster, reconcilers.Options{})
	dear := harness.NodePool("dear")
	dear.Spec.Weight = new(int32(10))
	dear.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{
		requirement(v1.CapacityTypeLabelKey, corev1.NodeSelectorOpIn, v1.CapacityTypeOnDemand),
	}
	cluster.CreateNodePool(dear)
	cluster.CreateNodePool(harness.NodePool("cheap"))
	poolsReady(t, cluster, "dear", "cheap") // one that is not is passed over
	cluster.CreateDeployment("web", 4, harness.Pod("1", "1Gi"))
	cluster.Eventually("the pods run", patience, cluster.PodsRun("web", 4))
	for _, node := range cluster.Nodes() {
		if pool := node.Labels[v1.NodePoolLabelKey]; pool != "dear" {
			t.Errorf("node %s is of pool %s, want the one with the greater weight", node.Name, pool)
		}
	}
}

// TestStockOut has no spot instance in any zone, and none at all in one: the pods come up on demand in the other zones.
func TestStockOut(t *testing.T) {
	cluster := server.Start(t, harness.Options{})
	cluster.Cloud.SetStock(0, func(o cloudprovider.OfferingKey) bool {
		return o.CapacityType == v1.CapacityTypeSpot || o.Zone == zoneA
	})
	startController(t, cluster, reconcilers.Options{})
	cluster.CreateNodePool(harness.NodePool("default"))
	cluster.CreateDeployment("web", 10, harness.Pod("1", "1Gi"))
	took := cluster.Eventually("the pods run", patience, cluster.PodsRun("web", 10))
	cluster.Eventually("nodes, claims and instances belong together", patience, cluster.Settled(-1))
	cluster.Note("all run after %s, %d calls for %d instances", took.Round(time.Millisecond), cluster.Cloud.Calls(fake.MethodCreate), len(cluster.Nodes()))
	for _, node := range cluster.Nodes() {
		if node.Labels[v1.CapacityTypeLabelKey] != v1.CapacityTypeOnDemand || node.Labels[corev1.LabelTopologyZone] == zoneA {
			t.Errorf("node %s is %s in %s", node.Name, node.Labels[v1.CapacityTypeLabelKey], node.Labels[corev1.LabelTopologyZone])
		}
	}
}

// TestNodeThatNeverRegisters has the first instance boot in silence: it is given up, ended and replaced.
func TestNodeThatNeverRegisters(t *testing.T) {
	var booted atomic.Int32
	silent := make(chan string, 1)
	cluster := server.Start(t, harness.Options{Behaviour: func(i fake.Instance) kubelet.Behaviour {
		first := booted.Add(1) == 1
		if first {
			silent <- i.ProviderID
		}
		return kubelet.Behaviour{NeverRegisters: first}
	}})
	startController(t, cluster, reconcilers.Options{Lifecycle: &provisioning.LifecycleOptions{LaunchTimeout: 5 * time.Minute, RegistrationTimeout: 10 * time.Second}})
	cluster.CreateNodePool(harness.NodePool("default"))
	cluster.CreateDeployment("web", 1, harness.Pod("1", "1Gi"))
	// On a busy machine the next one may be given up as well; there is never more than one that is not.
	oneAtATime := func(condition harness.Condition) harness.Condition {
		return func() (bool, string) {
			if n := len(slices.DeleteFunc(claimsOf(t, cluster), func(c v1.NodeClaim) bool { return c.DeletionTimestamp != nil })); n > 1 {
				t.Errorf("there are %d claims for one pod", n)
			}
			return condition()
		}
	}
	cluster.Eventually("the pod runs", patience, oneAtATime(cluster.PodsRun("web", 1)))
	cluster.Eventually("one instance is left", patience, oneAtATime(cluster.Settled(1)))
	if left := cluster.Cloud.Instances()[0]; left.ProviderID == <-silent {
		t.Error("the silent instance is the one that is left")
	}
	cluster.Note("the pod runs on instance number %d", booted.Load())
	removePools(t, cluster)
}

// TestKilledInMidLaunch kills the controller just before an instance is bought, and just after, before it knows, and starts
// another: every pod runs, no instance is without a claim, none was bought twice.
func TestKilledInMidLaunch(t *testing.T) {
	for _, stage := range []harness.CreateStage{harness.BeforeLaunch, harness.AfterLaunch} {
		t.Run(string(stage), func(t *testing.T) {
			cluster := server.Start(t, harness.Options{})
			pool := harness.NodePool("default")
			pool.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{
				requirement(fake.LabelInstanceCPU, corev1.NodeSelectorOpIn, "4"),
			}
			cluster.CreateNodePool(pool)
			first := startController(t, cluster, reconcilers.Options{})
			killed := make(chan string, 1)
			var launches atomic.Int32
			first.line.OnCreate(func(at harness.CreateStage, claim *v1.NodeClaim) {
				if at == stage && launches.Add(1) == 2 {
					first.line.Cut()
					killed <- claim.Name
				}
			})
			cluster.CreateDeployment("web", 12, harness.Pod("1", "1Gi"))
			select {
			case name := <-killed:
				cluster.Note("killed %s of nodeclaim %s, with %d instances", stage, name, len(cluster.Cloud.Instances()))
			case <-time.After(patience):
				t.Fatal("there was no second launch")
			}
			first.kill()
			startController(t, cluster, reconcilers.Options{})
			cluster.Eventually("the pods run", patience, cluster.PodsRun("web", 12))
			cluster.Eventually("nodes, claims and instances belong together", patience, cluster.Settled(4))
			bought := map[string]int{}
			for _, instance := range cluster.Cloud.Instances() {
				bought[instance.Tags[fake.TagNodeClaimUID]]++
			}
			for uid, n := range bought {
				if n != 1 {
					t.Errorf("nodeclaim %s has %d instances", uid, n)
				}
			}
			placedWell(t, cluster) // what the killed controller had to report may be lost with it
			removePools(t, cluster)
		})
	}
}

// TestAPIServerAway has the API server crash while instances come up: the controller goes on where it was.
func TestAPIServerAway(t *testing.T) {
	cluster := server.Start(t, harness.Options{Cloud: fake.Options{LaunchLatency: 3 * time.Second}})
	startController(t, cluster, reconcilers.Options{})
	cluster.CreateNodePool(harness.NodePool("default"))
	cluster.CreateDeployment("web", 10, harness.Pod("1", "1Gi"))
	cluster.Eventually("instances are on their way", patience, func() (bool, string) {
		return len(cluster.Cloud.Instances()) > 0, "none"
	})
	restartAPIServer(t, cluster, 2*time.Second)
	cluster.Eventually("the pods run", patience, cluster.PodsRun("web", 10))
	cluster.Eventually("nodes, claims and instances belong together", patience, cluster.Settled(-1))
	cluster.Scale("web", 20)
	cluster.Eventually("more pods run", patience, cluster.PodsRun("web", 20))
}

// TestDrainKeepsBudgets deletes a claim whose pods have a budget of one: they leave one at a time, each only when the one
// before runs elsewhere, and the instance goes last.
func TestDrainKeepsBudgets(t *testing.T) {
	const pods = 4
	cluster := server.Start(t, harness.Options{})
	startController(t, cluster, reconcilers.Options{})
	cluster.CreateNodePool(harness.NodePool("default"))
	cluster.CreateDeployment("web", pods, harness.Pod("1", "1Gi"))
	cluster.Eventually("the pods run", patience, cluster.PodsRun("web", pods))
	cluster.CreateBudget("web", 1)
	cluster.Eventually("the budget is counted", patience, cluster.BudgetAllows("web", pods, 1))
	old := map[types.UID]bool{}
	for _, pod := range cluster.Pods("web") {
		old[pod.UID] = true
	}
	claims, err := cluster.Claims()
	if err != nil {
		t.Fatal(err)
	}
	for i := range claims {
		if err := cluster.NodeClaims.Delete(t.Context(), claims[i].Name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	least := pods
	cluster.Eventually("all pods are elsewhere", patience, func() (bool, string) {
		running, moved := 0, 0
		for _, pod := range cluster.Pods("web") {
			if harness.Running(pod) {
				running++
				if !old[pod.UID] {
					moved++
				}
			}
		}
		least = min(least, running)
		return moved == pods, fmt.Sprintf("%d of %d", moved, pods)
	})
	if least < pods-1 {
		t.Errorf("only %d of %d pods ran at one time, the budget allows one to be away", least, pods)
	}
	gone := func(i int) harness.Condition {
		return func() (bool, string) {
			now, err := cluster.Claims()
			if err != nil {
				return false, err.Error()
			}
			return !slices.ContainsFunc(now, func(c v1.NodeClaim) bool { return c.UID == claims[i].UID }) &&
				cluster.Node(claims[i].Status.NodeName) == nil, "it is there"
		}
	}
	for i := range claims {
		cluster.Eventually("nodeclaim "+claims[i].Name+" is gone", patience, gone(i))
	}
	cluster.Eventually("nodes, claims and instances belong together", patience, cluster.Settled(-1))
	cluster.Note("drained; at least %d of %d pods ran all the time", least, pods)
}

// podsNow are the pods of the test's namespace as the API server has them.
func podsNow(t *testing.T, cluster *harness.Cluster) []corev1.Pod {
	t.Helper()
	var list *corev1.PodList
	cluster.Retry("listing pods", func() (err error) {
		list, err = cluster.Client.CoreV1().Pods(cluster.Namespace).List(t.Context(), metav1.ListOptions{})
		return err
	})
	return list.Items
}

// TestFinalizers deletes a node by hand: it stays until its pods have ended and its instance is on its way out; its claim goes
// with it.
func TestFinalizers(t *testing.T) {
	cluster := server.Start(t, harness.Options{})
	startController(t, cluster, reconcilers.Options{})
	cluster.CreateNodePool(harness.NodePool("default"))
	slow := harness.Pod("1", "1Gi")
	slow.Annotations = map[string]string{kubelet.StopsAfter: "2s"}
	slow.Spec.TerminationGracePeriodSeconds = new(int64(10))
	cluster.CreateDeployment("slow", 2, slow)
	cluster.Eventually("the pods run", patience, cluster.PodsRun("slow", 2))
	cluster.Eventually("nodes, claims and instances belong together", patience, cluster.Settled(-1))
	node := cluster.Nodes()[0]
	claims, err := cluster.Claims()
	if err != nil {
		t.Fatal(err)
	}
	for i := range claims {
		if !slices.Contains(claims[i].Finalizers, v1.TerminationFinalizer) {
			t.Errorf("nodeclaim %s has finalizers %v", claims[i].Name, claims[i].Finalizers)
		}
	}
	if !slices.Contains(node.Finalizers, v1.TerminationFinalizer) {
		t.Errorf("node %s has finalizers %v", node.Name, node.Finalizers)
	}
	before := map[types.UID]bool{}
	for _, pod := range cluster.OnNode(node.Name) {
		before[pod.UID] = true
	}
	if err := cluster.Client.CoreV1().Nodes().Delete(t.Context(), node.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually("the node is gone", patience, func() (bool, string) {
		if cluster.Node(node.Name) == nil {
			// Asked for after the node was seen to be gone: hooks of the cloud are called when others may know already.
			if instance, there := cluster.Cloud.Instance(node.Spec.ProviderID); there {
				t.Errorf("the node is removed and its instance is %s", instance.Phase)
			}
			return true, ""
		}
		for _, instance := range cluster.Cloud.Instances() {
			if instance.NodeName == node.Name && instance.Phase != fake.Running {
				for _, pod := range podsNow(t, cluster) { // read after the instance's end was seen, and not from a watch, which may be late
					if before[pod.UID] {
						t.Errorf("the instance was ended while pod %s was on it", pod.Name)
					}
				}
			}
		}
		return false, "it is there"
	})
	cluster.Eventually("the pods run elsewhere", patience, cluster.PodsRun("slow", 2))
	cluster.Eventually("nodes, claims and instances belong together", patience, cluster.Settled(-1))
	for _, instance := range cluster.Cloud.Instances() {
		if instance.NodeName == node.Name {
			t.Errorf("instance %s of the deleted node is %s", instance.ProviderID, instance.Phase)
		}
	}
}

// TestScaleUp brings up 5,000 pods on some 200 nodes and says how long that took; in the short form a twentieth of that.
func TestScaleUp(t *testing.T) {
	replicas, least := 5000, 190
	if testing.Short() {
		replicas, least = 250, 10
	}
	cluster := server.Start(t, harness.Options{Cloud: fake.Options{LaunchLatency: 2 * time.Second}})
	pool := harness.NodePool("default")
	pool.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{
		requirement(corev1.LabelInstanceTypeStable, corev1.NodeSelectorOpIn, "m1.2xlarge"), // 8 cores: 25 pods and no more
	}
	cluster.CreateNodePool(pool)
	startController(t, cluster, reconcilers.Options{})
	began := time.Now()
	cluster.CreateDeployment("web", int32(replicas), harness.Pod("310m", "64Mi"))
	count := func(is func(*corev1.Pod) bool) harness.Condition {
		return cluster.PodsAre("web", replicas, "so far", is)
	}
	allow := patience + time.Duration(replicas)*100*time.Millisecond
	for _, step := range []struct {
		what string
		is   func(*corev1.Pod) bool
	}{
		{"exist", func(*corev1.Pod) bool { return true }},
		{"are bound", func(pod *corev1.Pod) bool { return pod.Spec.NodeName != "" }},
		{"run", harness.Running},
	} {
		cluster.Eventually(fmt.Sprintf("%d pods %s", replicas, step.what), allow, count(step.is))
		cluster.Note("%d pods %s after %.1f s, on %d nodes", replicas, step.what, time.Since(began).Seconds(), len(cluster.Nodes()))
	}
	cluster.Eventually("nodes, claims and instances belong together", patience, cluster.Settled(-1))
	placedAsMeant(t, cluster)
	if n := len(cluster.Nodes()); n < least || n > least+least/10+1 {
		t.Errorf("%d nodes for %d pods, want %d to %d", n, replicas, least, least+least/10+1)
	}
}
