package documents_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake"
	"github.com/drawknife/drawknife/scheduling"
)

// instanceType is one of the example's instance types; memory is in GiB, price in USD per hour.
type instanceType struct {
	name        string
	cpu, memory float64
	price       float64
}

// workload is pods that are alike.
type workload struct {
	name        string
	pods        int
	cpu, memory float64
}

// The example of docs/algorithm.md: three instance types, and six pods of three workloads.
func exampleTypes() []instanceType {
	return []instanceType{{"small", 2, 8, 0.10}, {"medium", 4, 16, 0.19}, {"large", 8, 16, 0.32}}
}

func exampleWorkloads() []workload {
	return []workload{{"web", 3, 1.5, 3}, {"cache", 2, 0.5, 4}, {"batch", 1, 3.5, 6}}
}

func amounts(cpu, memory float64) corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(int64(cpu*1000), resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(int64(memory*(1<<30)), resource.BinarySI),
	}
}

// exampleSnapshot is the example: one NodePool, one zone, on demand alone, and nothing kept back for the system.
func exampleSnapshot() *scheduling.Snapshot {
	var types []*cloudprovider.InstanceType
	for _, it := range exampleTypes() {
		capacity := amounts(it.cpu, it.memory)
		capacity[corev1.ResourcePods] = resource.MustParse("20")
		types = append(types, &cloudprovider.InstanceType{
			Name: it.name,
			Requirements: requirements.NewSet(
				requirements.In(corev1.LabelInstanceTypeStable, it.name),
				requirements.In(corev1.LabelArchStable, v1.ArchitectureAmd64),
				requirements.In(corev1.LabelOSStable, string(corev1.Linux)),
			),
			Capacity: capacity,
			Offerings: []cloudprovider.Offering{{
				Requirements: requirements.NewSet(
					requirements.In(corev1.LabelTopologyZone, fake.GenericZones()[0]),
					requirements.In(v1.CapacityTypeLabelKey, v1.CapacityTypeOnDemand),
				),
				Price: it.price, Available: true,
			}},
		})
	}
	var pods []*corev1.Pod
	for _, w := range exampleWorkloads() {
		for i := range w.pods {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("%s-%d", w.name, i)}}
			pod.Spec.Containers = []corev1.Container{{
				Name: "main", Resources: corev1.ResourceRequirements{Requests: amounts(w.cpu, w.memory)},
			}}
			pods = append(pods, pod)
		}
	}
	return &scheduling.Snapshot{
		Time:       time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC),
		Vocabulary: fake.GenericCapabilities().Vocabulary,
		Catalogs:   map[string][]*cloudprovider.InstanceType{"example": types},
		NodePools:  []scheduling.NodePool{{Object: &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, Catalog: "example"}},
		Pods:       pods,
	}
}

// examplePlan is what the code itself plans for the example.
func examplePlan(t *testing.T) *scheduling.Plan {
	t.Helper()
	model, err := scheduling.Compile(exampleSnapshot())
	if err != nil {
		t.Fatal(err)
	}
	plan, err := model.Solve(context.Background(), scheduling.Query{})
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Unschedulable) > 0 || plan.Certificate == nil {
		t.Fatalf("the example's plan leaves pods without a place, or has no certificate: %+v", plan)
	}
	return plan
}
