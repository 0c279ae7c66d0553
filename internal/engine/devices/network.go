package devices

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Place is a set of nodes that can use the same network devices of an Inventory. Network devices are devices that several nodes can use.
type Place struct {
	// Selector selects the nodes that can use the devices. Nil means all nodes.
	Selector *corev1.NodeSelector
	// Reach contains the devices that all nodes can use, and the devices that only the selected nodes can use.
	Reach *Reach
}

// Places returns the places of the inventory that have devices. If there is a place for all nodes, it is the first in the list. Devices for
// which skip returns true belong to no place.
func (inv *Inventory) Places(skip func(at int) bool) []Place {
	known := map[string]bool{}
	var out []Place
	for _, everywhere := range []bool{true, false} {
		for i := range inv.devices {
			w := &inv.devices[i].where
			if text := w.text(); !skip(i) && w.all == everywhere && !known[text] && (w.all || w.nodes() != nil) {
				known[text] = true
				out = append(out, Place{Selector: w.nodes(), Reach: inv.reachOf(text, skip)})
			}
		}
	}
	return out
}

// reachOf returns a Reach with the devices that all nodes can use, and the devices for the node selector with the given text. It leaves out
// devices for which skip returns true.
func (inv *Inventory) reachOf(text string, skip func(at int) bool) *Reach {
	r := &Reach{devices: make([]bool, len(inv.devices)), pools: make([]bool, len(inv.pools))}
	for i := range inv.devices {
		w := &inv.devices[i].where
		r.devices[i] = !skip(i) && (w.all || w.text() == text)
		r.pools[inv.devices[i].pool] = r.pools[inv.devices[i].pool] || r.devices[i]
	}
	return r
}

// NodesOf returns the selector of the nodes that can use the device. It returns nil if all nodes can use it, or if the device does not
// exist.
func (inv *Inventory) NodesOf(id ID) *corev1.NodeSelector {
	at, ok := inv.index[id]
	if !ok || inv.devices[at].where.all {
		return nil
	}
	return inv.devices[at].where.nodes()
}

// Has reports whether the inventory contains the device.
func (inv *Inventory) Has(id ID) bool {
	_, ok := inv.index[id]
	return ok
}

func (w *where) text() string { return fmt.Sprintf("%t %q %v", w.all, w.node, w.selector) }

// nodes returns the selector of the nodes that can use the device, or nil if no selector restricts these nodes.
func (w *where) nodes() *corev1.NodeSelector {
	if w.node == "" || w.all {
		return w.selector
	}
	return &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{{
		Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{w.node},
	}}}}}
}

// Requests returns the number of requests of the claim.
func (c *Claim) Requests() int { return len(c.requests) }

// WantsAll reports whether an alternative of the request has allocationMode All.
func (c *Claim) WantsAll(request int) bool {
	return slices.ContainsFunc(c.requests[request].alternatives, func(a alternative) bool { return a.all })
}

// Candidates says, for each device of the inventory, whether it matches an alternative of the request, or may match one because a selector
// can't be evaluated. It ignores whether devices are free.
func (m *Matches) Candidates(inv *Inventory, c *Claim, request int) []bool {
	out := make([]bool, len(inv.devices))
	for a := range c.requests[request].alternatives {
		matching := m.of(inv, &c.requests[request].alternatives[a])
		for i := range matching.verdicts {
			out[i] = out[i] || matching.verdicts[i].matches() || matching.verdicts[i].err != nil
		}
	}
	return out
}

// Split divides a claim into two claims. The slice there has one element for each request. The claim here gets the requests whose element
// is false, and the claim other gets the requests whose element is true. A claim without requests is nil. If a constraint connects requests
// of both claims, Split returns an *Error that names this constraint.
func (c *Claim) Split(there []bool) (here, other *Claim, err error) {
	h, o := &Claim{name: c.name}, &Claim{name: c.name}
	for r := range c.requests {
		if there[r] {
			o.requests = append(o.requests, c.requests[r])
		} else {
			h.requests = append(h.requests, c.requests[r])
		}
	}
	for i := range c.constraints {
		x := &c.constraints[i]
		switch ties, both := o.ties(x), h.ties(x); {
		case ties && both:
			return nil, nil, &Error{Claim: c.name, Problem: fmt.Sprintf("has a constraint on %s between devices of a node and such that several nodes can use", x.attribute)}
		case ties:
			o.constraints = append(o.constraints, *x)
		default:
			h.constraints = append(h.constraints, *x)
		}
	}
	if len(h.requests) == 0 {
		h = nil
	}
	if len(o.requests) == 0 {
		o = nil
	}
	return h, o, nil
}

// ties reports whether the constraint x applies to at least one request of the claim.
func (c *Claim) ties(x *constraint) bool {
	return slices.ContainsFunc(c.requests, func(r request) bool {
		return slices.ContainsFunc(r.alternatives, func(a alternative) bool { return x.concerns(&r, &a) })
	})
}
