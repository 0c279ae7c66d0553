package claimed

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/engine/devices"
	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// extendedResource is an extended resource that pods request and that a DeviceClass serves. On nodes with a device plugin for the resource,
// the plugin serves it. On other nodes, devices of the class serve it, as in kube-scheduler.
type extendedResource struct {
	name corev1.ResourceName
	// class is the DeviceClass of the devices. The field one has the needs of a pod that requests one unit of the resource. err is the
	// reason why devices can't serve the resource, or nil.
	class string
	one   devices.Needs
	err   error
}

// extendedResources returns the extended resources that pods of the roster or of DaemonSets request, sorted by name. It returns none if the
// snapshot has no DeviceClass.
func extendedResources(s *planning.Snapshot, r *likeness.Roster) []extendedResource {
	if len(s.DeviceClasses) == 0 {
		return nil
	}
	backed := BackedResources(s.DeviceClasses)
	asked := map[corev1.ResourceName]struct{}{}
	for i := range r.Patterns {
		likeness.ResourceNames(r.Patterns[i].First, asked)
	}
	for _, set := range s.DaemonSets {
		likeness.ResourceNames(&corev1.Pod{Spec: set.Spec.Template.Spec}, asked)
	}
	var out []extendedResource
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		if class := backed[name]; class != "" {
			out = append(out, extendedResource{name: name, class: class})
		}
	}
	return out
}

// BackedResources returns the extended resources that classes name, each with its class. If several classes name the same resource, the
// newest class is used. Of equally old classes, the class with the first name is used. Each class also has an extended resource that is
// derived from its own name.
func BackedResources(classes []*resourcev1.DeviceClass) map[corev1.ResourceName]string {
	sorted := slices.SortedFunc(slices.Values(classes), func(a, b *resourcev1.DeviceClass) int {
		return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	out := map[corev1.ResourceName]string{}
	for _, class := range sorted {
		out[corev1.ResourceName(resourcev1.ResourceDeviceClassPrefix+class.Name)] = class.Name
		if named := class.Spec.ExtendedResourceName; named != nil && out[corev1.ResourceName(*named)] == "" {
			out[corev1.ResourceName(*named)] = class.Name
		}
	}
	return out
}

// mostOf returns, for each extended resource of the list, the largest amount that one pod of the roster or of a DaemonSet requests.
func mostOf(s *planning.Snapshot, r *likeness.Roster, list []extendedResource) []int64 {
	out := make([]int64, len(list))
	if len(list) == 0 {
		return out
	}
	note := func(pod *corev1.Pod) {
		requests := resources.OfPod(pod)
		for i := range list {
			if q, ok := requests[list[i].name]; ok {
				out[i] = max(out[i], resources.Up(list[i].name, q))
			}
		}
	}
	for i := range r.Patterns {
		note(r.Patterns[i].First)
	}
	for _, set := range s.DaemonSets {
		note(&corev1.Pod{Spec: set.Spec.Template.Spec})
	}
	return out
}

// internExtended adds the kinds of devices that serve extended resources to x.Kinds. The parameter most has, for each of these resources,
// the largest amount that one pod requests.
func (x *Index) internExtended(classes map[string]*resourcev1.DeviceClass, most []int64) {
	for i := range x.extended {
		e := &x.extended[i]
		e.one, e.err = x.Kinds.Extended(string(e.name), e.class, classes, most[i])
	}
}

// addExtended adds to the vector requests the devices that could serve the extended resources in this vector.
func (x *Index) addExtended(requests []int64) {
	for i := range x.extended {
		e := &x.extended[i]
		at, ok := x.table.At(e.name)
		if !ok || e.err != nil || requests[at] <= 0 {
			continue
		}
		each := x.Counts.Of(e.one)
		for j := range each {
			each[j] *= requests[at]
		}
		x.add(each, requests, false)
	}
}

// AdmittedClaim is a claim of a pod. A request for an extended resource that devices serve is also represented as an AdmittedClaim.
type AdmittedClaim struct {
	*devices.Claim
	Resource corev1.ResourceName
}

// ExtendedClaims returns the claims that kube-scheduler makes for the requested extended resources that devices serve.
func (x *Index) ExtendedClaims(requests []int64) []AdmittedClaim {
	var out []AdmittedClaim
	for i := range x.extended {
		e := &x.extended[i]
		at, ok := x.table.At(e.name)
		if !ok || e.err != nil || requests[at] <= 0 {
			continue
		}
		spec := &resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{
			Name: "r", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: e.class, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: requests[at]},
		}}}
		if claim, err := devices.NewClaim(string(e.name), spec, x.classes); err == nil {
			out = append(out, AdmittedClaim{claim, e.name})
		}
	}
	return out
}

// Unplugged returns the extended resources for which the node has no device plugin. The parameter has the allocatable resources of the
// node.
func (x *Index) Unplugged(allocatable corev1.ResourceList) map[corev1.ResourceName]bool {
	out := make(map[corev1.ResourceName]bool, len(x.extended))
	for i := range x.extended {
		if q, ok := allocatable[x.extended[i].name]; !ok || q.Sign() <= 0 {
			out[x.extended[i].name] = true
		}
	}
	return out
}

// fill sets the amounts of device resources in the vector into. They are the amounts of a node with these units, plus the amounts in
// further, which may be nil. The vector already contains the node's other amounts. For an extended resource that no device plugin serves
// (unplugged), fill also sets the amount that devices can serve.
func (x *Index) fill(units devices.Units, further []int64, unplugged func(name corev1.ResourceName, at int) bool, into []int64) {
	have := x.fillExtended(func(resource string) int64 { return x.Counts.Serves(units, resource) }, unplugged, into)
	room := x.Counts.Room(units, have)
	for i, n := range further {
		room[i] += n
	}
	x.add(room, into, true)
}

// fillExtended sets, in the vector into, the amounts that devices can serve of the extended resources without a device plugin (unplugged).
// It returns the amounts that the vector has of the other extended resources.
func (x *Index) fillExtended(serves func(resource string) int64, unplugged func(name corev1.ResourceName, at int) bool, into []int64) map[string]int64 {
	var have map[string]int64
	for i := range x.extended {
		e := &x.extended[i]
		at, ok := x.table.At(e.name)
		switch {
		case !ok || e.err != nil:
		case unplugged(e.name, at):
			into[at] = serves(string(e.name))
		default:
			if have == nil {
				have = make(map[string]int64, len(x.extended))
			}
			have[string(e.name)] = max(into[at], 0)
		}
	}
	return have
}

// ServedBy removes extended resources from the requests of a new node's NodeClaim if devices serve them on one of the node's types. A node
// of such a type has no device plugin for these resources.
func (x *Index) ServedBy(types []*cloudprovider.InstanceType, options []planning.InstanceTypeOption, asked corev1.ResourceList) {
	if x == nil || len(x.extended) == 0 {
		return
	}
	for _, it := range types {
		if !slices.ContainsFunc(options, func(o planning.InstanceTypeOption) bool { return o.Name == it.Name }) {
			continue
		}
		for name := range x.Unplugged(it.Allocatable()) {
			delete(asked, name)
		}
	}
}
