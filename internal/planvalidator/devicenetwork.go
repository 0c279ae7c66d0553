package planvalidator

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

// deviceNetwork has the devices that several nodes can use, and the nodes that can use each of them.
type deviceNetwork struct {
	host *deviceHost
	// nodes has a selector for each device of host.devices, by the same index. nil means that all nodes can use the device.
	nodes []*corev1.NodeSelector
}

// newNetwork returns the devices that several nodes can use, or nil if there are no such devices.
func (c *deviceChecker) newNetwork() *deviceNetwork {
	n := &deviceNetwork{host: newDeviceHost()}
	for _, slice := range c.s.ResourceSlices {
		if slice.Spec.NodeName != nil {
			continue
		}
		n.host.publish(slice.Spec.Driver, slice.Spec.Pool.Name, slice.Spec.Devices, slice.Spec.SharedCounters)
		for i := range slice.Spec.Devices {
			n.nodes = append(n.nodes, nodesOf(slice, &slice.Spec.Devices[i]))
		}
	}
	if len(n.nodes) == 0 {
		return nil
	}
	c.holdAllocated(n.host)
	return n
}

// nodesOf returns a selector for the nodes that can use the device, or nil if all nodes can.
func nodesOf(slice *resourcev1.ResourceSlice, d *resourcev1.Device) *corev1.NodeSelector {
	all, selector, name := slice.Spec.AllNodes, slice.Spec.NodeSelector, (*string)(nil)
	if slice.Spec.PerDeviceNodeSelection != nil && *slice.Spec.PerDeviceNodeSelection {
		all, selector, name = d.AllNodes, d.NodeSelector, d.NodeName
	}
	switch {
	case all != nil && *all:
		return nil
	case name != nil:
		return &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{{
			Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{*name},
		}}}}}
	case selector == nil:
		return &corev1.NodeSelector{} // no node
	}
	return selector
}

// reached returns the devices that the node can use with each of the given label sets. The node will get one of these label sets.
func (c *deviceChecker) reached(of []labels) []*hostDevice {
	var out []*hostDevice
	for i, d := range c.network.host.devices {
		if c.network.nodes[i] == nil || !slices.ContainsFunc(of, func(m labels) bool { return !c.selectedBy(m, c.network.nodes[i]) }) {
			out = append(out, d)
		}
	}
	return out
}

// selectedBy reports whether the selector selects the node for all possible values of the node's unknown labels.
func (c *deviceChecker) selectedBy(m labels, nodes *corev1.NodeSelector) bool {
	if len(nodes.NodeSelectorTerms) == 0 {
		return false
	}
	return c.accepts(m, &corev1.PodSpec{Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: nodes}}})
}

// together checks that the claims of all nodes can get their devices at the same time, if there are devices that several nodes can use. For
// this check, each new node has the first type in its list. For each further type in the list, together checks only the claims of that
// node's pods.
func (c *deviceChecker) together() {
	if c.network == nil {
		return
	}
	var all []hostedClaim
	seen := map[string]bool{}
	for i := range c.p.NewNodes {
		n := &c.p.NewNodes[i]
		for at, option := range n.InstanceTypes {
			for _, host := range c.launchable(n, option.Name) {
				devices := slices.Concat(host.devices, c.reached(c.labelsOf(n)))
				if at == 0 {
					all = append(all, c.claimsOn(n.Name, devices, n.Pods, seen)...)
					break
				}
				c.possible(n.Name+" as "+option.Name, c.claimsOn(n.Name, devices, n.Pods, map[string]bool{}))
			}
		}
	}
	for i := range c.p.Existing {
		e := &c.p.Existing[i]
		for j := range c.s.Nodes {
			if n := &c.s.Nodes[j]; n.Name == e.Name {
				devices := slices.Concat(c.published(e.Name).devices, c.reached([]labels{c.view(n).labels}))
				all = append(all, c.claimsOn(e.Name, devices, e.Pods, seen)...)
			}
		}
	}
	c.possible("the plan", all)
}

// possible checks that all of the claims can get their devices at the same time. If not, it adds a fault.
func (c *deviceChecker) possible(where string, claims []hostedClaim) {
	steps := maxDeviceSteps
	if t := (&deviceTrial{c: c, claims: claims, steps: &steps}); !t.claim(0) && steps > 0 {
		c.fault(where, "there is no way to give %d claims their devices, those that several nodes can use once", len(claims))
	}
}

// labelsOf returns the known labels of the new node for each offering that its NodeClaim allows.
func (c *deviceChecker) labelsOf(n *scheduling.NewNode) []labels {
	var out []labels
	c.eachOpen(n, func(_ *cloudprovider.InstanceType, _ *cloudprovider.Offering, m labels) { out = append(out, m) })
	return out
}

// launchable returns the devices of the new node if it is launched as the type with that name, for each offering that its NodeClaim allows.
func (c *deviceChecker) launchable(n *scheduling.NewNode, name string) []*deviceHost {
	var out []*deviceHost
	c.eachOpen(n, func(it *cloudprovider.InstanceType, o *cloudprovider.Offering, _ labels) {
		if it.Name == name {
			out = append(out, publishing(it, o))
		}
	})
	return out
}

// eachOpen calls visit for each available offering of the node's types that its NodeClaim allows.
func (c *deviceChecker) eachOpen(n *scheduling.NewNode, visit func(it *cloudprovider.InstanceType, o *cloudprovider.Offering, m labels)) {
	np := c.pools[n.Pool]
	if np == nil {
		return
	}
	claim := c.claim(n, np)
	for _, it := range c.typesOf(np) {
		if !slices.ContainsFunc(n.InstanceTypes, func(o scheduling.InstanceTypeOption) bool { return o.Name == it.Name }) {
			continue
		}
		for i := range it.Offerings {
			if m, open := c.nodeLabels(claim, it, &it.Offerings[i]); open && it.Offerings[i].Available {
				visit(it, &it.Offerings[i], m)
			}
		}
	}
}
