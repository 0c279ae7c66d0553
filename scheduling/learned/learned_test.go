package learned_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/learned"
)

const driver = "gpu.example.com"

var start = time.Date(2026, 11, 26, 9, 0, 0, 0, time.UTC)

// gpu is a device with a memory and further attributes, given as "name=value".
func gpu(name, memory string, attributes ...string) resourcev1.Device {
	d := resourcev1.Device{
		Name: name, Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{},
		Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse(memory)}},
	}
	for _, a := range attributes {
		key, text, _ := strings.Cut(a, "=")
		d.Attributes[resourcev1.QualifiedName(key)] = resourcev1.DeviceAttribute{StringValue: &text}
	}
	return d
}

func gpus(n int, memory string, attributes ...string) (out []resourcev1.Device) {
	for i := range n {
		out = append(out, gpu(fmt.Sprintf("gpu-%d", i), memory, attributes...))
	}
	return out
}

// fleet is a snapshot with a pool "default" of one type "large" that says it has the devices.
func fleet(devices ...resourcev1.Device) *scheduling.Snapshot {
	it := &cloudprovider.InstanceType{Name: "large"}
	if len(devices) > 0 {
		it.Devices = []cloudprovider.DevicePool{{Driver: driver, Devices: devices}}
	}
	return &scheduling.Snapshot{
		Time: start, Catalogs: map[string][]*cloudprovider.InstanceType{"all": {{Name: "small"}, it}},
		NodePools: []scheduling.NodePool{{Object: &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, Catalog: "all"}},
	}
}

// join adds an initialised node of the type, on which the driver has published the devices.
func join(s *scheduling.Snapshot, name string, devices ...resourcev1.Device) *scheduling.Node {
	s.Nodes = append(s.Nodes, scheduling.Node{Name: name, Pool: v1.NewPoolKey("default"), Object: &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: name, CreationTimestamp: metav1.NewTime(s.Time),
		Labels: map[string]string{corev1.LabelInstanceTypeStable: "large", v1.NodeInitializedLabelKey: "true"},
	}}})
	publish(s, driver, name, devices...)
	return &s.Nodes[len(s.Nodes)-1]
}

func publish(s *scheduling.Snapshot, driver, node string, devices ...resourcev1.Device) *resourcev1.ResourceSlice {
	slice := &resourcev1.ResourceSlice{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", node, len(s.ResourceSlices))},
		Spec: resourcev1.ResourceSliceSpec{
			Driver: driver, NodeName: &node, Pool: resourcev1.ResourcePool{Name: node, Generation: 1, ResourceSliceCount: 1}, Devices: devices,
		},
	}
	s.ResourceSlices = append(s.ResourceSlices, slice)
	return slice
}

// learn is what Devices says, without problems.
func learn(t *testing.T, s *scheduling.Snapshot) learned.Corrections {
	t.Helper()
	out, problems := learned.Devices(s)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return out
}

// print is a line for each device of the corrections that are applied.
func print(corrections learned.Corrections) (out []string) {
	for _, c := range corrections {
		if c.Unconfirmed {
			out = append(out, "unconfirmed")
			continue
		}
		for _, p := range c.Pools {
			for _, d := range p.Devices {
				line := fmt.Sprintf("%s%s %s", p.Driver, p.Suffix, d.Name)
				for name, q := range d.Capacity {
					line += fmt.Sprintf(" %s=%s", name, q.Value.String())
				}
				var attributes []string
				for name, a := range d.Attributes {
					if a.StringValue != nil {
						attributes = append(attributes, fmt.Sprintf(" %s=%s", name, *a.StringValue))
					}
				}
				slices.Sort(attributes)
				out = append(out, line+strings.Join(attributes, "")+strings.Repeat(" tainted", len(d.Taints)))
			}
		}
	}
	return out
}

