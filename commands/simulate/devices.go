package simulate

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/commands/simulate/internal/replay"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/learned"
)

// remarkOnDevices prints a remark if pods claim devices and this run can't plan them: if it can't evaluate selectors, or doesn't know the
// devices that drivers publish.
func (s *simulation) remarkOnDevices(snapshot *scheduling.Snapshot) {
	if slices.ContainsFunc(snapshot.Pods, claimsDevices) {
		s.remarkOnClaims(snapshot)
	}
}

func (s *simulation) remarkOnClaims(snapshot *scheduling.Snapshot) {
	if s.matcher == nil && selectsDevices(snapshot) {
		s.note("DeviceSelectors", "pods claim devices by CEL selectors, which this program does not evaluate: build the one that does, which takes the same flags, with: "+
			"go build -C scheduling/dra -o %q ./simulate", "$PWD/simulate-dra")
	}
	if !publishesDevices(snapshot) {
		s.note("NoDevices", "pods claim devices, and no driver publishes any on new nodes: name the drivers that the cluster runs, as in --device-drivers %s=%s",
			instancetype.DevicesNVIDIA, instancetype.NVIDIADriver)
	}
}

// correctDevices compares the devices that nodes of the input have published with those of their instance types. If they differ, plans use
// the published devices, and correctDevices prints these types.
func (s *simulation) correctDevices(snapshot *scheduling.Snapshot) {
	corrections, problems := learned.Devices(snapshot)
	for _, problem := range problems {
		s.note("LearnedDevices", "%v", problem)
	}
	for i := range corrections {
		c := &corrections[i]
		switch {
		case c.Difference == "":
		case c.Unconfirmed:
			s.note("LearnedDevices", "nodepool %s, instance type %s: driver %s has published %s on node %s; this does not count until a second node has published as few",
				c.Pool, c.InstanceType, c.Driver, c.Difference, c.Nodes[0])
		default:
			s.note("LearnedDevices", "nodepool %s, instance type %s: driver %s has published %s on node %s; plans count on that",
				c.Pool, c.InstanceType, c.Driver, c.Difference, c.Nodes[0])
		}
	}
	new(learned.Corrector).Apply(snapshot, corrections)
}

// publishesDevices reports whether an instance type of the snapshot has devices.
func publishesDevices(s *scheduling.Snapshot) bool {
	for _, types := range s.Catalogs {
		if slices.ContainsFunc(types, func(it *cloudprovider.InstanceType) bool { return len(it.Devices) > 0 }) {
			return true
		}
	}
	return false
}

// selectsDevices reports whether a claim or a class of the snapshot has selectors.
func selectsDevices(s *scheduling.Snapshot) bool {
	return slices.ContainsFunc(s.DeviceClasses, func(c *resourcev1.DeviceClass) bool { return len(c.Spec.Selectors) > 0 }) ||
		slices.ContainsFunc(s.ResourceClaims, func(c *resourcev1.ResourceClaim) bool { return hasSelectors(&c.Spec) }) ||
		slices.ContainsFunc(s.ResourceClaimTemplates, func(t *resourcev1.ResourceClaimTemplate) bool { return hasSelectors(&t.Spec.Spec) })
}

func hasSelectors(spec *resourcev1.ResourceClaimSpec) bool {
	return slices.ContainsFunc(spec.Devices.Requests, func(r resourcev1.DeviceRequest) bool {
		return r.Exactly != nil && len(r.Exactly.Selectors) > 0 ||
			slices.ContainsFunc(r.FirstAvailable, func(sub resourcev1.DeviceSubRequest) bool { return len(sub.Selectors) > 0 })
	})
}

func claimsDevices(pod *corev1.Pod) bool { return len(pod.Spec.ResourceClaims) > 0 }

// remarkOnReplayedDevices is like remarkOnDevices, but also considers claims of a trace's pods.
func (s *simulation) remarkOnReplayedDevices(snapshot *scheduling.Snapshot, trace []replay.Arrival) {
	if slices.ContainsFunc(snapshot.Pods, claimsDevices) ||
		slices.ContainsFunc(trace, func(a replay.Arrival) bool { return len(a.Claims)+len(a.ClaimTemplates) > 0 }) {
		s.remarkOnClaims(snapshot)
	}
}
