package learned

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

const (
	// maxNodes is the largest number of nodes of a pool and type that are compared. The newest nodes are compared, because they are most
	// similar to the next node.
	maxNodes = 32
	// maxDevices is the largest number of devices of a driver that are learned for a type. Types with more devices keep their templates.
	maxDevices = 1024
)

// kind identifies the nodes that share a template: the instances of a type in a pool. Pools are separate, because the drivers on a node,
// and their settings, can depend on its labels and taints.
type kind struct {
	pool         v1.PoolKey
	instanceType string
}

func (k kind) compare(other kind) int {
	return cmp.Or(k.pool.Compare(other.pool), strings.Compare(k.instanceType, other.instanceType))
}

// published contains the devices that the drivers of a node have published. It has only drivers whose pools are all complete.
type published struct {
	node    string
	drivers map[string][]cloudprovider.DevicePool
}

// publications returns the devices that the initialised nodes of pools have published, by kind. Within a kind, the newest nodes come first.
func publications(s *scheduling.Snapshot) map[kind][]published {
	byNode := map[string][]*resourcev1.ResourceSlice{}
	for _, slice := range s.ResourceSlices {
		if slice == nil {
			continue
		}
		if name := slice.Spec.NodeName; name != nil {
			byNode[*name] = append(byNode[*name], slice)
		}
	}
	if len(byNode) == 0 {
		return nil
	}
	var nodes []*scheduling.Node
	for i := range s.Nodes {
		if n := &s.Nodes[i]; len(byNode[n.Name]) > 0 && speaks(n) {
			nodes = append(nodes, n)
		}
	}
	slices.SortFunc(nodes, func(a, b *scheduling.Node) int {
		return cmp.Or(b.Object.CreationTimestamp.Compare(a.Object.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
	})
	out := map[kind][]published{}
	for _, n := range nodes {
		k := kind{n.Pool, n.Object.Labels[corev1.LabelInstanceTypeStable]}
		if len(out[k]) == maxNodes {
			continue
		}
		one := published{n.Name, map[string][]cloudprovider.DevicePool{}}
		for driver, list := range byDriver(byNode[n.Name]) {
			if pools, ok := poolsOf(driver, n.Name, list); ok {
				one.drivers[driver] = pools
			}
		}
		if len(one.drivers) > 0 {
			out[k] = append(out[k], one)
		}
	}
	return out
}

// speaks reports whether the next node of the same kind will have devices like those published on this node. A drifted node was created
// with other settings.
func speaks(n *scheduling.Node) bool {
	if n.Object == nil || n.Leaving || n.Pool.IsZero() || n.Object.Labels[corev1.LabelInstanceTypeStable] == "" {
		return false
	}
	if n.Claim == nil {
		return n.Object.Labels[v1.NodeInitializedLabelKey] == "true"
	}
	is := func(condition string) bool { return meta.IsStatusConditionTrue(n.Claim.Status.Conditions, condition) }
	return !is(v1.ConditionDrifted) && (is(v1.ConditionInitialized) || n.Object.Labels[v1.NodeInitializedLabelKey] == "true")
}

func byDriver(list []*resourcev1.ResourceSlice) map[string][]*resourcev1.ResourceSlice {
	out := map[string][]*resourcev1.ResourceSlice{}
	for _, slice := range list {
		out[slice.Spec.Driver] = append(out[slice.Spec.Driver], slice)
	}
	return out
}

// poolsOf returns the pools that a driver has published on a node, in the form of templates. It returns false if one of the pools is
// incomplete, invalid or too large.
func poolsOf(driver, node string, list []*resourcev1.ResourceSlice) ([]cloudprovider.DevicePool, bool) {
	newest := map[string]int64{}
	for _, slice := range list {
		newest[slice.Spec.Pool.Name] = max(newest[slice.Spec.Pool.Name], slice.Spec.Pool.Generation)
	}
	list = slices.DeleteFunc(slices.Clone(list), func(slice *resourcev1.ResourceSlice) bool {
		return slice.Spec.Pool.Generation < newest[slice.Spec.Pool.Name]
	})
	// Names of slices are generated and differ from node to node, so slices are ordered by their devices.
	slices.SortFunc(list, func(a, b *resourcev1.ResourceSlice) int {
		return cmp.Or(strings.Compare(firstDevice(a), firstDevice(b)), strings.Compare(a.Name, b.Name))
	})
	var out []cloudprovider.DevicePool
	devices := 0
	for i, name := range slices.Sorted(maps.Keys(newest)) {
		pool := cloudprovider.DevicePool{Driver: driver}
		if suffix, named := strings.CutPrefix(name, node); named {
			pool.Suffix = suffix
		} else if i > 0 {
			pool.Suffix = fmt.Sprintf("-%d", i)
		}
		want, have := int64(0), int64(0)
		for _, slice := range list {
			if slice.Spec.Pool.Name != name {
				continue
			}
			want, have = slice.Spec.Pool.ResourceSliceCount, have+1
			for k := range slice.Spec.Devices {
				pool.Devices = append(pool.Devices, ofAnyNode(&slice.Spec.Devices[k]))
			}
			pool.SharedCounters = append(pool.SharedCounters, slice.Spec.SharedCounters...)
		}
		devices += len(pool.Devices)
		if have < want || devices > maxDevices || len(cloudprovider.ValidateDevicePool(&pool, nil)) > 0 {
			return nil, false
		}
		if len(pool.Devices) > 0 {
			out = append(out, pool)
		}
	}
	keepCommonTaints(out)
	return out, len(out) > 0
}

func firstDevice(slice *resourcev1.ResourceSlice) string {
	if len(slice.Spec.Devices) == 0 {
		return ""
	}
	return slice.Spec.Devices[0].Name
}

// ofAnyNode returns a copy of the device without the fields that say on which node it is, and without the times of its taints.
func ofAnyNode(d *resourcev1.Device) resourcev1.Device {
	out := *d.DeepCopy()
	out.NodeName, out.NodeSelector, out.AllNodes = nil, nil, nil
	for i := range out.Taints {
		out.Taints[i].TimeAdded = nil
	}
	return out
}

// keepCommonTaints removes taints that only some of the devices have. Such taints describe the state of these devices, but not the devices
// of a new node.
func keepCommonTaints(pools []cloudprovider.DevicePool) {
	count, total := map[string]int{}, 0
	key := func(t *resourcev1.DeviceTaint) string { return fmt.Sprintf("%s=%s:%s", t.Key, t.Value, t.Effect) }
	for i := range pools {
		for k := range pools[i].Devices {
			total++
			for t := range pools[i].Devices[k].Taints {
				count[key(&pools[i].Devices[k].Taints[t])]++
			}
		}
	}
	for i := range pools {
		for k := range pools[i].Devices {
			d := &pools[i].Devices[k]
			d.Taints = slices.DeleteFunc(d.Taints, func(t resourcev1.DeviceTaint) bool { return count[key(&t)] < total })
			if len(d.Taints) == 0 {
				d.Taints = nil
			}
		}
	}
}
