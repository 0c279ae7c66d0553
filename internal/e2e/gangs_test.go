package e2e_test

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/examples/controller/kubelet"
	"github.com/drawknife/drawknife/examples/controller/reconcilers"
	"github.com/drawknife/drawknife/fake"
	"github.com/drawknife/drawknife/internal/e2e/harness"
	"github.com/drawknife/drawknife/internal/e2e/plane"
	"github.com/drawknife/drawknife/provisioning"
)

// batchServer is a control plane whose scheduler binds the pods of a PodGroup together or not at all. The API is a beta, and off by
// default; topology constraints are an alpha.
var batchServer = harness.Server{Options: plane.Options{
	FeatureGates:  []string{"GenericWorkload=true", "TopologyAwareWorkloadScheduling=true"},
	RuntimeConfig: []string{"scheduling.k8s.io/v1beta1=true"},
}}

// gangMembers are those of the gangs here; each needs an instance of gangType, and a second one has no room there.
const (
	gangMembers = 4
	gangType    = "m1.2xlarge" // 8 cores
)

// gangMember is the template of the members of a PodGroup.
func gangMember(group string) corev1.PodTemplateSpec {
	member := harness.Pod("5", "1Gi")
	member.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: &group}
	return member
}

// createGang creates a PodGroup that needs all members at once, with constraints of topology or without, and a Job of its members
// that run for some time.
func createGang(t *testing.T, cluster *harness.Cluster, name string, runs time.Duration, topology ...string) {
	t.Helper()
	group := &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: name}}
	group.Spec.SchedulingPolicy.Gang = &schedulingv1beta1.GangSchedulingPolicy{MinCount: gangMembers}
	for _, key := range topology {
		group.Spec.SchedulingConstraints = &schedulingv1beta1.PodGroupSchedulingConstraints{
			Topology: []schedulingv1beta1.TopologyConstraint{{Key: key}},
		}
	}
	if _, err := cluster.Client.SchedulingV1beta1().PodGroups(cluster.Namespace).Create(t.Context(), group, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	createJob(t, cluster, name, gangMembers, runs, gangMember(name))
}

// createJob creates a Job of pods that run side by side for some time. They have Labels(name) in addition to the template's own.
func createJob(t *testing.T, cluster *harness.Cluster, name string, pods int32, runs time.Duration, template corev1.PodTemplateSpec) {
	t.Helper()
	template.Labels = harness.Labels(name)
	template.Annotations = map[string]string{kubelet.CompletesAfter: runs.String()}
	template.Spec.RestartPolicy = corev1.RestartPolicyNever
	if _, err := cluster.Client.BatchV1().Jobs(cluster.Namespace).Create(t.Context(), &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       batchv1.JobSpec{Completions: &pods, Parallelism: &pods, Template: template},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// jobComplete is the condition that a Job has ended well.
func jobComplete(t *testing.T, cluster *harness.Cluster, name string) harness.Condition {
	return func() (bool, string) {
		job, err := cluster.Client.BatchV1().Jobs(cluster.Namespace).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		complete := slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
			return c.Type == batchv1.JobComplete && c.Status == corev1.ConditionTrue
		})
		return complete, fmt.Sprintf("%+v", job.Status)
	}
}

// groupScheduled is the condition that kube-scheduler says of a PodGroup that it was placed, or why it was not.
func groupScheduled(t *testing.T, cluster *harness.Cluster, name string, want metav1.ConditionStatus) harness.Condition {
	return func() (bool, string) {
		group, err := cluster.Client.SchedulingV1beta1().PodGroups(cluster.Namespace).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		c := meta.FindStatusCondition(group.Status.Conditions, schedulingv1beta1.PodGroupInitiallyScheduled)
		return c != nil && c.Status == want, fmt.Sprintf("%+v", group.Status.Conditions)
	}
}

// bound are the pods of a workload that kube-scheduler has bound to nodes.
func bound(cluster *harness.Cluster, workload string) int {
	n := 0
	for _, pod := range cluster.Pods(workload) {
		if pod.Spec.NodeName != "" {
			n++
		}
	}
	return n
}

// open are the nodes that pods may be bound to.
func open(cluster *harness.Cluster) int {
	n := 0
	for _, node := range cluster.Nodes() {
		if !slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool { return taint.Effect != corev1.TaintEffectPreferNoSchedule }) {
			n++
		}
	}
	return n
}

// batchOptions are of a controller in a hurry that knows gangs. Nodes that it has planned are nominated for twice the longest batch.
func batchOptions() reconcilers.Options {
	options := hasty()
	options.Features.Gangs = true
	options.Batch = &provisioning.BatchOptions{Idle: time.Second, Max: 5 * time.Second}
	return options
}

