package e2e_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/examples/controller/reconcilers"
	"github.com/drawknife/drawknife/fake"
	"github.com/drawknife/drawknife/internal/e2e/harness"
	"github.com/drawknife/drawknife/scheduling/dra"
)

const deviceDriver = "gpu.example.com"

// deviceTypes are generic types: those of 4 cores have a GPU of 24Gi, those of 16 cores two GPUs of 80Gi, and those of 8 cores a GPU that is in two halves.
func deviceTypes() []*cloudprovider.InstanceType {
	types := fake.GenericTypes(10)
	for _, it := range types {
		pool := cloudprovider.DevicePool{Driver: deviceDriver}
		cpu := it.Capacity[corev1.ResourceCPU]
		switch cpu.Value() {
		case 4:
			pool.Devices = []resourcev1.Device{testDevice("gpu-0", "gpu", "24Gi")}
		case 16:
			pool.Devices = []resourcev1.Device{testDevice("gpu-0", "gpu", "80Gi"), testDevice("gpu-1", "gpu", "80Gi")}
		case 8:
			pool.SharedCounters = []resourcev1.CounterSet{{Name: "gpu-0", Counters: map[string]resourcev1.Counter{"slices": {Value: resource.MustParse("4")}}}}
			for place := range 3 { // of which no more than two can be had: each takes two of four slices
				part := testDevice(fmt.Sprintf("gpu-0-half-%d", place), "half", "40Gi")
				part.ConsumesCounters = []resourcev1.DeviceCounterConsumption{{CounterSet: "gpu-0", Counters: map[string]resourcev1.Counter{"slices": {Value: resource.MustParse("2")}}}}
				pool.Devices = append(pool.Devices, part)
			}
		default:
			continue
		}
		it.Devices = []cloudprovider.DevicePool{pool}
	}
	return types
}

func testDevice(name, kind, memory string) resourcev1.Device {
	return resourcev1.Device{
		Name: name, Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"type": {StringValue: &kind}},
		Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse(memory)}},
	}
}

// startDriver publishes on each node that comes up what its instance type says, a second late, until the test ends.
func startDriver(t *testing.T, cluster *harness.Cluster, types []*cloudprovider.InstanceType) {
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	slicesOf := cluster.Client.ResourceV1().ResourceSlices()
	t.Cleanup(func() {
		cancel()
		group.Wait()
		if err := slicesOf.DeleteCollection(context.Background(), metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
			t.Error(err)
		}
	})
	group.Go(func() {
		seen := map[string]time.Time{}
		for ctx.Err() == nil {
			for _, node := range cluster.Nodes() {
				if seen[node.Name].IsZero() {
					seen[node.Name] = time.Now()
				}
				if time.Since(seen[node.Name]) < time.Second {
					continue
				}
				for _, it := range types {
					if it.Name != node.Labels[corev1.LabelInstanceTypeStable] {
						continue
					}
					for _, slice := range publishedSlices(node, it) {
						if _, err := slicesOf.Create(ctx, slice, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) && ctx.Err() == nil {
							t.Errorf("publishing %s: %v", slice.Name, err)
						}
					}
				}
			}
			select {
			case <-ctx.Done():
			case <-time.After(200 * time.Millisecond):
			}
		}
	})
}

// publishedSlices are the slices of a node, counters in one of their own.
func publishedSlices(node *corev1.Node, it *cloudprovider.InstanceType) []*resourcev1.ResourceSlice {
	var out []*resourcev1.ResourceSlice
	for _, pool := range it.Devices {
		count := int64(1)
		if len(pool.SharedCounters) > 0 {
			count = 2
		}
		slice := func(suffix string) *resourcev1.ResourceSlice {
			return &resourcev1.ResourceSlice{
				ObjectMeta: metav1.ObjectMeta{Name: node.Name + suffix, OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID}}},
				Spec: resourcev1.ResourceSliceSpec{
					Driver: pool.Driver, NodeName: &node.Name, Pool: resourcev1.ResourcePool{Name: node.Name, Generation: 1, ResourceSliceCount: count},
				},
			}
		}
		devices := slice("-devices")
		devices.Spec.Devices = pool.Devices
		out = append(out, devices)
		if count == 2 {
			counters := slice("-counters")
			counters.Spec.SharedCounters = pool.SharedCounters
			out = append(out, counters)
		}
	}
	return out
}

