package claimed

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/drawknife/drawknife/internal/engine/devices"
	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Some devices do not belong to one node. Their ResourceSlice says that all nodes, or the nodes that match a selector, can use them. If
// such a device is allocated, it is no longer free for any of these nodes. Such devices are not counted as devices of a node. They are
// assigned to pods before any pod is placed, in the order of kube-scheduler's queue. A pod to which such devices are assigned must go to a
// node that can use them, like a pod whose claims are already allocated. A pod for which no such devices are left stays pending. Such
// devices are assigned only to requests that the own devices of no existing or new node could meet. A device is assigned only if no request
// for a node's own devices could take it.

// deviceNetwork contains the devices that several nodes can use (network devices), and the pods that get such devices.
type deviceNetwork struct {
	inventory *devices.Inventory
	usage     *devices.Usage
	matches   *devices.Matches
	// evaluates means that selectors can be evaluated, because there is a Matcher. If it is false, Index.resolve refuses claims with
	// selectors.
	evaluates bool
	stock     *deviceStock
	// shares has, for each pod that claims network devices, the result of the assignment.
	shares map[*corev1.Pod]networkShare
	// contested says, by index in the inventory, whether requests for a node's own devices could also take the network device.
	contested []bool
}

// networkShare says which nodes can use the devices of a pod, or why the pod has no devices.
type networkShare struct {
	pins []*corev1.NodeSelector
	err  error
}

// networkSlices returns the snapshot's ResourceSlices that are not for a single node.
func networkSlices(s *planning.Snapshot) []*resourcev1.ResourceSlice {
	var out []*resourcev1.ResourceSlice
	for _, slice := range s.ResourceSlices {
		if slice != nil && slice.Spec.NodeName == nil {
			out = append(out, slice)
		}
	}
	return out
}

// HasNetwork reports whether the snapshot has devices that do not belong to one node.
func HasNetwork(s *planning.Snapshot) bool { return len(networkSlices(s)) > 0 }

// newDeviceNetwork returns the snapshot's deviceNetwork, or nil if each device belongs to one node.
func newDeviceNetwork(s *planning.Snapshot, stock *deviceStock, matches *devices.Matches, evaluates bool) *deviceNetwork {
	inv := devices.NewInventory(networkSlices(s))
	if inv.Len() == 0 {
		return nil
	}
	n := &deviceNetwork{
		inventory: inv, usage: devices.NewUsage(inv), matches: matches, evaluates: evaluates, stock: stock, shares: map[*corev1.Pod]networkShare{}, contested: make([]bool, inv.Len()),
	}
	for _, claim := range s.ResourceClaims {
		if claim.Status.Allocation != nil {
			for i := range claim.Status.Allocation.Devices.Results {
				n.usage.Hold(&claim.Status.Allocation.Devices.Results[i])
			}
		}
	}
	return n
}

// split divides the claims into claims that a node's own devices meet and claims that network devices meet.
func (n *deviceNetwork) split(claims []*devices.Claim) (ofNode, ofMany []*devices.Claim, err error) {
	for _, c := range claims {
		if !n.evaluates && c.Selects() {
			ofNode = append(ofNode, c)
			continue
		}
		there := make([]bool, c.Requests())
		for r := range there {
			many := slices.Contains(n.matches.Candidates(n.inventory, c, r), true)
			if many && c.WantsAll(r) {
				return nil, nil, fmt.Errorf("its claim %s requests all matching devices, and several nodes can use some of them: request a number of devices", c.Name())
			}
			there[r] = many && !n.ofNode(c, r)
		}
		here, other, err := c.Split(there)
		if err != nil {
			return nil, nil, err
		}
		if here != nil {
			ofNode = append(ofNode, here)
		}
		if other != nil {
			ofMany = append(ofMany, other)
		}
	}
	return ofNode, ofMany, nil
}

// ofNode reports whether a device of a node or of an instance type could meet the request.
func (n *deviceNetwork) ofNode(c *devices.Claim, request int) bool {
	about := func(inv *devices.Inventory) bool { return slices.Contains(n.matches.Candidates(inv, c, request), true) }
	return slices.ContainsFunc(n.stock.types, func(of Template) bool { return about(n.stock.ofTypes[of]) }) ||
		slices.ContainsFunc(n.stock.nodes, func(name string) bool { return about(n.stock.ofNodes[name].Inventory()) })
}

// contest marks network devices as contested. A network device is contested if one of the given claims, which should get a node's own
// devices, could also take it.
func (n *deviceNetwork) contest(ofNode []*devices.Claim) {
	for _, c := range ofNode {
		if !n.evaluates && c.Selects() {
			continue
		}
		for r := range c.Requests() {
			for i, could := range n.matches.Candidates(n.inventory, c, r) {
				n.contested[i] = n.contested[i] || could
			}
		}
	}
}

// networkUser is a pod with claims that network devices meet.
type networkUser struct {
	pod         *corev1.Pod
	placeholder bool
	claims      []*devices.Claim
}

// comparePlaceholders sorts placeholders after other pods.
func comparePlaceholders(a, b networkUser) int {
	switch {
	case a.placeholder == b.placeholder:
		return 0
	case b.placeholder:
		return -1
	}
	return 1
}

