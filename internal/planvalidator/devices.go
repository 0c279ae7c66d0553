package planvalidator

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

// CheckDevices returns the faults of the plan that concern devices which pods claim. On each node, all claims must be able to get their
// devices with each instance type that may be launched for the node. CheckDevices tries to assign the devices to the claims. Pods that
// share a claim must be on one node. Pods whose claims have devices must be on a node that can use these devices. If several nodes can use
// a device, all nodes are checked together. Also, no node that could be launched may hold pods with a total value, according to the
// certificate, above its price. CheckDevices trusts the matcher's answers about selectors. These are not supported: capacity with a request
// policy, and extended resources.
func CheckDevices(s *scheduling.Snapshot, p *scheduling.Plan, matcher scheduling.DeviceMatcher) []Fault {
	c := &deviceChecker{checker: newChecker(s, p), matcher: matcher, hosts: map[string]string{}}
	c.network = c.newNetwork()
	for i := range p.NewNodes {
		n := &p.NewNodes[i]
		if c.pools[n.Pool] == nil {
			continue
		}
		for _, option := range n.InstanceTypes {
			for _, it := range c.typesOf(c.pools[n.Pool]) {
				if it.Name != option.Name {
					continue
				}
				c.newNode(n, it)
			}
		}
		c.apart(n.Name, n.Pods)
	}
	for i := range p.Existing {
		e := &p.Existing[i]
		if h := c.published(e.Name); len(h.devices) > 0 {
			c.host(e.Name, h, e.Pods)
		}
		c.apart(e.Name, e.Pods)
	}
	c.together()
	c.deviceWorth()
	return c.faults
}

// published returns the devices that drivers publish for an existing node, without the parts that are allocated.
func (c *deviceChecker) published(node string) *deviceHost {
	h := newDeviceHost()
	for _, slice := range c.s.ResourceSlices {
		if slice.Spec.NodeName != nil && *slice.Spec.NodeName == node {
			h.publish(slice.Spec.Driver, slice.Spec.Pool.Name, slice.Spec.Devices, slice.Spec.SharedCounters)
		}
	}
	c.holdAllocated(h)
	return h
}

// holdAllocated subtracts the amounts that are allocated to claims from the host's devices.
func (c *deviceChecker) holdAllocated(h *deviceHost) {
	for _, claim := range c.s.ResourceClaims {
		if claim.Status.Allocation != nil {
			h.hold(claim.Status.Allocation.Devices.Results)
		}
	}
}

type deviceChecker struct {
	*checker
	matcher scheduling.DeviceMatcher
	// hosts maps the name of each shared claim to the name of the node on which the claim's pods are.
	hosts map[string]string
	// network has the devices that several nodes can use. It is nil if there are no such devices.
	network *deviceNetwork
}

// newNode checks that the pods of a new node get their devices if it is launched as the type. If offerings of the type have different
// devices, it checks each offering that the NodeClaim allows.
func (c *deviceChecker) newNode(n *scheduling.NewNode, it *cloudprovider.InstanceType) {
	if !slices.ContainsFunc(it.Devices, func(p cloudprovider.DevicePool) bool { return len(p.Bindings) > 0 }) {
		c.host(n.Name+" as "+it.Name, publishing(it, nil), n.Pods)
		return
	}
	c.eachOpen(n, func(as *cloudprovider.InstanceType, o *cloudprovider.Offering, _ labels) {
		if as == it {
			c.host(n.Name+" as "+it.Name+"/"+o.Zone()+"/"+o.CapacityType(), publishing(it, o), n.Pods)
		}
	})
}

// publishing returns the devices that drivers will publish on an instance of the type with this offering.
func publishing(it *cloudprovider.InstanceType, o *cloudprovider.Offering) *deviceHost {
	h := newDeviceHost()
	for i := range it.Devices {
		p := it.Devices[i].DeepCopy()
		for j := range p.Devices {
			for k := range p.Bindings {
				bound(&p.Devices[j], &p.Bindings[k], it, o)
			}
		}
		h.publish(p.Driver, "", p.Devices, p.SharedCounters)
	}
	return h
}

// bound sets the device attribute that the binding derives from a label of the type or offering.
func bound(d *resourcev1.Device, b *cloudprovider.AttributeBinding, it *cloudprovider.InstanceType, o *cloudprovider.Offering) {
	have := it.Requirements
	if o.Requirements.Has(b.Label) {
		have = o.Requirements
	}
	label := have.Get(b.Label).Values()
	if len(label) != 1 || b.Devices != nil && !slices.Contains(b.Devices, d.Name) {
		return
	}
	value, known := b.Values[label[0]]
	if b.Values == nil {
		value, known = resourcev1.DeviceAttribute{StringValue: &label[0]}, true
	}
	if !known {
		return
	}
	if d.Attributes == nil {
		d.Attributes = map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{}
	}
	d.Attributes[b.Attribute] = value
}