// makeClass creates a class of the driver's devices of a type.
func makeClass(t *testing.T, cluster *harness.Cluster, name, kind string) {
	t.Helper()
	classes := cluster.Client.ResourceV1().DeviceClasses()
	t.Cleanup(func() {
		if err := classes.Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	_, err := classes.Create(t.Context(), &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: resourcev1.DeviceClassSpec{
		Selectors: []resourcev1.DeviceSelector{selector("device.driver == '" + deviceDriver + "' && device.attributes['" + deviceDriver + "'].type == '" + kind + "'")},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

func selector(expression string) resourcev1.DeviceSelector {
	return resourcev1.DeviceSelector{CEL: &resourcev1.CELDeviceSelector{Expression: expression}}
}

// atLeast selects devices by memory.
func atLeast(memory string) resourcev1.DeviceSelector {
	return selector("device.capacity['" + deviceDriver + "'].memory.compareTo(quantity('" + memory + "')) >= 0")
}

// claiming creates a deployment whose pods claim devices by a template of the request.
func claiming(t *testing.T, cluster *harness.Cluster, name string, replicas int32, request resourcev1.DeviceRequest) {
	t.Helper()
	request.Name = "devices"
	_, err := cluster.Client.ResourceV1().ResourceClaimTemplates(cluster.Namespace).Create(t.Context(), &resourcev1.ResourceClaimTemplate{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: resourcev1.ResourceClaimTemplateSpec{Spec: resourcev1.ResourceClaimSpec{
			Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{request}},
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pod := harness.Pod("500m", "512Mi")
	pod.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "devices", ResourceClaimTemplateName: &name}}
	pod.Spec.Containers[0].Resources.Claims = []corev1.ResourceClaim{{Name: "devices"}}
	cluster.CreateDeployment(name, replicas, pod)
}

// TestClaimedDevices has pods claim whole GPUs, halves of GPUs and alternatives. All run, on nodes that are initialised once the driver has published; the
// scheduler has allocated no device twice, and no more halves than a GPU has.
func TestClaimedDevices(t *testing.T) {
	types := deviceTypes()
	cluster := server.Start(t, harness.Options{Types: types})
	startDriver(t, cluster, types)
	makeClass(t, cluster, "gpu", "gpu")
	makeClass(t, cluster, "half", "half")
	options := reconcilers.Options{DeviceMatcher: dra.New()}
	options.Features.Devices = true
	startController(t, cluster, options)
	cluster.CreateNodePool(harness.NodePool("default"))
	poolsReady(t, cluster, "default")

	exactly := func(class string, count int64, selectors ...resourcev1.DeviceSelector) resourcev1.DeviceRequest {
		return resourcev1.DeviceRequest{Exactly: &resourcev1.ExactDeviceRequest{
			DeviceClassName: class, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: count, Selectors: selectors,
		}}
	}
	claiming(t, cluster, "any", 3, exactly("gpu", 1))
	claiming(t, cluster, "pair", 1, exactly("gpu", 2, atLeast("48Gi")))
	claiming(t, cluster, "halves", 3, exactly("half", 1))
	claiming(t, cluster, "either", 1, resourcev1.DeviceRequest{FirstAvailable: []resourcev1.DeviceSubRequest{
		{Name: "huge", DeviceClassName: "gpu", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1, Selectors: []resourcev1.DeviceSelector{atLeast("200Gi")}},
		{Name: "small", DeviceClassName: "gpu", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1},
	}})
	for name, n := range map[string]int{"any": 3, "pair": 1, "halves": 3, "either": 1} {
		cluster.Eventually("the pods of "+name+" run", patience, cluster.PodsRun(name, n))
	}
	cluster.Lap("%d nodes", len(cluster.Nodes()))
	cluster.Eventually("nodes, claims and instances belong together", patience, cluster.Settled(-1))
	noneTwice(t, cluster)
	claims, err := cluster.Claims()
	if err != nil {
		t.Fatal(err)
	}
	for i := range claims {
		if got := claims[i].Annotations[v1.RequestedDRADriversAnnotationKey]; got != deviceDriver {
			t.Errorf("NodeClaim %s waits for the drivers %q", claims[i].Name, got)
		}
	}
}

// noneTwice looks at what the scheduler has allocated.
func noneTwice(t *testing.T, cluster *harness.Cluster) {
	t.Helper()
	list, err := cluster.Client.ResourceV1().ResourceClaims(cluster.Namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	taken := map[string]string{}
	for i := range list.Items {
		if list.Items[i].Status.Allocation == nil {
			t.Errorf("claim %s is not allocated", list.Items[i].Name)
			continue
		}
		for _, r := range list.Items[i].Status.Allocation.Devices.Results {
			device := r.Pool + "/" + r.Device
			if other := taken[device]; other != "" {
				t.Errorf("%s is allocated to %s and to %s", device, other, list.Items[i].Name)
			}
			taken[device] = list.Items[i].Name
		}
	}
	halves := map[string]int{}
	for device := range taken {
		if gpu, _, half := strings.Cut(device, "-half-"); half {
			if halves[gpu]++; halves[gpu] > 2 {
				t.Errorf("%d halves of %s are allocated", halves[gpu], gpu)
			}
		}
	}
	t.Logf("allocated: %v", slices.Sorted(maps.Keys(taken)))
}
