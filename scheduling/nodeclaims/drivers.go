package nodeclaims

import (
	"iter"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

// RequestedDrivers returns the sorted drivers of Dynamic Resource Allocation that the plan for a new node relies on. On each possible type
// of the node, such a driver has a device that meets a request of a pod's claims. Until these drivers have published their devices, the
// node lacks planned devices. With a nil matcher, no device meets a selector. The result is nil if the plan relies on no drivers.
func RequestedDrivers(s *scheduling.Snapshot, pods []scheduling.PodKey, types []*cloudprovider.InstanceType, matcher scheduling.DeviceMatcher) []string {
	publishes := func(t *cloudprovider.InstanceType) bool { return t != nil && len(t.Devices) > 0 }
	if s == nil || len(types) == 0 || slices.ContainsFunc(types, func(t *cloudprovider.InstanceType) bool { return !publishes(t) }) {
		return nil
	}
	requests := requestsOf(s, pods)
	if len(requests) == 0 {
		return nil
	}
	var common map[string]bool
	for _, t := range types {
		drivers := map[string]bool{}
		for p := range poolsOf(t) {
			if common != nil && !common[p.Driver] || drivers[p.Driver] {
				continue
			}
			if slices.ContainsFunc(p.Devices, func(d resourcev1.Device) bool {
				return slices.ContainsFunc(requests, func(r [][]resourcev1.DeviceSelector) bool { return meets(&d, p.Driver, r, matcher) })
			}) {
				drivers[p.Driver] = true
			}
		}
		if common = drivers; len(common) == 0 {
			return nil
		}
	}
	names := slices.Sorted(maps.Keys(common))
	return names[:min(len(names), v1.MaxRequestedDRADrivers)]
}

// poolsOf yields the device pools of the type for each of its offerings. It yields pools that don't depend on the offering only once.
func poolsOf(t *cloudprovider.InstanceType) iter.Seq[*cloudprovider.DevicePool] {
	return func(yield func(*cloudprovider.DevicePool) bool) {
		for i := 0; i == 0 || i < len(t.Offerings); i++ {
			pools := t.Devices
			if len(t.Offerings) > 0 {
				pools = t.DevicesOf(&t.Offerings[i])
			}
			for j := range pools {
				if !yield(&pools[j]) {
					return
				}
			}
			if len(t.DeviceLabels()) == 0 {
				return
			}
		}
	}
}

// requestsOf returns the selectors for each request, and for each alternative of a request, of the pods' claims. The selectors of the
// DeviceClass come first.
func requestsOf(s *scheduling.Snapshot, pods []scheduling.PodKey) [][][]resourcev1.DeviceSelector {
	claiming := claimingPods(s, pods)
	if len(claiming) == 0 {
		return nil
	}
	classes := map[string][]resourcev1.DeviceSelector{}
	for _, c := range s.DeviceClasses {
		if c != nil {
			classes[c.Name] = append([]resourcev1.DeviceSelector{}, c.Spec.Selectors...)
		}
	}
	var out [][][]resourcev1.DeviceSelector
	add := func(class string, selectors []resourcev1.DeviceSelector) {
		if own, known := classes[class]; known {
			out = append(out, [][]resourcev1.DeviceSelector{own, selectors})
		}
	}
	seen := map[*resourcev1.ResourceClaimSpec]bool{}
	for _, pod := range claiming {
		for i := range pod.Spec.ResourceClaims {
			spec := specOf(s, pod.Namespace, &pod.Spec.ResourceClaims[i])
			if spec == nil || seen[spec] {
				continue
			}
			seen[spec] = true
			for j := range spec.Devices.Requests {
				r := &spec.Devices.Requests[j]
				if r.Exactly != nil {
					add(r.Exactly.DeviceClassName, r.Exactly.Selectors)
				}
				for k := range r.FirstAvailable {
					add(r.FirstAvailable[k].DeviceClassName, r.FirstAvailable[k].Selectors)
				}
			}
		}
	}
	return out
}

// claimingPods returns the pods with device claims, pending or bound.
func claimingPods(s *scheduling.Snapshot, keys []scheduling.PodKey) []*corev1.Pod {
	wanted := make(map[scheduling.PodKey]bool, len(keys))
	for _, key := range keys {
		wanted[key] = true
	}
	var out []*corev1.Pod
	add := func(list []*corev1.Pod) {
		for _, pod := range list {
			if pod != nil && len(pod.Spec.ResourceClaims) > 0 && wanted[scheduling.PodKey{Namespace: pod.Namespace, Name: pod.Name}] {
				out = append(out, pod)
			}
		}
	}
	add(s.Pods)
	add(s.Placeholders)
	for i := range s.Nodes {
		add(s.Nodes[i].Pods)
	}
	return out
}

func specOf(s *scheduling.Snapshot, namespace string, claim *corev1.PodResourceClaim) *resourcev1.ResourceClaimSpec {
	if name := claim.ResourceClaimName; name != nil {
		for _, c := range s.ResourceClaims {
			if c != nil && c.Namespace == namespace && c.Name == *name {
				return &c.Spec
			}
		}
	}
	if name := claim.ResourceClaimTemplateName; name != nil {
		for _, t := range s.ResourceClaimTemplates {
			if t != nil && t.Namespace == namespace && t.Name == *name {
				return &t.Spec.Spec
			}
		}
	}
	return nil
}

// meets reports whether the device meets all the selectors.
func meets(d *resourcev1.Device, driver string, lists [][]resourcev1.DeviceSelector, matcher scheduling.DeviceMatcher) bool {
	for _, list := range lists {
		for i := range list {
			if list[i].CEL == nil || matcher == nil {
				return false
			}
			if ok, err := matcher.Matches(list[i].CEL.Expression, driver, d); err != nil || !ok {
				return false
			}
		}
	}
	return true
}