// host checks that the pods of the node h can get the devices for their claims.
func (c *deviceChecker) host(where string, h *deviceHost, pods []scheduling.PodKey) {
	if c.network != nil {
		return // together checks this
	}
	steps := maxDeviceSteps
	if t := (&deviceTrial{c: c, claims: c.claimsOn(where, h.devices, pods, map[string]bool{}), steps: &steps}); !t.claim(0) && steps > 0 {
		c.fault(where, "there is no way to give pods %v their devices", pods)
	}
}

// claimsOn returns the pods' claims that have no allocation and that are not in the set seen. Each returned claim has the parameter devices
// as the list of devices that it may get.
func (c *deviceChecker) claimsOn(where string, devices []*hostDevice, pods []scheduling.PodKey, seen map[string]bool) []hostedClaim {
	var out []hostedClaim
	for _, key := range pods {
		pod := c.pods[key]
		if pod == nil {
			continue
		}
		for i := range pod.Spec.ResourceClaims {
			name, spec, allocation := c.claimed(pod, &pod.Spec.ResourceClaims[i])
			if spec == nil {
				c.fault(where, "pod %s has a claim that is not there", key)
				continue
			}
			if allocation != nil || name != "" && seen[name] {
				continue
			}
			seen[name] = true
			out = append(out, hostedClaim{spec, devices})
		}
	}
	return out
}

// apart checks that pods that share a claim are on one node. It also checks that the pods of a claim that has devices of a node are on that
// node.
func (c *deviceChecker) apart(host string, pods []scheduling.PodKey) {
	for _, key := range pods {
		pod := c.pods[key]
		if pod == nil {
			continue
		}
		for i := range pod.Spec.ResourceClaims {
			name, _, allocation := c.claimed(pod, &pod.Spec.ResourceClaims[i])
			if allocation != nil && allocation.NodeSelector != nil {
				for _, term := range allocation.NodeSelector.NodeSelectorTerms {
					for _, f := range term.MatchFields {
						if !slices.Contains(f.Values, host) {
							c.fault(host, "pod %s has devices on %v", key, f.Values)
						}
					}
				}
				continue
			}
			if other, known := c.hosts[name]; name != "" && known && other != host {
				c.fault(host, "pod %s shares claim %s with pods on %s", key, name, other)
			}
			c.hosts[name] = host
		}
	}
}

// claimed returns the name of a pod's claim if it is an object that pods may share, the claim's spec, and the devices that are allocated to
// it.
func (c *deviceChecker) claimed(pod *corev1.Pod, pc *corev1.PodResourceClaim) (string, *resourcev1.DeviceClaim, *resourcev1.AllocationResult) {
	name := pc.ResourceClaimName
	for i := range pod.Status.ResourceClaimStatuses {
		if st := &pod.Status.ResourceClaimStatuses[i]; name == nil && st.Name == pc.Name {
			name = st.ResourceClaimName
		}
	}
	if name != nil {
		for _, claim := range c.s.ResourceClaims {
			if claim.Namespace == pod.Namespace && claim.Name == *name {
				return claim.Namespace + "/" + claim.Name, &claim.Spec.Devices, claim.Status.Allocation
			}
		}
	}
	for _, t := range c.s.ResourceClaimTemplates {
		if pc.ResourceClaimTemplateName != nil && t.Namespace == pod.Namespace && t.Name == *pc.ResourceClaimTemplateName {
			return "", &t.Spec.Spec.Devices, nil
		}
	}
	return "", nil, nil
}

// matches reports whether the device matches the request, even if the device is allocated.
func (c *deviceChecker) matches(r *resourcev1.DeviceSubRequest, d *hostDevice) bool {
	at := slices.IndexFunc(c.s.DeviceClasses, func(class *resourcev1.DeviceClass) bool { return class.Name == r.DeviceClassName })
	if at < 0 {
		return false
	}
	for _, selector := range slices.Concat(c.s.DeviceClasses[at].Spec.Selectors, r.Selectors) {
		if ok, err := c.matcher.Matches(selector.CEL.Expression, d.driver, d.object); err != nil || !ok {
			return false
		}
	}
	if r.Capacity != nil {
		for name, q := range r.Capacity.Requests {
			if have, ok := d.object.Capacity[name]; !ok || q.Cmp(have.Value) > 0 {
				return false
			}
		}
	}
	return true
}

// tolerates reports whether the request tolerates the device's taints.
func tolerates(r *resourcev1.DeviceSubRequest, d *resourcev1.Device) bool {
	for _, taint := range d.Taints {
		if taint.Effect != resourcev1.DeviceTaintEffectNoSchedule && taint.Effect != resourcev1.DeviceTaintEffectNoExecute {
			continue
		}
		if !slices.ContainsFunc(r.Tolerations, func(o resourcev1.DeviceToleration) bool {
			return (o.Key == "" || o.Key == taint.Key) && (o.Effect == "" || o.Effect == taint.Effect) && (o.Operator == resourcev1.DeviceTolerationOpExists || o.Value == taint.Value)
		}) {
			return false
		}
	}
	return true
}
