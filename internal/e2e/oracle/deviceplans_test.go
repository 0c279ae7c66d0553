package oracle_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strconv"
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
func replayDevices(j *deviceJudge, s *scheduling.Snapshot, list []*resourcev1.ResourceSlice, pods []scheduling.PodKey) (placed int, refused []string) {
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

// devicePlans counts what the judge says of plans.
type devicePlans struct {
	placed, refused, nowhere, missed int
}

// judge plans a cluster and has the judge allocate what the plan says. It returns what the judge does otherwise.
func (c *devicePlans) judge(t *testing.T, j *deviceJudge, s *scheduling.Snapshot) []string {
	m, err := scheduling.Compile(s, scheduling.WithDeviceMatcher(j))
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Solve(context.Background(), scheduling.Query{})
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	on := func(where string, list []*resourcev1.ResourceSlice, pods []scheduling.PodKey) {
		n, not := replayDevices(j, s, list, pods)
		c.placed += n
		c.refused += len(not)
		if len(not) > 0 {
			found = append(found, fmt.Sprintf("%s with %v refuses %v", where, pods, not))
		}
	}
	for i := range p.NewNodes {
		for _, option := range p.NewNodes[i].InstanceTypes {
			for _, it := range s.Catalogs["c"] {
				if it.Name == option.Name {
					on("a new "+it.Name, newSlices(it), p.NewNodes[i].Pods)
				}
			}
		}
	}
	for i := range p.Existing {
		on(p.Existing[i].Name, s.ResourceSlices, p.Existing[i].Pods)
	}
	for i := range p.Unschedulable {
		c.nowhere++
		for _, it := range s.Catalogs["c"] {
			if n, _ := replayDevices(j, s, newSlices(it), []scheduling.PodKey{p.Unschedulable[i].Pod}); n > 0 {
				c.missed++
				found = append(found, fmt.Sprintf("%v has no place, and a new %s would have devices for it: %v", p.Unschedulable[i].Pod, it.Name, p.Unschedulable[i].Reasons))
				break
			}
		}
	}
	return found
}

// kube-scheduler finds the devices that plans count on, when it binds pods as Plan.Order says. Each cluster has a seed of its own, which the test prints
// for each placement that is refused: ORACLE_SEED is the first, ORACLE_DEVICEPLANS how many follow one another. The long run is
// ORACLE_SEED=10000 ORACLE_DEVICEPLANS=20000 go -C internal/e2e/oracle test -v -timeout 4h -run TestDevicePlans .
func TestDevicePlans(t *testing.T) {
	first, draws := number(t, "ORACLE_SEED", "1"), number(t, "ORACLE_DEVICEPLANS", "1500")
	j := newDeviceJudge()
	clusters := rapid.Custom(func(t *rapid.T) *scheduling.Snapshot { return drawnDeviceCluster(t, j) })
	var c devicePlans
	for seed := first; seed < first+draws; seed++ {
		for _, found := range c.judge(t, j, clusters.Example(seed)) {
			t.Logf("ORACLE_SEED=%d ORACLE_DEVICEPLANS=1: %s", seed, found)
		}
	}
	t.Logf("%d placed, %d refused, %d without a place, of which a new node would have devices for %d", c.placed, c.refused, c.nowhere, c.missed)
	if c.refused*10000 > c.placed {
		t.Errorf("kube-scheduler refuses %d of %d placements: more than 1 in 10,000", c.refused, c.placed+c.refused)
	}
	if c.missed*10000 > c.placed {
		t.Errorf("%d pods have no place although a new node would have devices for them: more than 1 for 10,000 that have one", c.missed)
	}
}

// Clusters in which kube-scheduler refused a placement. In all of these a planned node named first a type that costs as much as the one for which the
// order of its pods was found, and on which they get their devices in another order only.
func TestDevicePlansRefusedBefore(t *testing.T) {
	j := newDeviceJudge()
	clusters := rapid.Custom(func(t *rapid.T) *scheduling.Snapshot { return drawnDeviceCluster(t, j) })
	for _, seed := range []int{19194, 48462, 68438, 74011, 85766} {
		var c devicePlans
		if found := c.judge(t, j, clusters.Example(seed)); len(found) > 0 {
			t.Errorf("seed %d: %v", seed, found)
		}
	}
}

// number is a whole number of the environment.
func number(t *testing.T, env, unset string) int {
	t.Helper()
	n, err := strconv.Atoi(cmp.Or(os.Getenv(env), unset))
	if err != nil || n < 0 {
		t.Fatalf("%s: %q is not a whole number", env, os.Getenv(env))
	}
	return n
}
