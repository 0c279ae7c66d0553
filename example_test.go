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
	"github.com/drawknife/drawknife/fake"
	"github.com/drawknife/drawknife/scheduling"
)

// Plan nodes for 13 pending pods: the NodePool allows spot only, which one of them does not want, and the instance types
// are a made-up catalogue.
func Example() {
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	pool.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{
		{Key: v1.CapacityTypeLabelKey, Operator: corev1.NodeSelectorOpIn, Values: []string{v1.CapacityTypeSpot}},
	}

	pods := []*corev1.Pod{pod("train", "2", "8Gi")}
	pods[0].Spec.NodeSelector = map[string]string{v1.CapacityTypeLabelKey: v1.CapacityTypeOnDemand}
	for i := range 12 {
		pods = append(pods, pod(fmt.Sprintf("web-%d", i), "1500m", "4Gi"))
	}

	model, err := scheduling.Compile(&scheduling.Snapshot{
		Time:       time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC),
		Vocabulary: fake.GenericCapabilities().Vocabulary,
		Catalogs:   map[string][]*cloudprovider.InstanceType{"generic": fake.GenericTypes(60)},
		NodePools:  []scheduling.NodePool{{Object: pool, Catalog: "generic"}},
		Pods:       pods,
	})
	if err != nil {
		log.Fatal(err)
	}
	plan, err := model.Solve(context.Background(), scheduling.Query{})
	if err != nil {
		log.Fatal(err)
	}

	for _, node := range plan.NewNodes {
		best := node.InstanceTypes[0]
		fmt.Printf("%s: %s in %s, %s, $%.4f/h, %d pods\n",
			node.Name, best.Name, best.Zone, best.CapacityType, best.Price, len(node.Pods))
	}
	for _, pod := range plan.Unschedulable {
		fmt.Println(pod.Pod, "has no place:")
		for _, reason := range pod.Reasons { // one for each NodePool
			fmt.Println("-", reason)
			if reason.NearestMiss != nil {
				fmt.Println("  it", reason.NearestMiss)
			}
		}
	}
	fmt.Printf("$%.4f/h, and no set of new nodes costs less than $%.4f/h\n", plan.HourlyCost, plan.LowerBound)
	// Output:
	// default-1: m1g.4xlarge in test-region-1a, spot, $0.1604/h, 10 pods
	// default-2: m1g.large in test-region-1c, spot, $0.0215/h, 1 pods
	// default-3: m1g.large in test-region-1c, spot, $0.0215/h, 1 pods
	// shop/train has no place:
	// - incompatible with nodepool "default", incompatible requirements, key karpenter.sh/capacity-type: the pod wants In [on-demand], the pool allows In [spot]
	//   it would fit if it allowed karpenter.sh/capacity-type spot
	// $0.2035/h, and no set of new nodes costs less than $0.1925/h
}

// pod is a pending pod of one container.
func pod(name, cpu, memory string) *corev1.Pod {
	requests := corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse(cpu),
		corev1.ResourceMemory: resource.MustParse(memory),
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "main", Resources: corev1.ResourceRequirements{Requests: requests},
		}}},
	}
}
