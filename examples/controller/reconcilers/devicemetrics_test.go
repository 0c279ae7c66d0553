package reconcilers

import (
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/provisioning"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/cluster"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Devices are planned until the driver has published them, allocated when kube-scheduler says so, and gone with their node. A pod whose claims no type has
// devices for is counted by their class.
func TestDeviceMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := prometheus.NewRegistry()
		w := newWorldOf(t, gpuTypes(), func(o *Options) {
			o.Features.Devices, o.DeviceMatcher, o.Metrics, o.WithoutObjectMetrics = true, ofTestDriver{}, registry, true
		})
		expect := func(when string, want map[string]float64) {
			t.Helper()
			got := map[string]float64{}
			all := gathered(t, registry)
			for _, name := range []string{"published", "allocated", "planned"} {
				for series, value := range ofName(all, "karpenter_devices_"+name) {
					if series != "karpenter_devices_"+name+"{driver="+testDriver+",nodepool=default}" {
						t.Errorf("%s: %s", when, series)
					}
					got[name] = value
				}
			}
			for series, value := range ofName(all, "karpenter_scheduler_unschedulable_pods_by_device_class_count") {
				if series != "karpenter_scheduler_unschedulable_pods_by_device_class_count{device_class=gpu,reason=Devices}" {
					t.Errorf("%s: %s", when, series)
				}
				got["waiting"] += value
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", when, diff)
			}
		}
		expect("before all", map[string]float64{})
		w.claimGPU("first")
		w.watch()
		w.plan()
		w.live(30)
		expect("the node is on its way", map[string]float64{"planned": 2})
		node := w.allNodes()[0]
		w.publishGPUs(node.Name, "gpu-0", "gpu-1")
		w.live(30)
		expect("the driver has published", map[string]float64{"published": 2, "allocated": 0})

		w.claimGPUs("many", 3)
		w.allocate("many", node.Name, "gpu-1")
		w.claimGPUs("more", 3)
		w.plan()
		w.live(30)
		expect("a claim has one, and none has as many as another claims", map[string]float64{"published": 2, "allocated": 1, "waiting": 1})
	})
}

// allocate has a claim have a device.
func (w *world) allocate(claim, node, device string) {
	was := get(w, &resourcev1.ResourceClaim{}, "default/"+claim)
	now := was.DeepCopy()
	now.Status.Allocation = &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{
		{Request: "gpus", Driver: testDriver, Pool: node, Device: device},
	}}}
	if err := w.client.Patch(w.t.Context(), now, client.MergeFrom(was)); err != nil {
		w.t.Fatal(err)
	}
}

// viewOfDevices has a node of a NodePool, one without, and one on its way to the first pool.
func viewOfDevices() (*cluster.View, *provisioning.PoolSet) {
	pool := v1.NewPoolKey("gpus")
	named := func(name string) *corev1.Node { return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}} }
	coming := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "coming", Labels: map[string]string{corev1.LabelInstanceTypeStable: "big"}}}
	leaving := coming.DeepCopy()
	it := &cloudprovider.InstanceType{Name: "big", Devices: []cloudprovider.DevicePool{
		{Driver: "gpu", Devices: make([]resourcev1.Device, 8)}, {Driver: "nic", Devices: make([]resourcev1.Device, 4)},
	}}
	view := &cluster.View{Snapshot: &scheduling.Snapshot{}, Nodes: []cluster.NodeState{
		{Name: "a", Node: named("a"), Pool: pool, Phase: cluster.PhaseInitialized, Claim: coming},
		{Name: "b", Node: named("b"), Phase: cluster.PhaseInitialized},
		{Name: "c", Node: named("c"), Pool: pool, Phase: cluster.PhaseRegistered, Claim: coming},
		{Name: "d", Pool: pool, Phase: cluster.PhaseLaunched, Claim: coming},
		{Name: "e", Pool: pool, Phase: cluster.PhaseLaunched, Claim: leaving, Leaving: true},
	}}
	set := &provisioning.PoolSet{NodePools: []scheduling.NodePool{{Key: pool, Catalog: "c"}}, Catalogs: map[string][]*cloudprovider.InstanceType{"c": {it}}}
	return view, set
}

