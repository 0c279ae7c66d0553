package dra_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/dra"
)

// What would help where no GPU meets a selector: the compiler's message with the position, or what GPUs there are. Not fewer of them.
func TestCures(t *testing.T) {
	for name, c := range map[string]struct{ selector, cure string }{
		"does not compile": {
			`device.driver = "gpu.nvidia.com"`, "would fit if the selector of request gpu of claim gpu could be evaluated: selector \"device.driver = \\\"gpu.nvidia.com\\\"\": " +
				"compilation failed: ERROR: <input>:1:15: Syntax error: token recognition error at: '= '",
		},
		"an attribute that is not published": {
			`device.attributes["gpu.nvidia.com"].uuid == "GPU-1"`, "would fit if the selector of request gpu of claim gpu could be evaluated: selector \"device.attributes[\\\"gpu.nvidia.com\\\"].uuid == \\\"GPU-1\\\"\": " +
				"no such key: uuid",
		},
		"more memory than there is": {
			`device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("80Gi")) >= 0`, "would fit if request gpu of claim gpu allowed devices of gpu.nvidia.com that have memory 40Gi",
		},
	} {
		it := build.InstanceType("p4d.24xlarge", build.CPU("8"), build.Memory("32Gi"), build.OnDemand("a", 1))
		it.Devices = []cloudprovider.DevicePool{{Driver: "gpu.nvidia.com", Devices: []resourcev1.Device{{
			Name: "gpu-0", Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"type": {StringValue: new(string)}},
			Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse("40Gi")}},
		}}}}
		template := "gpu"
		pod := build.Pod("inference", build.CPU("500m"))
		pod.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimTemplateName: &template}}
		s := &scheduling.Snapshot{
			Catalogs:      map[string][]*cloudprovider.InstanceType{"types": {it}},
			NodePools:     []scheduling.NodePool{{Object: build.Pool("default"), Catalog: "types"}},
			Pods:          []*corev1.Pod{pod},
			DeviceClasses: []*resourcev1.DeviceClass{{ObjectMeta: metav1.ObjectMeta{Name: "gpu.nvidia.com"}}},
			ResourceClaimTemplates: []*resourcev1.ResourceClaimTemplate{{
				ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: template},
				Spec: resourcev1.ResourceClaimTemplateSpec{Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{
					Name: "gpu", Exactly: &resourcev1.ExactDeviceRequest{
						DeviceClassName: "gpu.nvidia.com", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1,
						Selectors: []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: c.selector}}},
					},
				}}}}},
			}},
		}
		model, err := scheduling.Compile(s, scheduling.WithDeviceMatcher(dra.New()))
		if err != nil {
			t.Fatal(err)
		}
		plan, err := model.Solve(t.Context(), scheduling.Query{})
		if err != nil {
			t.Fatal(err)
		}
		if len(plan.Unschedulable) != 1 || plan.Unschedulable[0].Reasons[0].NearestMiss == nil {
			t.Errorf("%s: %+v", name, plan.Unschedulable)
			continue
		}
		if got := plan.Unschedulable[0].Reasons[0].NearestMiss.String(); got != c.cure {
			t.Errorf("%s: got %q, want %q", name, got, c.cure)
		}
	}
}
