package dra_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/dra"
)

// Two types have a GPU; the claim asks for one with 80Gi of memory.
func Example() {
	small, large := build.InstanceType("small", build.CPU("8"), build.Memory("32Gi"), build.OnDemand("a", 1)), build.InstanceType("large", build.CPU("8"), build.Memory("32Gi"), build.OnDemand("a", 3))
	for it, memory := range map[*cloudprovider.InstanceType]string{small: "40Gi", large: "80Gi"} {
		it.Devices = []cloudprovider.DevicePool{{Driver: "gpu.nvidia.com", Devices: []resourcev1.Device{{
			Name: "gpu-0", Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse(memory)}},
		}}}}
	}
	name := "gpu"
	pod := build.Pod("inference", build.CPU("500m"))
	pod.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimTemplateName: &name}}
	snapshot := &scheduling.Snapshot{
		Catalogs:  map[string][]*cloudprovider.InstanceType{"types": {small, large}},
		NodePools: []scheduling.NodePool{{Object: build.Pool("default"), Catalog: "types"}},
		Pods:      []*corev1.Pod{pod},
		DeviceClasses: []*resourcev1.DeviceClass{{ObjectMeta: metav1.ObjectMeta{Name: "gpu.nvidia.com"}, Spec: resourcev1.DeviceClassSpec{
			Selectors: []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: `device.driver == "gpu.nvidia.com"`}}},
		}}},
		ResourceClaimTemplates: []*resourcev1.ResourceClaimTemplate{{
			ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: name},
			Spec: resourcev1.ResourceClaimTemplateSpec{Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{
				Name: "gpu", Exactly: &resourcev1.ExactDeviceRequest{
					DeviceClassName: "gpu.nvidia.com", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1,
					Selectors: []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{
						Expression: `device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("80Gi")) >= 0`,
					}}},
				},
			}}}}},
		}},
	}
	model, err := scheduling.Compile(snapshot, scheduling.WithDeviceMatcher(dra.New()))
	if err != nil {
		fmt.Println(err)
		return
	}
	plan, err := model.Solve(context.Background(), scheduling.Query{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, n := range plan.NewNodes {
		fmt.Println(n.InstanceTypes[0].Name, n.Pods)
	}
	// Output: large [default/inference]
}
