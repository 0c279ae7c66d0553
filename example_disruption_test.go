package drawknife_test

import (
	"context"
	"fmt"
	"log"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/fake"
	"github.com/drawknife/drawknife/scheduling"
)

// Which of four nodes could go, and why the others stay. Nodes and claims are made up here; those of a cluster come from
// scheduling/cluster, those of files from scheduling/manifests.
func Example_disruption() {
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	pool.Spec.Disruption.Budgets = []v1.Budget{{Nodes: "100%"}} // left out, a tenth of the nodes may go at a time
	now := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	types := fake.GenericTypes(60)
	snapshot := &scheduling.Snapshot{
		Time:       now,
		Vocabulary: fake.GenericCapabilities().Vocabulary,
		Catalogs:   map[string][]*cloudprovider.InstanceType{"generic": types},
		NodePools:  []scheduling.NodePool{{Object: pool, Catalog: "generic"}},
	}
	batch := running("batch-0", "1")
	batch.Annotations = map[string]string{v1.DoNotDisruptAnnotationKey: "true"}
	for name, pods := range map[string][]*corev1.Pod{
		"busy":  {batch},
		"half":  {running("web-0", "1"), running("web-1", "1")},
		"idle":  nil,
		"other": {running("web-2", "1")},
	} {
		snapshot.Nodes = append(snapshot.Nodes, machine(name, types[20], now.Add(-24*time.Hour), pods...))
	}

	fleet, err := disruption.Survey(disruption.Input{View: disruption.ViewOf(snapshot)})
	if err != nil {
		log.Fatal(err)
	}
	plan, err := (&disruption.Global{}).Plan(context.Background(), fleet)
	if err != nil {
		log.Fatal(err)
	}
	for _, command := range plan.Commands {
		fmt.Println(command)
	}
	for _, verdict := range plan.Verdicts { // one for each node, by name
		fmt.Println(verdict)
	}
	// Output:
	// delete idle (Empty), moving 0 pods, saving 0.0414 USD/h
	// replace half, other (Underutilized), launch c1g.xlarge/test-region-1a/spot of default, moving 3 pods, saving 0.0456 USD/h
	// busy stays: pod shop/batch-0 must not be disrupted (annotation karpenter.sh/do-not-disrupt)
	// half is replaced by MultiNodeConsolidation
	// idle is removed by Emptiness
	// other is replaced by MultiNodeConsolidation
}

// machine is an initialized, ready on-demand node of the pool "default", with the NodeClaim that it was made for.
func machine(name string, t *cloudprovider.InstanceType, since time.Time, pods ...*corev1.Pod) scheduling.Node {
	meta := metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(since), Labels: map[string]string{
		v1.NodePoolLabelKey: "default", v1.NodeRegisteredLabelKey: "true", v1.NodeInitializedLabelKey: "true",
		corev1.LabelInstanceTypeStable: t.Name, corev1.LabelTopologyZone: "test-region-1a",
		v1.CapacityTypeLabelKey: v1.CapacityTypeOnDemand,
	}}
	object, claim := &corev1.Node{ObjectMeta: meta}, &v1.NodeClaim{ObjectMeta: meta}
	object.Spec.ProviderID = "example://" + name
	object.Status = corev1.NodeStatus{
		Capacity: t.Capacity, Allocatable: t.Allocatable(),
		Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
	}
	claim.Status.ProviderID = object.Spec.ProviderID
	claim.Conditions().SetTrue(v1.ConditionInitialized, since)
	node := scheduling.JoinNode(object, claim)
	for _, pod := range pods {
		pod.Spec.NodeName = name
	}
	node.Pods = pods
	return node
}

// running is a pod that a ReplicaSet would make anew.
func running(name, cpu string) *corev1.Pod {
	controller := true
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "web", Controller: &controller},
		}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)},
		}}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
}