// TestSchedulerJudgesGangs is about the judge: with three nodes for four members kube-scheduler binds none, with four it binds all.
func TestSchedulerJudgesGangs(t *testing.T) {
	cluster := batchServer.Start(t, harness.Options{Types: gangTypes()})
	createGang(t, cluster, "train", time.Hour)
	for i := range gangMembers - 1 {
		launch(t, cluster, fmt.Sprint("machine-", i), zoneA)
	}
	welcome(t, cluster, gangMembers-1)
	cluster.Eventually("the scheduler finds no place for the group", patience, groupScheduled(t, cluster, "train", metav1.ConditionFalse))
	cluster.Never("a member is bound though not all can be", 3*time.Second, func() (bool, string) {
		n := bound(cluster, "train")
		return n > 0, fmt.Sprint(n)
	})
	launch(t, cluster, "the-last", zoneB)
	welcome(t, cluster, gangMembers)
	cluster.Eventually("all members run", patience, cluster.PodsRun("train", gangMembers))
	cluster.Eventually("the scheduler says so", patience, groupScheduled(t, cluster, "train", metav1.ConditionTrue))
}

// gangTypes have room for one member each.
func gangTypes() []*cloudprovider.InstanceType {
	return slices.DeleteFunc(fake.GenericTypes(60), func(it *cloudprovider.InstanceType) bool { return it.Name != gangType })
}

// TestGangIsBoundAsPlanned has a PodGroup planned as a whole in one zone. Its nodes come up one after the other; kube-scheduler binds
// all members to them once the last has come, and none before. When the job has ended the nodes go.
func TestGangIsBoundAsPlanned(t *testing.T) {
	var booted atomic.Int32
	cluster := batchServer.Start(t, harness.Options{Types: gangTypes(), Behaviour: func(fake.Instance) kubelet.Behaviour {
		return kubelet.Behaviour{ReadyAfter: time.Duration(booted.Add(1)) * time.Second}
	}})
	startController(t, cluster, batchOptions())
	cluster.CreateNodePool(consolidated("default", time.Second))
	poolsReady(t, cluster, "default")
	createGang(t, cluster, "train", 5*time.Second, corev1.LabelTopologyZone)
	cluster.Eventually("all members are bound", patience, func() (bool, string) {
		members, nodes := bound(cluster, "train"), open(cluster) // nodes after members: a node that opens in between counts
		if members > 0 && nodes < gangMembers {
			t.Errorf("%d members are bound when %d of %d nodes are open", members, nodes, gangMembers)
		}
		return members == gangMembers, fmt.Sprintf("%d members, %d open nodes", members, nodes)
	})
	cluster.Note("%d members are bound", gangMembers)
	cluster.Eventually("the scheduler says so", patience, groupScheduled(t, cluster, "train", metav1.ConditionTrue))
	zones, groups := map[string]int{}, map[string]int{}
	for _, node := range cluster.Nodes() {
		zones[node.Labels[corev1.LabelTopologyZone]]++
	}
	claims, err := cluster.Claims()
	if err != nil {
		t.Fatal(err)
	}
	for i := range claims {
		group, _ := v1.LaunchGroupOf(&claims[i])
		groups[group.Name]++
	}
	if len(zones) != 1 || len(groups) != 1 || len(claims) != gangMembers || groups[""] > 0 {
		t.Errorf("%d claims in zones %v and launch groups %v, want %d in one of each", len(claims), zones, groups, gangMembers)
	}
	placedAsMeant(t, cluster)
	cluster.Eventually("the job is complete", patience, jobComplete(t, cluster, "train"))
	took := cluster.Eventually("its nodes are gone", patience, cluster.Empty())
	cluster.Note("the job is complete, and after %s its nodes are gone", took.Round(time.Millisecond))
	if n := cluster.Bought(); n != gangMembers {
		t.Errorf("%d instances were launched, want %d", n, gangMembers)
	}
}

// TestGangBeyondTheLimit has a limit with room for three of four members: nothing is launched, and nothing is bound, until there is room
// for the fourth.
func TestGangBeyondTheLimit(t *testing.T) {
	cluster := batchServer.Start(t, harness.Options{Types: gangTypes()})
	options := reconcilers.Options{}
	options.Features.Gangs = true
	startController(t, cluster, options)
	pool := harness.NodePool("default")
	pool.Spec.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("24")}
	cluster.CreateNodePool(pool)
	poolsReady(t, cluster, "default")
	createGang(t, cluster, "train", time.Hour)
	told := func() (bool, string) {
		list, err := cluster.Client.EventsV1().Events(cluster.Namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return false, err.Error()
		}
		for i := range list.Items {
			if note := list.Items[i].Note; strings.Contains(note, "gang "+cluster.Namespace+"/train has no place: 3 of 4 members fit") {
				return true, note
			}
		}
		return false, fmt.Sprint(len(list.Items), " events")
	}
	cluster.Eventually("the controller says that three would fit", patience, told)
	_, note := told()
	cluster.Note("told: %s", note)
	cluster.Eventually("the scheduler finds no place either", patience, groupScheduled(t, cluster, "train", metav1.ConditionFalse))
	cluster.Never("a node is launched, or a member bound", 3*time.Second, func() (bool, string) {
		n, bought := bound(cluster, "train"), cluster.Bought()
		return n+bought > 0, fmt.Sprintf("%d members bound, %d instances", n, bought)
	})
	patchPool(t, cluster, "default", `{"spec":{"limits":{"cpu":"32"}}}`)
	cluster.Eventually("all members run", patience, cluster.PodsRun("train", gangMembers))
	cluster.Eventually("nodes, claims and instances belong together", patience, cluster.Settled(gangMembers))
}
