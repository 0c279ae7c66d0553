package e2e_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/examples/controller/kubelet"
	"github.com/drawknife/drawknife/fake"
	"github.com/drawknife/drawknife/internal/e2e/harness"
)

// These tests are about the harness: what a controller's tests take for granted. There is no controller in them; launch and
// remove do its part.

// Zones of the fake cloud.
const (
	zoneA = fake.GenericRegion + "a"
	zoneB = fake.GenericRegion + "b"
	zoneC = fake.GenericRegion + "c"
)

// launch buys an instance as a controller would.
func launch(t *testing.T, cluster *harness.Cluster, name, zone string) *v1.NodeClaim {
	t.Helper()
	claim, err := cluster.Cloud.Create(t.Context(), claimFor(name, zone))
	if err != nil {
		t.Fatal(err)
	}
	return claim
}

func claimFor(name, zone string) *v1.NodeClaim {
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}}
	claim.Spec.NodeClassRef = v1.NodeClassReference{Group: fake.NodeClassGroup, Kind: fake.NodeClassKind, Name: "default"}
	claim.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{
		{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{zone}},
		{Key: corev1.LabelInstanceTypeStable, Operator: corev1.NodeSelectorOpIn, Values: []string{"m1.2xlarge"}},
	}
	return claim
}

// welcome takes the taint off new nodes, as a controller does when it has found the node of its claim.
func welcome(t *testing.T, cluster *harness.Cluster, count int) {
	t.Helper()
	welcomed := map[string]bool{}
	cluster.Eventually(fmt.Sprintf("%d nodes are ready", count), patience, func() (bool, string) {
		ready := 0
		for _, node := range cluster.Nodes() {
			if !welcomed[node.Name] && slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool { return taint.Key == v1.UnregisteredTaintKey }) {
				kept := slices.DeleteFunc(slices.Clone(node.Spec.Taints), func(taint corev1.Taint) bool { return taint.Key == v1.UnregisteredTaintKey })
				changed := node.DeepCopy()
				changed.Spec.Taints = kept
				if _, err := cluster.Client.CoreV1().Nodes().Update(t.Context(), changed, metav1.UpdateOptions{}); err == nil {
					welcomed[node.Name] = true
				}
			}
			if len(node.Spec.Taints) == 0 {
				ready++
			}
		}
		return ready == count, fmt.Sprintf("%d of %d", ready, count)
	})
}

