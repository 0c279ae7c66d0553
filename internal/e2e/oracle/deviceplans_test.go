package oracle_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/dynamic-resource-allocation/cel"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

// newDeviceJudge knows the classes any and A.
func newDeviceJudge() *deviceJudge {
	selector := resourcev1.DeviceSelector{CEL: &resourcev1.CELDeviceSelector{Expression: `device.driver == "gpu.example.com" && device.attributes["gpu.example.com"].model == "A"`}}
	return &deviceJudge{
		cache: cel.NewCache(100, cel.Features{EnableConsumableCapacity: true}),
		classes: []*resourcev1.DeviceClass{{ObjectMeta: metav1.ObjectMeta{Name: "any"}},
			{ObjectMeta: metav1.ObjectMeta{Name: "A"}, Spec: resourcev1.DeviceClassSpec{Selectors: []resourcev1.DeviceSelector{selector}}}},
		node: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}},
	}
}

// drawnDeviceCluster has types of drawn devices, a node with some, and pods that claim some.
func drawnDeviceCluster(t *rapid.T, j *deviceJudge) *scheduling.Snapshot {
	amounts := func(cpu int64) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: *resource.NewQuantity(cpu, resource.DecimalSI), corev1.ResourceMemory: resource.MustParse("64Gi"), corev1.ResourcePods: resource.MustParse("110")}
	}
	s := &scheduling.Snapshot{
		Time: time.Unix(1_700_000_000, 0).UTC(), DeviceClasses: j.classes, Catalogs: map[string][]*cloudprovider.InstanceType{},
		NodePools: []scheduling.NodePool{{Object: &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "p"}}, Catalog: "c"}},
	}
	for i := range rapid.IntRange(1, 3).Draw(t, "types") {
		it := &cloudprovider.InstanceType{
			Name: fmt.Sprint("t", i), Capacity: amounts(8),
			Offerings: []cloudprovider.Offering{{
				Requirements: requirements.NewSet(requirements.In(corev1.LabelTopologyZone, "a"), requirements.In(v1.CapacityTypeLabelKey, "on-demand")),
				Price:        float64(rapid.IntRange(1, 9).Draw(t, "price")), Available: true,
			}},
		}
		it.Requirements = requirements.NewSet(requirements.In(corev1.LabelInstanceTypeStable, it.Name))
		pool := cloudprovider.DevicePool{Driver: deviceDriver}
		for _, list := range drawnSlices(t) {
			pool.Devices, pool.SharedCounters = append(pool.Devices, list.Spec.Devices...), append(pool.SharedCounters, list.Spec.SharedCounters...)
		}
		it.Devices = []cloudprovider.DevicePool{pool}
		s.Catalogs["c"] = append(s.Catalogs["c"], it)
	}
	if rapid.Bool().Draw(t, "a node") {
		s.Nodes = []scheduling.Node{{Name: "n", Object: &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{corev1.LabelHostname: "n"}}, Status: corev1.NodeStatus{Allocatable: amounts(8), Capacity: amounts(8)},
		}}}
		s.ResourceSlices = drawnSlices(t)
	}
	for i := range rapid.IntRange(1, 3).Draw(t, "templates") {
		name := fmt.Sprint("t", i)
		s.ResourceClaimTemplates = append(s.ResourceClaimTemplates, &resourcev1.ResourceClaimTemplate{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: resourcev1.ResourceClaimTemplateSpec{Spec: drawnClaim(t).Spec},
		})
		for k := range rapid.IntRange(1, 4).Draw(t, "pods") {
			s.Pods = append(s.Pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("%s-%d", name, k)}, Spec: corev1.PodSpec{
				ResourceClaims: []corev1.PodResourceClaim{{Name: "d", ResourceClaimTemplateName: &name}},
				Containers:     []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}}}},
			}})
		}
	}
	return s
}

