package reconcilers

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// reasonDevices is the reason that metrics show for pods whose device claims no node can satisfy. For other pods, metrics show the code of
// their first reason.
const reasonDevices = "Devices"

// devicelessShown updates the metric of pods that claim devices and have no place in the plan, by DeviceClass and reason. A pod that claims
// devices of several DeviceClasses is counted once for each of them.
func (m *metrics) devicelessShown(snapshot *scheduling.Snapshot, plan *scheduling.Plan) {
	m.deviceless.Reset()
	claiming := map[scheduling.PodKey]*corev1.Pod{}
	for _, pod := range snapshot.Pods {
		if len(pod.Spec.ResourceClaims) > 0 {
			claiming[scheduling.PodKey{Namespace: pod.Namespace, Name: pod.Name}] = pod
		}
	}
	if len(claiming) == 0 {
		return
	}
	specs := claimSpecsOf(snapshot)
	for i := range plan.Unschedulable {
		u := &plan.Unschedulable[i]
		pod := claiming[u.Pod]
		if pod == nil {
			continue
		}
		for _, class := range specs.classes(pod) {
			m.deviceless.WithLabelValues(class, reasonOfWaiting(u)).Inc()
		}
	}
}

// reasonOfWaiting returns the reason of a pod that claims devices.
func reasonOfWaiting(u *scheduling.Unschedulable) string {
	if slices.ContainsFunc(u.Reasons, lacksDevices) {
		return reasonDevices
	}
	if len(u.Reasons) == 0 {
		return ""
	}
	return string(u.Reasons[0].Code)
}

// lacksDevices reports whether r is about missing devices: r names devices, or its nearest miss lacks only devices.
func lacksDevices(r scheduling.Reason) bool {
	miss := r.NearestMiss
	if r.Devices != "" || miss == nil {
		return r.Devices != ""
	}
	for name := range miss.Amounts {
		if !strings.HasPrefix(string(name), planning.DevicesPrefix) {
			return false
		}
	}
	fewer := miss.Code == planning.MissResources || miss.Code == planning.MissResourceGivenUp
	return miss.Code == planning.MissDevices || fewer && miss.Also == nil
}

// claimSpecs contains the specs of existing claims, and of the templates for claims that will be created.
type claimSpecs struct {
	claims, templates map[types.NamespacedName]*resourcev1.ResourceClaimSpec
}

func claimSpecsOf(s *scheduling.Snapshot) claimSpecs {
	specs := claimSpecs{map[types.NamespacedName]*resourcev1.ResourceClaimSpec{}, map[types.NamespacedName]*resourcev1.ResourceClaimSpec{}}
	for _, c := range s.ResourceClaims {
		specs.claims[types.NamespacedName{Namespace: c.Namespace, Name: c.Name}] = &c.Spec
	}
	for _, t := range s.ResourceClaimTemplates {
		specs.templates[types.NamespacedName{Namespace: t.Namespace, Name: t.Name}] = &t.Spec.Spec
	}
	return specs
}

// classes returns the sorted DeviceClasses of a pod's claims, with an empty name for claims that don't exist.
func (s *claimSpecs) classes(pod *corev1.Pod) []string {
	names := map[string]bool{}
	for i := range pod.Spec.ResourceClaims {
		c := &pod.Spec.ResourceClaims[i]
		var spec *resourcev1.ResourceClaimSpec
		switch {
		case c.ResourceClaimName != nil:
			spec = s.claims[types.NamespacedName{Namespace: pod.Namespace, Name: *c.ResourceClaimName}]
		case c.ResourceClaimTemplateName != nil:
			spec = s.templates[types.NamespacedName{Namespace: pod.Namespace, Name: *c.ResourceClaimTemplateName}]
		}
		if spec == nil {
			names[""] = true
			continue
		}
		for j := range spec.Devices.Requests {
			r := &spec.Devices.Requests[j]
			if r.Exactly != nil {
				names[r.Exactly.DeviceClassName] = true
			}
			for k := range r.FirstAvailable {
				names[r.FirstAvailable[k].DeviceClassName] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}