// TestPodsRunOnMachinesOfTheCloud follows a pod from "nobody has room" to running on an instance of the fake cloud, bound
// there by kube-scheduler; the end of the instance, and of its node, is the end of the pod there.
func TestPodsRunOnMachinesOfTheCloud(t *testing.T) {
	cluster := server.Start(t, harness.Options{})
	cluster.CreateDeployment("web", 12, harness.Pod("1", "1Gi"))
	cluster.Eventually("there is no room", patience, cluster.PodsUnschedulable("web", 12))
	cluster.Note("12 pods unschedulable")

	first := launch(t, cluster, "first", zoneA)
	launch(t, cluster, "second", zoneB)
	cluster.Eventually("the nodes have registered", patience, func() (bool, string) {
		return len(cluster.Nodes()) == 2, fmt.Sprint(len(cluster.Nodes()))
	})
	for _, node := range cluster.Nodes() {
		if !slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool { return taint.Key == v1.UnregisteredTaintKey }) {
			t.Errorf("node %s registered with taints %v, want %s among them", node.Name, node.Spec.Taints, v1.UnregisteredTaintKey)
		}
	}
	welcome(t, cluster, 2)
	cluster.Note("2 nodes ready")
	cluster.Eventually("the pods run", patience, cluster.PodsRun("web", 12))
	cluster.Note("12 pods running")

	nodes := cluster.Nodes()
	i := slices.IndexFunc(nodes, func(node *corev1.Node) bool { return node.Spec.ProviderID == first.Status.ProviderID })
	if i < 0 {
		t.Fatalf("no node has provider ID %q as the claim says", first.Status.ProviderID)
	}
	node := nodes[i]
	lost := cluster.OnNode(node.Name)
	if len(lost) == 0 {
		t.Fatalf("no pod is on node %s", node.Name)
	}
	if err := cluster.Cloud.Delete(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually("the instance is gone", patience, func() (bool, string) {
		return len(cluster.Cloud.Instances()) == 1, fmt.Sprint(cluster.Cloud.Instances())
	})
	if err := cluster.Client.CoreV1().Nodes().Delete(t.Context(), node.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually("its pods are gone, and others wait in their place", patience, func() (bool, string) {
		return len(cluster.OnNode(node.Name)) == 0 && len(cluster.Pods("web")) == 12, fmt.Sprint(len(cluster.OnNode(node.Name)), " pods on the node")
	})
	cluster.Note("%d pods lost with their instance and replaced", len(lost))
}

// TestKubeletsThatDisappoint has instances that register never, late, and with less than was promised.
func TestKubeletsThatDisappoint(t *testing.T) {
	less := corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}
	cluster := server.Start(t, harness.Options{Behaviour: func(i fake.Instance) kubelet.Behaviour {
		switch i.Offering.Zone {
		case zoneA:
			return kubelet.Behaviour{NeverRegisters: true}
		case zoneB:
			return kubelet.Behaviour{RegisterAfter: time.Second, ReadyAfter: time.Second}
		}
		return kubelet.Behaviour{Less: less}
	}})
	for _, zone := range fake.GenericZones() {
		launch(t, cluster, "in-"+zone, zone)
	}
	welcome(t, cluster, 2)
	instances := cluster.Cloud.Instances()
	if len(instances) != 3 || len(cluster.Kubelets.Running()) != 3 {
		t.Errorf("there are %d instances and %d kubelets, want 3", len(instances), len(cluster.Kubelets.Running()))
	}
	for _, instance := range instances {
		node := cluster.Node(instance.NodeName)
		if instance.Offering.Zone == zoneA {
			if node != nil {
				t.Errorf("an instance that never registers has a node")
			}
			continue
		}
		want := instance.Allocatable.Memory().DeepCopy()
		if instance.Offering.Zone == zoneC {
			want.Sub(less[corev1.ResourceMemory])
		}
		if got := node.Status.Allocatable.Memory(); got.Cmp(want) != 0 {
			t.Errorf("in %s a node has %s of memory, want %s", instance.Offering.Zone, got, &want)
		}
	}
}