// Only the newest generation of a pool counts, a shared device once, one for administration not at all; devices have the NodePool of their node, if they have
// one node and that is of a NodePool.
func TestCountDevices(t *testing.T) {
	view, set := viewOfDevices()
	slice := func(driver, pool string, generation int64, node *string, devices ...resourcev1.Device) {
		view.Snapshot.ResourceSlices = append(view.Snapshot.ResourceSlices, &resourcev1.ResourceSlice{Spec: resourcev1.ResourceSliceSpec{
			Driver: driver, NodeName: node, Pool: resourcev1.ResourcePool{Name: pool, Generation: generation}, Devices: devices,
		}})
	}
	device := func(name string) resourcev1.Device { return resourcev1.Device{Name: name} }
	slice("gpu", "a", 1, new("a"), device("0"), device("1"), device("gone"))
	slice("gpu", "a", 2, new("a"), device("0"), device("1"))
	slice("gpu", "a", 2, new("a"), device("2"))
	slice("gpu", "b", 1, new("b"), device("0"))
	slice("gpu", "c", 1, new("c"), device("0"))
	slice("fabric", "net", 1, nil, device("all"), resourcev1.Device{Name: "of-a", NodeName: new("a")})
	claim := func(results ...resourcev1.DeviceRequestAllocationResult) {
		c := &resourcev1.ResourceClaim{}
		if results != nil {
			c.Status.Allocation = &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{Results: results}}
		}
		view.Snapshot.ResourceClaims = append(view.Snapshot.ResourceClaims, c)
	}
	claim()
	claim(resourcev1.DeviceRequestAllocationResult{Driver: "gpu", Pool: "a", Device: "0", ShareID: new(types.UID("x"))})
	claim(resourcev1.DeviceRequestAllocationResult{Driver: "gpu", Pool: "a", Device: "0", ShareID: new(types.UID("y"))},
		resourcev1.DeviceRequestAllocationResult{Driver: "gpu", Pool: "a", Device: "1", AdminAccess: new(true)})
	claim(resourcev1.DeviceRequestAllocationResult{Driver: "gpu", Pool: "a", Device: "gone"}, resourcev1.DeviceRequestAllocationResult{Driver: "gpu", Pool: "elsewhere", Device: "0"},
		resourcev1.DeviceRequestAllocationResult{Driver: "fabric", Pool: "net", Device: "all"})
	want := deviceCounts{
		published: map[devicesOf]int{{"gpu", "gpus"}: 4, {"gpu", ""}: 1, {"fabric", ""}: 1, {"fabric", "gpus"}: 1},
		allocated: map[devicesOf]int{{"gpu", "gpus"}: 2, {"gpu", ""}: 1, {"fabric", ""}: 1, {"fabric", "gpus"}: 0},
		// Of c the network interfaces, of d all.
		planned: map[devicesOf]int{{"gpu", "gpus"}: 8, {"nic", "gpus"}: 8},
	}
	if diff := cmp.Diff(want, countDevices(view, set), cmp.AllowUnexported(deviceCounts{}, devicesOf{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := countDevices(view, nil).planned; len(got) != 0 {
		t.Errorf("without instance types: %v", got)
	}
}

// A pod counts once for each class of its claims, under Devices where these are what it lacks, else under the code of its first reason.
func TestPodsWithoutDevices(t *testing.T) {
	registry := prometheus.NewRegistry()
	m, err := newMetrics(registry)
	if err != nil {
		t.Fatal(err)
	}
	class := func(name string) *resourcev1.ExactDeviceRequest {
		return &resourcev1.ExactDeviceRequest{DeviceClassName: name}
	}
	spec := resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{
		{Name: "a", Exactly: class("gpu")}, {Name: "b", Exactly: class("gpu")},
		{Name: "c", FirstAvailable: []resourcev1.DeviceSubRequest{{DeviceClassName: "mig"}, {DeviceClassName: "gpu"}}},
	}}}
	s := &scheduling.Snapshot{
		ResourceClaims:         []*resourcev1.ResourceClaim{{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "own"}, Spec: spec}},
		ResourceClaimTemplates: []*resourcev1.ResourceClaimTemplate{{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "made"}, Spec: resourcev1.ResourceClaimTemplateSpec{Spec: spec}}},
	}
	plan := &scheduling.Plan{}
	waits := func(name string, claim corev1.PodResourceClaim, reasons ...scheduling.Reason) {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
		if claim.Name != "" {
			pod.Spec.ResourceClaims = []corev1.PodResourceClaim{claim}
		}
		s.Pods = append(s.Pods, pod)
		plan.Unschedulable = append(plan.Unschedulable, scheduling.Unschedulable{Pod: scheduling.PodKey{Namespace: "default", Name: name}, Reasons: reasons})
	}
	own, made := corev1.PodResourceClaim{Name: "x", ResourceClaimName: new("own")}, corev1.PodResourceClaim{Name: "x", ResourceClaimTemplateName: new("made")}
	missing := scheduling.Reason{Code: scheduling.ReasonInstanceTypes, Devices: "there are none"}
	cpu := &planning.NearestMiss{Code: planning.MissResources, Amounts: corev1.ResourceList{"cpu": {}, "devices of gpu": {}}}
	fewer := &planning.NearestMiss{Code: planning.MissResources, Amounts: corev1.ResourceList{"devices of gpu": {}}}
	taint := scheduling.Reason{Code: scheduling.ReasonTaint}
	waits("one", own, taint, missing)
	waits("two", made, scheduling.Reason{Code: scheduling.ReasonExistingNodes, NearestMiss: fewer})
	waits("three", made, scheduling.Reason{Code: scheduling.ReasonInstanceTypes, NearestMiss: cpu})
	waits("four", corev1.PodResourceClaim{Name: "x", ResourceClaimName: new("nowhere")}, scheduling.Reason{Code: scheduling.ReasonPodInvalid})
	waits("five", corev1.PodResourceClaim{}, missing)
	m.devicelessShown(s, plan)
	name := "karpenter_scheduler_unschedulable_pods_by_device_class_count"
	want := map[string]float64{
		name + "{device_class=gpu,reason=Devices}":            2,
		name + "{device_class=mig,reason=Devices}":            2,
		name + "{device_class=gpu,reason=NoInstanceTypeFits}": 1,
		name + "{device_class=mig,reason=NoInstanceTypeFits}": 1,
		name + "{device_class=,reason=PodInvalid}":            1,
	}
	if diff := cmp.Diff(want, ofName(gathered(t, registry), name)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	m.devicelessShown(s, &scheduling.Plan{})
	if left := ofName(gathered(t, registry), name); len(left) > 0 {
		t.Errorf("of pods that have a place there is %v", left)
	}
}