// share assigns network devices to the pods of the roster.
func (n *deviceNetwork) share(r *likeness.Roster, c *Claims, terms match.Terms) {
	type parts struct {
		ofMany []*devices.Claim
		err    error
	}
	known := map[string]parts{}
	var waiting []networkUser
	for i := range r.Patterns {
		pod := r.Patterns[i].First
		if len(pod.Spec.ResourceClaims) == 0 {
			continue
		}
		key := c.key(pod)
		p, seen := known[key]
		if !seen {
			var ofNode []*devices.Claim
			if all, err := c.all(pod); err == nil {
				ofNode, p.ofMany, p.err = n.split(all)
			}
			n.contest(ofNode)
			known[key] = p
		}
		switch {
		case p.err != nil:
			n.shares[pod] = networkShare{err: p.err}
		case len(p.ofMany) == 0:
		case pod.Spec.NodeName != "":
			n.shares[pod] = n.kept(pod, c)
		default:
			waiting = append(waiting, networkUser{pod, r.Patterns[i].Placeholder, p.ofMany})
		}
	}
	slices.SortStableFunc(waiting, func(a, b networkUser) int {
		return cmp.Or(comparePlaceholders(a, b), cmp.Compare(priorityOf(b.pod), priorityOf(a.pod)), likeness.Compare(a.pod, b.pod))
	})
	places := n.inventory.Places(func(at int) bool { return n.contested[at] })
	for i := range waiting {
		n.shares[waiting[i].pod] = n.give(&waiting[i], places, terms)
	}
}

// kept returns the share of a running pod. This share has the devices that the pod uses now: if the pod's node is removed, the new pod in
// its place can use these devices.
func (n *deviceNetwork) kept(pod *corev1.Pod, c *Claims) networkShare {
	var out networkShare
	for i := range pod.Spec.ResourceClaims {
		claim := c.objectOf(pod, &pod.Spec.ResourceClaims[i])
		if claim == nil || claim.Status.Allocation == nil {
			continue
		}
		for j := range claim.Status.Allocation.Devices.Results {
			r := &claim.Status.Allocation.Devices.Results[j]
			if nodes := n.inventory.NodesOf(devices.ID{Driver: r.Driver, Pool: r.Pool, Device: r.Device}); nodes != nil {
				out.pins = append(out.pins, nodes)
			}
		}
	}
	return out
}

// give assigns network devices to the pod, at the first place (a set of nodes) where the pod may run and enough devices are free.
func (n *deviceNetwork) give(u *networkUser, places []devices.Place, terms match.Terms) networkShare {
	if len(places) == 0 {
		if len(n.inventory.Places(func(int) bool { return false })) == 0 {
			return networkShare{err: errNetworkNowhere}
		}
		return networkShare{err: errNetworkContested}
	}
	var why *devices.Miss
	for i := range places {
		if !mayBeAt(u.pod, places[i].Selector, terms) {
			continue
		}
		a, miss := devices.Allocate([]devices.Source{{Usage: n.usage, Reach: places[i].Reach}}, u.claims, n.matches)
		if a == nil {
			if why == nil || miss.Nearer(why) {
				why = miss
			}
			continue
		}
		if places[i].Selector == nil {
			return networkShare{}
		}
		return networkShare{pins: []*corev1.NodeSelector{places[i].Selector}}
	}
	switch {
	case why == nil:
		return networkShare{err: errNetworkElsewhere}
	case why.Code == devices.MissTooMany:
		return networkShare{err: fmt.Errorf("it claims devices that several nodes can use, but one of its claims requests more devices than a claim can have: %s", why)}
	case why.Found > 0:
		return networkShare{err: fmt.Errorf("too few of the devices that several nodes can use are free for it: %s", why)}
	}
	return networkShare{err: fmt.Errorf("none of the devices that several nodes can use is free for it: %s", why)}
}

func priorityOf(pod *corev1.Pod) int32 {
	if p := pod.Spec.Priority; p != nil {
		return *p
	}
	return 0
}

// mayBeAt reports whether the pod's rules allow it on some nodes of the place.
func mayBeAt(pod *corev1.Pod, at *corev1.NodeSelector, terms match.Terms) bool {
	if at == nil {
		return true
	}
	own, err := terms.Required(&pod.Spec)
	if err != nil {
		return false
	}
	there, err := terms.Required(&corev1.PodSpec{Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: at}}})
	if err != nil {
		return false
	}
	return slices.ContainsFunc(own, func(a match.Needs) bool {
		return slices.ContainsFunc(there, func(b match.Needs) bool { both := a.And(b); return both.Conflict() == "" })
	})
}

// of returns the claims that a node's own devices must meet. If n is nil, these are all claims. The error says why the pod gets no network
// devices.
func (n *deviceNetwork) of(pod *corev1.Pod, claims []*devices.Claim) ([]*devices.Claim, error) {
	if n == nil {
		return claims, nil
	}
	ofNode, ofMany, err := n.split(claims)
	if err != nil {
		return nil, err
	}
	share, known := n.shares[pod]
	if len(ofMany) > 0 && !known {
		return nil, errNetworkOfDaemon
	}
	return ofNode, share.err
}

// text returns the same text for pods whose devices can be used on the same nodes.
func (n *deviceNetwork) text(pod *corev1.Pod) string {
	if n == nil {
		return ""
	}
	share, known := n.shares[pod]
	if !known {
		return ""
	}
	return fmt.Sprintf("\nof many %v %v", share.pins, share.err)
}