func TestDevices(t *testing.T) {
	for _, c := range []struct {
		name       string
		template   []resourcev1.Device
		nodes      [][]resourcev1.Device
		want       []string
		difference string
	}{
		{name: "no nodes", template: gpus(1, "24Gi")},
		{name: "as the type says", template: gpus(2, "24Gi", "productName=A"), nodes: [][]resourcev1.Device{gpus(2, "24Gi", "productName=A")}},
		{
			name: "another product with less memory", template: gpus(1, "24Gi", "productName=A"), nodes: [][]resourcev1.Device{gpus(1, "22Gi", "productName=B")},
			want: []string{driver + " gpu-0 memory=22Gi productName=B"}, difference: "memory 22Gi in place of 24Gi; productName B in place of A",
		},
		{
			name: "more devices", template: gpus(1, "24Gi"), nodes: [][]resourcev1.Device{gpus(2, "24Gi")},
			want: []string{driver + " gpu-0 memory=24Gi", driver + " gpu-1 memory=24Gi"}, difference: "2 devices in place of 1 device",
		},
		{
			name: "a driver that the type does not list", nodes: [][]resourcev1.Device{gpus(1, "24Gi", "uuid=4711")},
			want: []string{driver + " gpu-0 memory=24Gi"}, difference: "1 device in place of none",
		},
		{
			name: "one node with fewer may be broken", template: gpus(3, "24Gi"), nodes: [][]resourcev1.Device{gpus(2, "24Gi")},
			want: []string{"unconfirmed"}, difference: "2 devices in place of 3 devices",
		},
		{
			name: "two nodes with fewer", template: gpus(3, "24Gi"), nodes: [][]resourcev1.Device{gpus(1, "24Gi"), gpus(1, "24Gi")},
			want: []string{driver + " gpu-0 memory=24Gi"}, difference: "1 device in place of 3 devices",
		},
		{name: "most nodes count", template: gpus(2, "24Gi"), nodes: [][]resourcev1.Device{gpus(2, "24Gi"), gpus(1, "24Gi"), gpus(2, "24Gi")}},
		{
			name: "of two that differ the fewest, which is one node", template: gpus(2, "24Gi"), nodes: [][]resourcev1.Device{gpus(2, "24Gi"), gpus(1, "24Gi")},
			want: []string{"unconfirmed"}, difference: "1 device in place of 2 devices",
		},
		{
			name: "the least memory of those that agree", template: gpus(2, "24Gi"), nodes: [][]resourcev1.Device{
				{gpu("gpu-0", "22Gi"), gpu("gpu-1", "23Gi")}, {gpu("gpu-0", "24Gi"), gpu("gpu-1", "21Gi")}, {gpu("gpu-0", "24Gi"), gpu("gpu-1", "24Gi")},
			},
			want: []string{driver + " gpu-0 memory=21Gi", driver + " gpu-1 memory=23Gi"}, difference: "memory 21Gi, 23Gi in place of 24Gi",
		},
		{
			name: "what nodes have for themselves is left out, or stood in for where it is compared", template: gpus(1, "24Gi", "productName=A"),
			nodes: [][]resourcev1.Device{
				{gpu("part-0", "8Gi", "productName=A", "driverVersion=580", "uuid=a0", "parent=a"), gpu("part-1", "8Gi", "productName=A", "driverVersion=580", "uuid=a1", "parent=a")},
				{gpu("part-0", "8Gi", "productName=A", "driverVersion=580", "uuid=b0", "parent=b"), gpu("part-1", "8Gi", "productName=A", "driverVersion=580", "uuid=b1", "parent=b")},
			},
			want: []string{
				driver + " part-0 memory=8Gi driverVersion=580 parent=own-0 productName=A", driver + " part-1 memory=8Gi driverVersion=580 parent=own-0 productName=A",
			},
			difference: "2 devices in place of 1 device; memory 8Gi in place of 24Gi",
		},
		{
			name: "two nodes, two products: none is certain", template: gpus(1, "24Gi", "productName=A"),
			nodes: [][]resourcev1.Device{gpus(1, "24Gi", "productName=B"), gpus(1, "24Gi", "productName=C")},
			want:  []string{driver + " gpu-0 memory=24Gi productName=own-0"},
		},
		{
			name: "names of devices that differ", template: gpus(1, "24Gi"),
			nodes: [][]resourcev1.Device{{gpu("pci-a", "24Gi"), gpu("pci-b", "24Gi")}, {gpu("pci-c", "24Gi"), gpu("pci-d", "24Gi")}},
			want:  []string{driver + " device-0 memory=24Gi", driver + " device-1 memory=24Gi"}, difference: "2 devices in place of 1 device",
		},
		{name: "too many devices to learn", template: gpus(1, "24Gi"), nodes: [][]resourcev1.Device{gpus(1025, "24Gi")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := fleet(c.template...)
			for i, devices := range c.nodes {
				join(s, fmt.Sprintf("node-%d", i), devices...)
			}
			got := learn(t, s)
			if diff := cmp.Diff(c.want, print(got)); diff != "" {
				t.Errorf("learned (-want +got):\n%s", diff)
			}
			if difference := differences(got); difference != c.difference {
				t.Errorf("difference %q, want %q", difference, c.difference)
			}
			slices.Reverse(s.Nodes)
			slices.Reverse(s.ResourceSlices)
			if diff := cmp.Diff(got, learn(t, s)); diff != "" {
				t.Errorf("in another order of nodes and slices (-first +second):\n%s", diff)
			}
		})
	}
}

func differences(corrections learned.Corrections) string {
	var out []string
	for _, c := range corrections {
		out = append(out, c.Difference)
	}
	return strings.Join(out, " | ")
}

