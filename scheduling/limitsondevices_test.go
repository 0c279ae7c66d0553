package scheduling_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/scheduling"
)

// A NodePool's limit on the devices of a driver counts those of nodes that are there, which kubelets don't report, and those of new ones.
func TestLimitsOnDevices(t *testing.T) {
	const driver = "gpu.example.com"
	for limit, want := range map[string]int{"1": 0, "2": 0, "3": 1, "4": 2} {
		t.Run(limit, func(t *testing.T) {
			name := "gpu"
			it := build.InstanceType("one", build.CPU("4"), build.Memory("16Gi"), build.OnDemand("a", 1))
			it.Devices = []cloudprovider.DevicePool{{Driver: driver, Devices: []resourcev1.Device{{Name: "gpu-0"}}}}
			it.Capacity[cloudprovider.DeviceCount(driver)] = *resource.NewQuantity(it.Devices[0].Count(), resource.DecimalSI)
			pool := build.Pool("default")
			pool.Spec.Limits = corev1.ResourceList{cloudprovider.DeviceCount(driver): resource.MustParse(limit)}
			node := build.Node("there", build.CPU("4"), build.Memory("16Gi"), build.MaxPods(110))
			node.Labels[v1.NodePoolLabelKey], node.Labels[v1.NodeInitializedLabelKey], node.Labels[v1.NodeRegisteredLabelKey] = "default", "true", "true"
			claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "there", Labels: map[string]string{v1.NodePoolLabelKey: "default"}}}
			claim.Status.Capacity = corev1.ResourceList{cloudprovider.DeviceCount(driver): resource.MustParse("2")}
			s := &scheduling.Snapshot{
				Catalogs:      map[string][]*cloudprovider.InstanceType{"types": {it}},
				NodePools:     []scheduling.NodePool{{Object: pool, Catalog: "types"}},
				Nodes:         []scheduling.Node{{Name: "there", Pool: v1.NewPoolKey("default"), Object: node, Claim: claim}},
				DeviceClasses: []*resourcev1.DeviceClass{{ObjectMeta: metav1.ObjectMeta{Name: name}}},
				ResourceClaimTemplates: []*resourcev1.ResourceClaimTemplate{{
					ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: name},
					Spec: resourcev1.ResourceClaimTemplateSpec{Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{
						{Name: name, Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: name, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1}},
					}}}},
				}},
			}
			for _, pod := range []string{"a", "b"} {
				p := build.Pod(pod, build.CPU("1"))
				p.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: name, ResourceClaimTemplateName: &name}}
				s.Pods = append(s.Pods, p)
			}
			model, err := scheduling.Compile(s)
			if err != nil {
				t.Fatal(err)
			}
			plan, err := model.Solve(t.Context(), scheduling.Query{})
			if err != nil {
				t.Fatal(err)
			}
			if len(plan.NewNodes) != want {
				t.Errorf("%d new nodes, want %d: %v", len(plan.NewNodes), want, plan.Unschedulable)
			}
			for _, u := range plan.Unschedulable {
				if len(u.Reasons) == 0 || !strings.Contains(u.Reasons[0].String(), string(cloudprovider.DeviceCount(driver))) {
					t.Errorf("%s: %v", u.Pod, u.Reasons)
				}
			}
			if got := s.Nodes[0].Capacity()[cloudprovider.DeviceCount(driver)]; got.Value() != 2 {
				t.Errorf("the node counts %s", got.String())
			}
		})
	}
}