// TestEvictionsKeepBudgets checks that the eviction API and the disruption controller are there: 429 while a budget has no room.
func TestEvictionsKeepBudgets(t *testing.T) {
	cluster := server.Start(t, harness.Options{})
	cluster.CreateDeployment("web", 4, harness.Pod("1", "1Gi"))
	launch(t, cluster, "one", zoneA)
	welcome(t, cluster, 1)
	cluster.Eventually("the pods run", patience, cluster.PodsRun("web", 4))

	budgets := cluster.Client.PolicyV1().PodDisruptionBudgets(cluster.Namespace)
	cluster.CreateBudget("web", 0)
	cluster.Eventually("the budget allows nothing", patience, cluster.BudgetAllows("web", 4, 0))
	victim := cluster.Pods("web")[0]
	evict := func() error {
		return cluster.Client.PolicyV1().Evictions(cluster.Namespace).Evict(t.Context(), &policyv1.Eviction{
			ObjectMeta: metav1.ObjectMeta{Name: victim.Name, Namespace: cluster.Namespace},
		})
	}
	if err := evict(); !apierrors.IsTooManyRequests(err) || !apierrors.HasStatusCause(err, policyv1.DisruptionBudgetCause) {
		t.Fatalf("eviction within a full budget: got %v, want 429 with the budget as its cause", err)
	}
	if _, err := budgets.Patch(t.Context(), "web", types.MergePatchType, []byte(`{"spec":{"maxUnavailable":1}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually("the budget allows one", patience, cluster.BudgetAllows("web", 4, 1))
	if err := evict(); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually("another pod runs instead", patience, func() (bool, string) {
		done, seen := cluster.PodsRun("web", 4)()
		return done && !slices.ContainsFunc(cluster.Pods("web"), func(p *corev1.Pod) bool { return p.UID == victim.UID }), seen
	})
}

// TestAPIServerRestarts checks that everything around the API server goes on after it was away: kube-scheduler, the
// controllers, and our kubelets.
func TestAPIServerRestarts(t *testing.T) {
	cluster := server.Start(t, harness.Options{})
	launch(t, cluster, "one", zoneA)
	welcome(t, cluster, 1)
	cluster.CreateDeployment("web", 2, harness.Pod("1", "1Gi"))
	cluster.Eventually("the pods run", patience, cluster.PodsRun("web", 2))
	restartAPIServer(t, cluster, 2*time.Second)
	cluster.Scale("web", 4)
	cluster.Eventually("more pods run", patience, cluster.PodsRun("web", 4))
	cluster.Note("scaled up after the restart")
}

// restartAPIServer has the API server crash, be away for a time, and come back.
func restartAPIServer(t *testing.T, cluster *harness.Cluster, away time.Duration) {
	t.Helper()
	cluster.Plane.KillAPIServer()
	if _, err := cluster.Client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{}); err == nil {
		t.Error("the API server answers after its death")
	}
	time.Sleep(away)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	began := time.Now()
	if err := cluster.Plane.StartAPIServer(ctx); err != nil {
		t.Fatal(err)
	}
	cluster.Note("API server back in %s after %s away", time.Since(began).Round(time.Millisecond), away)
}

// TestWorkloadsOfOtherKinds runs daemon sets, jobs and volumes: a disk is made in the zone of the node that kube-scheduler
// chose, attached, and holds its pod to that zone.
func TestWorkloadsOfOtherKinds(t *testing.T) {
	cluster := server.Start(t, harness.Options{})
	for i, zone := range fake.GenericZones() {
		launch(t, cluster, fmt.Sprint("machine-", i), zone)
	}
	welcome(t, cluster, 3)
	template := harness.Pod("100m", "64Mi")
	template.Labels = harness.Labels("agent")
	if _, err := cluster.Client.AppsV1().DaemonSets(cluster.Namespace).Create(t.Context(), &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Name: "agent"},
		Spec:       appsv1.DaemonSetSpec{Selector: &metav1.LabelSelector{MatchLabels: harness.Labels("agent")}, Template: template},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually("the daemon set is on all nodes", patience, cluster.PodsRun("agent", 3))

	job := harness.Pod("100m", "64Mi")
	job.Annotations = map[string]string{kubelet.CompletesAfter: "200ms"}
	job.Spec.RestartPolicy = corev1.RestartPolicyNever
	if _, err := cluster.Client.BatchV1().Jobs(cluster.Namespace).Create(t.Context(), &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "job"},
		Spec:       batchv1.JobSpec{Completions: new(int32(2)), Parallelism: new(int32(2)), Template: job},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually("the job is complete", patience, func() (bool, string) {
		j, err := cluster.Client.BatchV1().Jobs(cluster.Namespace).Get(t.Context(), "job", metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		return j.Status.Succeeded == 2, fmt.Sprintf("%+v", j.Status)
	})

	class := createStorageClass(t, cluster)
	createClaim(t, cluster, class, "data")
	cluster.CreateDeployment("store", 1, withVolume(harness.Pod("100m", "64Mi"), "data"))
	cluster.Eventually("the pod with a volume runs", patience, cluster.PodsRun("store", 1))
	claim, err := cluster.Client.CoreV1().PersistentVolumeClaims(cluster.Namespace).Get(t.Context(), "data", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	volume, err := cluster.Client.CoreV1().PersistentVolumes().Get(t.Context(), claim.Spec.VolumeName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	node := cluster.Node(cluster.Pods("store")[0].Spec.NodeName)
	zone := node.Labels[corev1.LabelTopologyZone]
	if got := volume.Spec.NodeAffinity.Required.NodeSelectorTerms[0].MatchExpressions[0].Values; len(got) != 1 || got[0] != zone {
		t.Errorf("the volume is in %v, want the pod's zone %s", got, zone)
	}
	attached := func(want int) harness.Condition {
		return func() (bool, string) {
			list, err := cluster.Client.StorageV1().VolumeAttachments().List(t.Context(), metav1.ListOptions{})
			if err != nil {
				return false, err.Error()
			}
			n := 0
			for _, a := range list.Items {
				if of := a.Spec.Source.PersistentVolumeName; of != nil && *of == volume.Name && a.Status.Attached && a.Spec.NodeName == node.Name {
					n++
				}
			}
			return n == want, fmt.Sprintf("%d attachments", n)
		}
	}
	cluster.Eventually("the volume is attached", patience, attached(1))
	cluster.Scale("store", 0)
	cluster.Eventually("the volume is detached", patience, attached(0))
}

// createStorageClass makes the class of disks that are made where their pod goes. It belongs to no namespace, and is removed
// with the test.
func createStorageClass(t *testing.T, cluster *harness.Cluster) string {
	t.Helper()
	name := "disk-" + cluster.Namespace
	classes := cluster.Client.StorageV1().StorageClasses()
	if _, err := classes.Create(t.Context(), &storagev1.StorageClass{
		ObjectMeta:        metav1.ObjectMeta{Name: name},
		Provisioner:       kubelet.StorageDriver,
		VolumeBindingMode: new(storagev1.VolumeBindingWaitForFirstConsumer),
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = classes.Delete(context.Background(), name, metav1.DeleteOptions{}) })
	return name
}

func createClaim(t *testing.T, cluster *harness.Cluster, class, name string) {
	t.Helper()
	if _, err := cluster.Client.CoreV1().PersistentVolumeClaims(cluster.Namespace).Create(t.Context(), &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: &class,
			AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceStorage: resource.MustParse("1Gi"),
			}},
		},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func withVolume(template corev1.PodTemplateSpec, claim string) corev1.PodTemplateSpec {
	template.Spec.Volumes = append(template.Spec.Volumes, corev1.Volume{Name: claim, VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
	}})
	return template
}

// TestGracePeriods checks that a pod takes the time it asks for to end, and no more than its grace. On a busy machine it may take
// longer by any time, but not that of a grace which is longer than the test waits.
func TestGracePeriods(t *testing.T) {
	cluster := server.Start(t, harness.Options{})
	launch(t, cluster, "one", zoneA)
	welcome(t, cluster, 1)
	long := int64(10 * patience / time.Second)
	for name, c := range map[string]struct {
		stops string
		grace int64
		least time.Duration // deletion is noted to the second
	}{
		"quick": {stops: "0s", grace: long}, "within": {stops: "2s", grace: long, least: time.Second}, "beyond": {stops: "1h", grace: 3, least: 2 * time.Second},
	} {
		template := harness.Pod("100m", "64Mi")
		template.Labels = harness.Labels(name)
		template.Annotations = map[string]string{kubelet.StopsAfter: c.stops}
		template.Spec.TerminationGracePeriodSeconds = &c.grace
		if _, err := cluster.Client.CoreV1().Pods(cluster.Namespace).Create(t.Context(), &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: template.Labels, Annotations: template.Annotations}, Spec: template.Spec,
		}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		cluster.Eventually(name+" runs", patience, cluster.PodsRun(name, 1))
		told := time.Now()
		if err := cluster.Client.CoreV1().Pods(cluster.Namespace).Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		cluster.Eventually(name+" is gone", patience, func() (bool, string) { return len(cluster.Pods(name)) == 0, "there" })
		if took := time.Since(told); took < c.least {
			t.Errorf("pod %s took %s to end, want no less than %s", name, took, c.least)
		}
	}
	if !strings.HasPrefix(cluster.Namespace, "testgraceperiods-") {
		t.Errorf("the namespace is %q, want the test's name", cluster.Namespace)
	}
}