// newSlices are what a new node of the type will publish.
func newSlices(it *cloudprovider.InstanceType) []*resourcev1.ResourceSlice {
	node := "n"
	var out []*resourcev1.ResourceSlice
	for i := range it.Devices {
		p := &it.Devices[i]
		n := int64(1)
		if len(p.SharedCounters) > 0 {
			n = 2
		}
		spec := resourcev1.ResourceSliceSpec{Driver: p.Driver, NodeName: &node, Pool: resourcev1.ResourcePool{Name: "n", Generation: 1, ResourceSliceCount: n}}
		if n == 2 {
			counters := spec
			counters.SharedCounters = p.SharedCounters
			out = append(out, &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: "counters"}, Spec: counters})
		}
		spec.Devices = p.Devices
		out = append(out, &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: "devices"}, Spec: spec})
	}
	return out
}

// replayDevices has the judge allocate the claims of a node's pods one by one. It returns the pods that get none.
func replayDevices(t *rapid.T, j *deviceJudge, s *scheduling.Snapshot, list []*resourcev1.ResourceSlice, pods []scheduling.PodKey) (placed int, refused []string) {
	var taken []resourcev1.DeviceRequestAllocationResult
	for _, key := range pods {
		for _, template := range s.ResourceClaimTemplates {
			if template.Name != key.Name[:2] {
				continue
			}
			claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: key.Name}, Spec: template.Spec.Spec}
			got, err := j.results(list, taken, claim)
			if err != nil || got == nil {
				refused = append(refused, fmt.Sprintf("%s: %v", key.Name, err))
				continue
			}
			placed++
			taken = append(taken, got...)
		}
	}
	return placed, refused
}

// kube-scheduler finds the devices that plans count on, when it binds pods as Plan.Order says. The long run is
// ORACLE_SEED=7 ORACLE_DEVICEPLANS=20000 go -C internal/e2e/oracle test -v -timeout 4h -run TestDevicePlans .
func TestDevicePlans(t *testing.T) {
	setFlag(t, "rapid.seed", "ORACLE_SEED", "1")
	setFlag(t, "rapid.checks", "ORACLE_DEVICEPLANS", "1500")
	j := newDeviceJudge()
	placed, refused, nowhere, missed, say := 0, 0, 0, 0, t.Logf
	rapid.Check(t, func(t *rapid.T) {
		s := drawnDeviceCluster(t, j)
		m, err := scheduling.Compile(s, scheduling.WithDeviceMatcher(j))
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.Solve(context.Background(), scheduling.Query{})
		if err != nil {
			t.Fatal(err)
		}
		judge := func(where string, list []*resourcev1.ResourceSlice, pods []scheduling.PodKey) {
			n, not := replayDevices(t, j, s, list, pods)
			placed += n
			refused += len(not)
			if len(not) > 0 {
				say("%s with %v refuses %v", where, pods, not)
			}
		}
		for i := range p.NewNodes {
			for _, option := range p.NewNodes[i].InstanceTypes {
				for _, it := range s.Catalogs["c"] {
					if it.Name == option.Name {
						judge("a new "+it.Name, newSlices(it), p.NewNodes[i].Pods)
					}
				}
			}
		}
		for i := range p.Existing {
			judge(p.Existing[i].Name, s.ResourceSlices, p.Existing[i].Pods)
		}
		for i := range p.Unschedulable {
			nowhere++
			for _, it := range s.Catalogs["c"] {
				if n, _ := replayDevices(t, j, s, newSlices(it), []scheduling.PodKey{p.Unschedulable[i].Pod}); n > 0 {
					missed++
					break
				}
			}
		}
	})
	t.Logf("%d placed, %d refused, %d without a place, of which a new node would have devices for %d", placed, refused, nowhere, missed)
	if refused*10000 > placed {
		t.Errorf("kube-scheduler refuses %d of %d placements: more than 1 in 10,000", refused, placed+refused)
	}
	if missed*10000 > placed {
		t.Errorf("%d pods have no place although a new node would have devices for them: more than 1 for 10,000 that have one", missed)
	}
}
