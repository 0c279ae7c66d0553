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

// extendedResource is one that pods ask for and a DeviceClass stands behind: nodes whose device plugin has it serve it as ever, others
// with devices of the class, as kube-scheduler does.
type extendedResource struct {
	name corev1.ResourceName
	// class is that of the devices, one is what a pod needs for one of the resource, or err why devices can't serve it.
	class string
	one   devices.Needs
	err   error
}

// extendedResources are those that pods of the roster or of DaemonSets ask for, by name. Without a DeviceClass there are none.
func extendedResources(s *planning.Snapshot, r *likeness.Roster) []extendedResource {
	if len(s.DeviceClasses) == 0 {
		return nil
	}
	backed := backedResources(s.DeviceClasses)
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

// backedResources are the extended resources that classes name, with the classes: of several with one name the newest counts, of equally
// old ones the first by name. Each class stands behind a resource of its own name, too.
func backedResources(classes []*resourcev1.DeviceClass) map[corev1.ResourceName]string {
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

// mostOf is the largest amount of each resource that one pod of the roster or of a DaemonSet asks for.
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

// internExtended finds the kinds of devices that serve extended resources. most is what one pod asks for at most of each.
func (x *Index) internExtended(classes map[string]*resourcev1.DeviceClass, most []int64) {
	for i := range x.extended {
		e := &x.extended[i]
		e.one, e.err = x.Kinds.Extended(string(e.name), e.class, classes, most[i])
	}
}

// addExtended adds to requests the devices that could serve the extended resources among them.
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

// AdmittedClaim is a claim of a pod, or what it asks for of an extended resource as one, where devices serve that.
type AdmittedClaim struct {
	*devices.Claim
	Resource corev1.ResourceName
}

// ExtendedClaims are the claims that kube-scheduler makes for the extended resources among requests where devices serve them.
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

// Unplugged are the extended resources that the node has none of by device plugins. allocatable is what it has in all.
func (x *Index) Unplugged(allocatable corev1.ResourceList) map[corev1.ResourceName]bool {
	out := make(map[corev1.ResourceName]bool, len(x.extended))
	for i := range x.extended {
		if q, ok := allocatable[x.extended[i].name]; !ok || q.Sign() <= 0 {
			out[x.extended[i].name] = true
		}
	}
	return out
}

// fill writes how many devices a node with the units has to their places in a vector that has its other amounts already. Of an extended
// resource that no plugin has, it has as many as devices can serve. Further is what counts on top, nil for nothing.
func (x *Index) fill(units devices.Units, further []int64, unplugged func(name corev1.ResourceName, at int) bool, into []int64) {
	have := x.fillExtended(func(resource string) int64 { return x.Counts.Serves(units, resource) }, unplugged, into)
	room := x.Counts.Room(units, have)
	for i, n := range further {
		room[i] += n
	}
	x.add(room, into, true)
}

// fillExtended writes how much devices can serve of the extended resources that no plugin has, and returns what plugins have of the others.
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

// ServedBy takes out of what a new node's NodeClaim asks for the extended resources that devices serve on one of its types: such a node
// has no device plugin for them.
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
