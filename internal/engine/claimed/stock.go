package claimed

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/engine/devices"
	"github.com/drawknife/drawknife/internal/engine/existing"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// deviceStock lists the devices of nodes, with the claims that use them, and the devices of instance types.
type deviceStock struct {
	// types are the distinct templates of instance types.
	types   []Template
	ofTypes map[Template]*devices.Inventory
	// nodes are the names of nodes with devices. ofNodes has the usage of each node's devices, by node name.
	nodes   []string
	ofNodes map[string]*devices.Usage
	// until is the earliest time at which a node's drivers must have published their devices, or zero if no node waits for its drivers.
	until time.Time
	// typed has the names of types with devices. published has the names of nodes with slices.
	typed, published map[string]bool
}

// Template identifies the devices that instances of a type publish if they are bought as certain offerings. The field pool is the type's
// first device pool, which copies of the type share. The field bound has the values that attributes are bound to, as returned by
// market.BoundText.
type Template struct {
	pool  *cloudprovider.DevicePool
	bound string
}

// TemplateOf returns the template of a type with devices that is bought as the offering.
func TemplateOf(it *cloudprovider.InstanceType, o *cloudprovider.Offering) Template {
	return Template{&it.Devices[0], market.BoundText(it, o)}
}

// Inventory returns the devices of a new node of the type that is bought as the offering.
func Inventory(it *cloudprovider.InstanceType, o *cloudprovider.Offering) *devices.Inventory {
	return devices.NewInventory(TemplateSlices(it.DevicesOf(o), "", nil))
}

func newDeviceStock(s *planning.Snapshot) *deviceStock {
	k := &deviceStock{ofTypes: map[Template]*devices.Inventory{}, ofNodes: map[string]*devices.Usage{}, typed: map[string]bool{}, published: map[string]bool{}}
	byName := map[string]*cloudprovider.InstanceType{}
	for _, name := range slices.Sorted(maps.Keys(s.Catalogs)) {
		for _, it := range s.Catalogs[name] {
			if it == nil || len(it.Devices) == 0 {
				continue
			}
			k.typed[it.Name] = true
			if byName[it.Name] == nil {
				byName[it.Name] = it
			}
			k.addType(it, nil)
			if it.DeviceLabels() == nil {
				continue
			}
			for i := range it.Offerings {
				k.addType(it, &it.Offerings[i])
			}
		}
	}
	k.addNodes(s, byName)
	return k
}

// addType adds the devices that instances of the type bought as the offering will publish.
func (k *deviceStock) addType(it *cloudprovider.InstanceType, o *cloudprovider.Offering) {
	if of := TemplateOf(it, o); k.ofTypes[of] == nil {
		k.types, k.ofTypes[of] = append(k.types, of), Inventory(it, o)
	}
}

// addNodes reads the ResourceSlices of single nodes, and finds the claims to which their devices are allocated. For ResourceSlices of
// several nodes see deviceNetwork.
func (k *deviceStock) addNodes(s *planning.Snapshot, types map[string]*cloudprovider.InstanceType) {
	slicesOf := map[string][]*resourcev1.ResourceSlice{}
	type pool struct{ driver, name string }
	nodeOf := map[pool]string{}
	for _, slice := range s.ResourceSlices {
		if name := slice.Spec.NodeName; name != nil {
			k.published[*name] = true
			slicesOf[*name] = append(slicesOf[*name], slice)
			nodeOf[pool{slice.Spec.Driver, slice.Spec.Pool.Name}] = *name
		}
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		list := slicesOf[n.Name]
		k.noteStart(n, s.Time)
		if view := existing.ViewOf(n); !view.Initialized || driversStart(n, s.Time) {
			if it := types[view.Labels[corev1.LabelInstanceTypeStable]]; it != nil {
				pools := cloudprovider.BindDevices(it.Devices, func(key string) string { return view.Labels[key] })
				list = slices.Concat(list, TemplateSlices(pools, n.Name, list))
			}
		}
		if len(list) > 0 && k.ofNodes[n.Name] == nil {
			inv := devices.NewInventory(list)
			k.nodes, k.ofNodes[n.Name] = append(k.nodes, n.Name), devices.NewUsage(inv)
		}
	}
	slices.Sort(k.nodes)
	for _, claim := range s.ResourceClaims {
		if claim.Status.Allocation == nil {
			continue
		}
		for i := range claim.Status.Allocation.Devices.Results {
			r := &claim.Status.Allocation.Devices.Results[i]
			if usage := k.ofNodes[nodeOf[pool{r.Driver, r.Pool}]]; usage != nil {
				usage.Hold(r)
			}
		}
	}
}

// driverStart is the time that a driver may take to publish the devices of a new node. For this time, the devices of the instance type are
// counted. Without them, another node would be launched for the pods that wait for the devices of this node.
const driverStart = 10 * time.Minute

// driversStart reports whether the node is so new that its drivers may not have published devices yet.
func driversStart(n *planning.Node, now time.Time) bool {
	return n.Object != nil && !n.Object.CreationTimestamp.IsZero() && now.Sub(n.Object.CreationTimestamp.Time) < driverStart
}

// TemplateSlices returns the ResourceSlices that drivers will publish for the named node. It omits drivers that already have ResourceSlices
// in the list there.
func TemplateSlices(pools []cloudprovider.DevicePool, node string, there []*resourcev1.ResourceSlice) []*resourcev1.ResourceSlice {
	all := true
	var out []*resourcev1.ResourceSlice
	for i := range pools {
		p := &pools[i]
		if slices.ContainsFunc(there, func(s *resourcev1.ResourceSlice) bool { return s.Spec.Driver == p.Driver }) {
			continue
		}
		out = append(out, &resourcev1.ResourceSlice{
			ObjectMeta: metav1.ObjectMeta{Name: node + p.Suffix},
			Spec: resourcev1.ResourceSliceSpec{
				Driver: p.Driver, Pool: resourcev1.ResourcePool{Name: node + p.Suffix, ResourceSliceCount: 1}, AllNodes: &all,
				Devices: p.Devices, SharedCounters: p.SharedCounters,
			},
		})
	}
	return out
}
