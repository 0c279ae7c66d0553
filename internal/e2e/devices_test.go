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
	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/examples/controller/reconcilers"
	"github.com/drawknife/drawknife/fake"
	"github.com/drawknife/drawknife/internal/e2e/harness"
	"github.com/drawknife/drawknife/scheduling/dra"
)

const deviceDriver = "gpu.example.com"

// deviceTypes are generic types: those of 4 cores have a GPU of 24Gi, those of 16 cores two GPUs of 80Gi, those of 8 cores a GPU that is in two halves, and those of
// 32 cores an H100 of NVIDIA's with its partitions, as the AWS provider lists it.
func deviceTypes(t *testing.T) []*cloudprovider.InstanceType {
	types := fake.GenericTypes(10)
	partitioned := partitionedGPU(t)
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
		case 32:
			pool = partitioned
		default:
			continue
		}
		it.Devices = []cloudprovider.DevicePool{pool}
	}
	return types
}

// partitionedGPU is what NVIDIA's driver publishes for the H100 of a p5.4xlarge, with partitions that can be had as they are asked for.
func partitionedGPU(t *testing.T) cloudprovider.DevicePool {
	facts, err := catalog.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	types, err := instancetype.ResolveSettings(facts, instancetype.Settings{
		DeviceDrivers: map[string]string{instancetype.DevicesNVIDIA: instancetype.NVIDIADriver}, NVIDIAMIG: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, it := range types {
		if it.Name == "p5.4xlarge" {
			return it.Devices[0]
		}
	}
	t.Fatal("there is no p5.4xlarge")
	return cloudprovider.DevicePool{}
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
	for _, pool := range cloudprovider.BindDevices(it.Devices, func(key string) string { return node.Labels[key] }) {
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

// makeClass creates a class of a driver's devices of a type.
func makeClass(t *testing.T, cluster *harness.Cluster, name, driver, kind string) {
	t.Helper()
	classes := cluster.Client.ResourceV1().DeviceClasses()
	t.Cleanup(func() {
		if err := classes.Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	_, err := classes.Create(t.Context(), &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: resourcev1.DeviceClassSpec{
		Selectors: []resourcev1.DeviceSelector{selector("device.driver == '" + driver + "' && device.attributes['" + driver + "'].type == '" + kind + "'")},
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

// profiled selects partitions of an NVIDIA GPU by profile.
func profiled(profile string) resourcev1.DeviceSelector {
	return selector("device.attributes['" + instancetype.NVIDIADriver + "'].profile == '" + profile + "'")
}

func specFor(request resourcev1.DeviceRequest) resourcev1.ResourceClaimSpec {
	request.Name = "devices"
	return resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{request}}}
}

// claiming creates a deployment whose pods claim devices by a template of the request, each its own.
func claiming(t *testing.T, cluster *harness.Cluster, name string, replicas int32, request resourcev1.DeviceRequest) {
	t.Helper()
	_, err := cluster.Client.ResourceV1().ResourceClaimTemplates(cluster.Namespace).Create(t.Context(), &resourcev1.ResourceClaimTemplate{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: resourcev1.ResourceClaimTemplateSpec{Spec: specFor(request)},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	deployClaiming(cluster, name, replicas, corev1.PodResourceClaim{Name: "devices", ResourceClaimTemplateName: &name})
}

// sharing creates a deployment whose pods all have the devices of one claim.
func sharing(t *testing.T, cluster *harness.Cluster, name string, replicas int32, request resourcev1.DeviceRequest) {
	t.Helper()
	_, err := cluster.Client.ResourceV1().ResourceClaims(cluster.Namespace).Create(t.Context(), &resourcev1.ResourceClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: specFor(request),
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	deployClaiming(cluster, name, replicas, corev1.PodResourceClaim{Name: "devices", ResourceClaimName: &name})
}

func deployClaiming(cluster *harness.Cluster, name string, replicas int32, claim corev1.PodResourceClaim) {
	pod := harness.Pod("500m", "512Mi")
	pod.Spec.ResourceClaims = []corev1.PodResourceClaim{claim}
	pod.Spec.Containers[0].Resources.Claims = []corev1.ResourceClaim{{Name: claim.Name}}
	cluster.CreateDeployment(name, replicas, pod)
}

// TestClaimedDevices has pods claim whole GPUs, halves of GPUs, partitions (MIG), alternatives, and devices that they share. All run, on nodes that are initialised
// once the driver has published, and of the types that were planned; the scheduler has allocated no device twice, and no more of a GPU than it has.
func TestClaimedDevices(t *testing.T) {
	types := deviceTypes(t)
	cluster := server.Start(t, harness.Options{Types: types})
	startDriver(t, cluster, types)
	makeClass(t, cluster, "gpu", deviceDriver, "gpu")
	makeClass(t, cluster, "half", deviceDriver, "half")
	makeClass(t, cluster, "mig", instancetype.NVIDIADriver, "mig")
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
	claiming(t, cluster, "slices", 9, exactly("mig", 1, profiled("1g.10gb")))
	claiming(t, cluster, "thirds", 3, exactly("mig", 1, profiled("3g.40gb")))
	sharing(t, cluster, "together", 3, exactly("gpu", 1, atLeast("48Gi")))
	replicas := map[string]int{"any": 3, "pair": 1, "halves": 3, "either": 1, "slices": 9, "thirds": 3, "together": 3}
	for _, name := range slices.Sorted(maps.Keys(replicas)) {
		cluster.Eventually("the pods of "+name+" run", patience, cluster.PodsRun(name, replicas[name]))
	}
	cluster.Note("%d nodes", len(cluster.Nodes()))
	cluster.Eventually("nodes, claims and instances belong together", patience, cluster.Settled(-1))
	noneTwice(t, cluster, types)
	togetherOnOneNode(t, cluster, "together")
	oneAlternative(t, cluster, "either", "devices/small")
	claims, err := cluster.Claims()
	if err != nil {
		t.Fatal(err)
	}
	// Of 24 pods: three with a GPU and one with either, one with two GPUs of 80Gi, two by two on halves, three that share a GPU of 80Gi, nine slices of which seven
	// are a GPU's and three thirds of which two are. The scheduler binds in an order of its own, so that a pod may wait for a node more, but not for many.
	if n := len(claims); n < 9 || n > 13 {
		t.Errorf("%d NodeClaims, want 9 or a few more", n)
	}
	for i := range claims {
		if got := claims[i].Annotations[v1.RequestedDRADriversAnnotationKey]; got != deviceDriver && got != instancetype.NVIDIADriver {
			t.Errorf("NodeClaim %s waits for the drivers %q", claims[i].Name, got)
		}
	}
}

// TestDevicesAreLearned has a driver publish two GPUs where the instance type says one. A pod that claims two of that kind, which no instance type lists, runs once a
// node has shown them, and the NodePool keeps what was learned.
func TestDevicesAreLearned(t *testing.T) {
	types := deviceTypes(t)
	published := make([]*cloudprovider.InstanceType, len(types))
	for i, it := range types {
		published[i] = it
		if cpu := it.Capacity[corev1.ResourceCPU]; cpu.Value() == 4 {
			other := *it
			other.Devices = []cloudprovider.DevicePool{{Driver: deviceDriver, Devices: []resourcev1.Device{testDevice("gpu-0", "gpu", "24Gi"), testDevice("gpu-1", "gpu", "24Gi")}}}
			published[i] = &other
		}
	}
	cluster := server.Start(t, harness.Options{Types: types})
	startDriver(t, cluster, published)
	makeClass(t, cluster, "gpu", deviceDriver, "gpu")
	options := reconcilers.Options{DeviceMatcher: dra.New()}
	options.Features.Devices = true
	startController(t, cluster, options)
	cluster.CreateNodePool(harness.NodePool("default"))
	poolsReady(t, cluster, "default")
	small := func(count int64) resourcev1.DeviceRequest {
		return resourcev1.DeviceRequest{Exactly: &resourcev1.ExactDeviceRequest{
			DeviceClassName: "gpu", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: count,
			Selectors: []resourcev1.DeviceSelector{selector("device.capacity['" + deviceDriver + "'].memory.compareTo(quantity('48Gi')) < 0")},
		}}
	}
	claiming(t, cluster, "two", 1, small(2))
	cluster.Eventually("no instance type is known to have two", patience, cluster.PodsUnschedulable("two", 1))
	if claims, err := cluster.Claims(); err != nil || len(claims) > 0 {
		t.Fatalf("%d NodeClaims, %v", len(claims), err)
	}
	cluster.Scale("two", 0) // so that the other pod takes one of the first node's, and two of one node need another
	claiming(t, cluster, "one", 1, small(1))
	cluster.Eventually("the pod with one runs", patience, cluster.PodsRun("one", 1))
	cluster.Scale("two", 1)
	cluster.Eventually("the pod with two runs", patience, cluster.PodsRun("two", 1))
	if nodes := len(cluster.Nodes()); nodes != 2 {
		t.Errorf("%d nodes, want one that was planned by what the first has", nodes)
	}
	cluster.Eventually("nodes, claims and instances belong together", patience, cluster.Settled(-1))
	noneTwice(t, cluster, published)
	cluster.Eventually("the pool keeps it", patience, func() (bool, string) {
		pool, err := cluster.NodePools.Get(t.Context(), "default", metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		return pool.Annotations[v1.LearnedDevicesAnnotationKey] != "", fmt.Sprint(pool.Annotations)
	})
}

// allocatedClaims are the claims that are allocated, by name; one that is not is an error.
func allocatedClaims(t *testing.T, cluster *harness.Cluster) []resourcev1.ResourceClaim {
	t.Helper()
	list, err := cluster.Client.ResourceV1().ResourceClaims(cluster.Namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range list.Items {
		if list.Items[i].Status.Allocation == nil {
			t.Errorf("claim %s is not allocated", list.Items[i].Name)
		}
	}
	return slices.DeleteFunc(list.Items, func(c resourcev1.ResourceClaim) bool { return c.Status.Allocation == nil })
}

// noneTwice looks at what the scheduler has allocated: no device twice, and no more of a counter than a node of the type has.
func noneTwice(t *testing.T, cluster *harness.Cluster, types []*cloudprovider.InstanceType) {
	t.Helper()
	taken := map[string]string{}
	used := map[string]*resource.Quantity{} // by node, set and counter
	for _, claim := range allocatedClaims(t, cluster) {
		for _, r := range claim.Status.Allocation.Devices.Results {
			device := r.Pool + "/" + r.Device
			if other := taken[device]; other != "" {
				t.Errorf("%s is allocated to %s and to %s", device, other, claim.Name)
			}
			taken[device] = claim.Name
			node := cluster.Node(r.Pool)
			for _, it := range types {
				if it.Name != node.Labels[corev1.LabelInstanceTypeStable] {
					continue
				}
				for _, d := range it.Devices[0].Devices {
					if d.Name == r.Device {
						consume(t, used, node.Name, &it.Devices[0], &d)
					}
				}
			}
		}
	}
	t.Logf("allocated: %v", slices.Sorted(maps.Keys(taken)))
}

// consume adds what a device takes of the counters of its node.
func consume(t *testing.T, used map[string]*resource.Quantity, node string, pool *cloudprovider.DevicePool, d *resourcev1.Device) {
	t.Helper()
	for _, c := range d.ConsumesCounters {
		for _, set := range pool.SharedCounters {
			if set.Name != c.CounterSet {
				continue
			}
			for name, amount := range c.Counters {
				key := node + "/" + set.Name + "/" + name
				if used[key] == nil {
					used[key] = &resource.Quantity{}
				}
				used[key].Add(amount.Value)
				if has := set.Counters[name].Value; used[key].Cmp(has) > 0 {
					t.Errorf("%s is used up: %s of %s", key, used[key], &has)
				}
			}
		}
	}
}

// togetherOnOneNode looks at pods that share a claim: it has one device, reserved for all of them, and they are on one node.
func togetherOnOneNode(t *testing.T, cluster *harness.Cluster, name string) {
	t.Helper()
	nodes := map[string]bool{}
	pods := cluster.Pods(name)
	for _, pod := range pods {
		nodes[pod.Spec.NodeName] = true
	}
	if len(nodes) != 1 {
		t.Errorf("the pods of %s are on %d nodes", name, len(nodes))
	}
	for _, claim := range allocatedClaims(t, cluster) {
		if claim.Name == name && (len(claim.Status.Allocation.Devices.Results) != 1 || len(claim.Status.ReservedFor) != len(pods)) {
			t.Errorf("claim %s has %d devices, and is reserved for %d of %d pods", name, len(claim.Status.Allocation.Devices.Results), len(claim.Status.ReservedFor), len(pods))
		}
	}
}

// oneAlternative looks at which alternative the claims of a deployment were allocated.
func oneAlternative(t *testing.T, cluster *harness.Cluster, name, want string) {
	t.Helper()
	found := false
	for _, claim := range allocatedClaims(t, cluster) {
		if !strings.HasPrefix(claim.Name, name+"-") {
			continue
		}
		found = true
		for _, r := range claim.Status.Allocation.Devices.Results {
			if r.Request != want {
				t.Errorf("claim %s is allocated %s, want %s", claim.Name, r.Request, want)
			}
		}
	}
	if !found {
		t.Errorf("no claim of %s", name)
	}
}