// Nodes that say nothing of the next one: those that are not ready for pods, that leave, that nobody launches again, and those whose driver has not published all.
func TestNodesThatSayNothing(t *testing.T) {
	for name, change := range map[string]func(s *scheduling.Snapshot, n *scheduling.Node){
		"not initialised": func(_ *scheduling.Snapshot, n *scheduling.Node) { delete(n.Object.Labels, v1.NodeInitializedLabelKey) },
		"leaving":         func(_ *scheduling.Snapshot, n *scheduling.Node) { n.Leaving = true },
		"of no pool":      func(_ *scheduling.Snapshot, n *scheduling.Node) { n.Pool = v1.PoolKey{} },
		"of a type that is not sold": func(_ *scheduling.Snapshot, n *scheduling.Node) {
			n.Object.Labels[corev1.LabelInstanceTypeStable] = "old"
		},
		"drifted": func(_ *scheduling.Snapshot, n *scheduling.Node) {
			n.Claim = &v1.NodeClaim{}
			n.Claim.Status.Conditions = []metav1.Condition{{Type: v1.ConditionInitialized, Status: metav1.ConditionTrue}, {Type: v1.ConditionDrifted, Status: metav1.ConditionTrue}}
		},
		"a slice is missing":  func(s *scheduling.Snapshot, _ *scheduling.Node) { s.ResourceSlices[0].Spec.Pool.ResourceSliceCount = 2 },
		"slices of all nodes": func(s *scheduling.Snapshot, _ *scheduling.Node) { s.ResourceSlices[0].Spec.NodeName = nil },
		"a newer generation is not complete": func(s *scheduling.Snapshot, _ *scheduling.Node) {
			newer := publish(s, driver, "a", gpus(1, "24Gi")...)
			newer.Spec.Pool.Generation, newer.Spec.Pool.ResourceSliceCount = 2, 2
		},
	} {
		s := fleet(gpus(1, "24Gi")...)
		n := join(s, "a", gpus(2, "24Gi")...)
		if len(learn(t, s)) != 1 {
			t.Fatal("nothing is learned from the node")
		}
		change(s, n)
		if got := learn(t, s); len(got) > 0 {
			t.Errorf("%s: %v", name, print(got))
		}
	}
	if got, problems := learned.Devices(nil); got != nil || problems != nil {
		t.Error("something is learned of nothing")
	}
}

// A taint that some devices have says how they fare; one that all have is learned. When it was added is not.
func TestTaints(t *testing.T) {
	s := fleet(gpus(1, "24Gi")...)
	devices := gpus(2, "24Gi")
	now := metav1.NewTime(start)
	sick, kept := resourcev1.DeviceTaint{Key: "sick", Effect: "NoExecute", TimeAdded: &now}, resourcev1.DeviceTaint{Key: "kept", Effect: "NoSchedule", TimeAdded: &now}
	devices[0].Taints, devices[1].Taints = []resourcev1.DeviceTaint{sick, kept}, []resourcev1.DeviceTaint{kept}
	join(s, "a", devices...)
	got := learn(t, s)
	if diff := cmp.Diff([]string{driver + " gpu-0 memory=24Gi tainted", driver + " gpu-1 memory=24Gi tainted"}, print(got)); diff != "" {
		t.Error(diff)
	}
	if taint := got[0].Pools[0].Devices[0].Taints[0]; taint.Key != "kept" || taint.TimeAdded != nil {
		t.Errorf("%+v", taint)
	}
}

// Devices of several slices and pools, with counters, and attributes that claims compare across drivers.
func TestPoolsOfDrivers(t *testing.T) {
	s := fleet(gpus(1, "24Gi", "resource.kubernetes.io/pcieRoot=root-0")...)
	join(s, "a", gpu("gpu-0", "24Gi", "resource.kubernetes.io/pcieRoot=pci0000:17"), gpu("gpu-1", "24Gi", "resource.kubernetes.io/pcieRoot=pci0000:3a"))
	half := gpu("half", "12Gi")
	half.ConsumesCounters = []resourcev1.DeviceCounterConsumption{{CounterSet: "gpu", Counters: map[string]resourcev1.Counter{"slices": {Value: resource.MustParse("1")}}}}
	second := publish(s, driver, "a", half)
	second.Spec.Pool.Name, second.Spec.Pool.ResourceSliceCount = "a-parts", 2
	counters := publish(s, driver, "a")
	counters.Spec.Pool = second.Spec.Pool
	counters.Spec.SharedCounters = []resourcev1.CounterSet{{Name: "gpu", Counters: map[string]resourcev1.Counter{"slices": {Value: resource.MustParse("2")}}}}
	publish(s, "nic.example.com", "a", gpu("nic-0", "1", "resource.kubernetes.io/pcieRoot=pci0000:3a", "address=02:00"))
	got := learn(t, s)
	want := []string{
		driver + " gpu-0 memory=24Gi resource.kubernetes.io/pcieRoot=pci0000:17", driver + " gpu-1 memory=24Gi resource.kubernetes.io/pcieRoot=pci0000:3a",
		driver + "-parts half memory=12Gi", "nic.example.com nic-0 memory=1 resource.kubernetes.io/pcieRoot=pci0000:3a",
	}
	if diff := cmp.Diff(want, print(got)); diff != "" {
		t.Error(diff)
	}
	if sets := got[0].Pools[1].SharedCounters; len(sets) != 1 || sets[0].Name != "gpu" {
		t.Errorf("counters %+v", sets)
	}
}
