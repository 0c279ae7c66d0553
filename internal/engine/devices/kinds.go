package devices

import (
	"fmt"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
)

// Devices can be counted like any other resource if a claim asks for a number of devices and any matching devices suffice. A kind describes
// the devices that a request requires. Requests with the same requirements have the same kind. Units say how many devices of a node could
// serve each set of kinds. Counts converts units to resources. Devices that can't be counted exactly are undercounted, never overcounted.

// Kinds are the distinct requirements on devices of all claims in a cluster.
type Kinds struct {
	list  []kind
	index map[string]int
	// presences are requirements of requests with admin access. They describe devices that must exist, whether or not they are in use.
	presences     []presence
	presenceIndex map[string]int
}

// kind describes the devices that a request requires.
type kind struct {
	claim   *Claim
	request *request
	// alternatives are the alternatives that meet the request. A kind that is not varied has one alternative, or several alternatives if
	// devices of any alternative are enough.
	alternatives []*alternative
	// count is the largest number of devices that an alternative asks for.
	count int
	// varied means that the number of devices that a request takes depends on the node. The request takes all matching devices, or the
	// number of the first alternative that the node can meet. Needs count requests of varied kinds, not devices.
	varied bool
	// most is the largest number of devices that a request with allocationMode All may get.
	most int
	// bundle is a text. It is the same for all kinds of a claim to which constraints of the claim apply. It is empty if no constraint
	// applies to the kind.
	bundle string
	// resource is the extended resource that the devices serve. It is empty if the kind was made from a claim.
	resource string
}

// presence describes the devices that a request with admin access requires on a node.
type presence struct {
	alternative *alternative
	count       int
}

// MaxKinds is the largest number of kinds in a cluster.
const MaxKinds = 256

// tooManyKinds says that a kind beyond MaxKinds can't be planned, and what to change.
func tooManyKinds() string {
	return fmt.Sprintf("is one of more than %d kinds of requests in the cluster: have more of them ask alike, with the same selectors, tolerations and capacity", MaxKinds)
}

// maxOfClaim is the largest number of devices that a claim can have.
const maxOfClaim = resourcev1.AllocationResultsMaxSize

// Needs are the devices that the claims of a pod require.
type Needs struct {
	// count has the number of needed devices by kind. For varied kinds, it has the number of requests. present has the indexes in
	// Kinds.presences of the devices that admin access needs.
	count   map[int]int64
	present map[int]bool
}

// NewKinds returns an empty Kinds.
func NewKinds() *Kinds { return &Kinds{index: map[string]int{}, presenceIndex: map[string]int{}} }

// Needs converts the claims of one pod. Each claim must be for this pod only. The error, an *Error, says which request can't be counted.
func (k *Kinds) Needs(claims []*Claim) (Needs, error) {
	n := Needs{count: map[int]int64{}, present: map[int]bool{}}
	for _, c := range claims {
		if err := k.addClaim(c, &n); err != nil {
			return n, err
		}
	}
	return n, nil
}

func (k *Kinds) addClaim(c *Claim, n *Needs) error {
	room := c.roomForAll()
	for r := range c.requests {
		request := &c.requests[r]
		a := &request.alternatives[0]
		if a.admin {
			n.present[k.presence(a)] = true
			continue
		}
		if c.leastUpTo(r) > maxOfClaim {
			return &Error{Claim: c.name, Request: a.name, Problem: fmt.Sprintf("asks for more devices than the %d that a claim can have", maxOfClaim)}
		}
		at, ok := k.intern(c, request, room)
		if !ok {
			return &Error{Claim: c.name, Request: a.name, Problem: tooManyKinds()}
		}
		if k.list[at].varied {
			n.count[at]++
		} else {
			n.count[at] += int64(a.count)
		}
	}
	return nil
}

// leastUpTo returns the least number of devices that the claim's requests need, up to and including this request.
func (c *Claim) leastUpTo(request int) int {
	sum := 0
	for r := range c.requests[:request+1] {
		least := maxOfClaim + 1
		for i := range c.requests[r].alternatives {
			if a := &c.requests[r].alternatives[i]; a.admin {
				least = 0
			} else {
				least = min(least, a.wantedAtLeast())
			}
		}
		sum += least
	}
	return sum
}

// roomForAll returns the number of devices that each request with allocationMode All may get, independently of the alternatives that are
// chosen for the other requests.
func (c *Claim) roomForAll() int {
	left, every := maxOfClaim, 0
	for r := range c.requests {
		most, all := 0, false
		for i := range c.requests[r].alternatives {
			switch a := &c.requests[r].alternatives[i]; {
			case a.admin:
			case a.all:
				all = true
			default:
				most = max(most, a.count)
			}
		}
		left -= most
		if all {
			every++
		}
	}
	if left < 0 {
		return 0
	}
	return left / max(every, 1)
}

func (a *alternative) wantedAtLeast() int {
	if a.all {
		return 1
	}
	return a.count
}

// Extended returns the needs of a pod that requests one unit of an extended resource that devices of the class can serve. most is the
// largest amount of the resource that a pod requests.
func (k *Kinds) Extended(resource, class string, classes map[string]*resourcev1.DeviceClass, most int64) (Needs, error) {
	n := Needs{count: map[int]int64{}}
	spec := &resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{Name: "r", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: class, Count: 1}}}}
	c, err := NewClaim(resource, spec, classes)
	if err != nil {
		return n, err
	}
	at, ok := k.add(kind{claim: c, request: &c.requests[0], alternatives: []*alternative{&c.requests[0].alternatives[0]}, count: int(min(most, maxOfClaim)), resource: resource}, "resource "+resource)
	if !ok {
		return n, &Error{Claim: resource, Problem: tooManyKinds()}
	}
	n.count[at] = 1
	return n, nil
}

// Add adds the needs of the parameter other to n. Both must be needs of the same pod.
func (n Needs) Add(other Needs) {
	for at, count := range other.count {
		n.count[at] += count
	}
	for at := range other.present {
		n.present[at] = true
	}
}

// intern returns the index of the request's kind, or false if there are too many kinds. most is the largest number of devices that the
// request may get if it has allocationMode All.
func (k *Kinds) intern(c *Claim, r *request, most int) (int, bool) {
	in := kind{claim: c, request: r, most: most}
	var text strings.Builder
	for i := range r.alternatives {
		a := &r.alternatives[i]
		in.alternatives = append(in.alternatives, a)
		in.count = max(in.count, a.count)
		if a.all || len(r.alternatives) > 1 && a.count > 1 {
			in.varied = true
		}
		if slices.ContainsFunc(c.constraints, func(x constraint) bool { return x.concerns(r, a) }) {
			in.bundle = c.Text()
		}
	}
	in.varied = in.varied || in.bundle != "" && len(r.alternatives) > 1
	for _, a := range in.alternatives {
		fmt.Fprintf(&text, "%s ", a.text())
		if in.varied {
			fmt.Fprintf(&text, "%d %t %d ", a.count, a.all, most)
		}
		if in.bundle != "" {
			fmt.Fprintf(&text, "as %q ", a.name)
		}
	}
	fmt.Fprintf(&text, "in %q", in.bundle)
	return k.add(in, text.String())
}

// add returns the index of the kind with the given text. If the kind is new, it is added. If there are already MaxKinds kinds, add returns
// false instead.
func (k *Kinds) add(in kind, text string) (int, bool) {
	if at, ok := k.index[text]; ok {
		k.list[at].count = max(k.list[at].count, in.count)
		return at, true
	}
	if len(k.list) == MaxKinds {
		return 0, false
	}
	at := len(k.list)
	k.index[text] = at
	k.list = append(k.list, in)
	return at, true
}

// Exact reports whether devices can be counted exactly: no kind depends on the node or on other requests of its claim.
func (k *Kinds) Exact() bool {
	return !slices.ContainsFunc(k.list, func(x kind) bool { return x.varied || x.bundle != "" })
}

func (k *Kinds) presence(a *alternative) int {
	count := max(a.wanted(), 1)
	text := fmt.Sprintf("%d of %s", count, a.text())
	at, ok := k.presenceIndex[text]
	if !ok {
		at = len(k.presences)
		k.presenceIndex[text] = at
		k.presences = append(k.presences, presence{a, count})
	}
	return at
}

// text returns the same text for alternatives that match the same devices. The text does not contain names of requests.
func (a *alternative) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q", a.selectors)
	for i := range a.tolerations {
		t := &a.tolerations[i]
		fmt.Fprintf(&b, " %q/%q/%q/%q", t.Key, t.Operator, t.Value, t.Effect)
	}
	for _, name := range sortedKeys(a.capacity) {
		fmt.Fprintf(&b, " %q:%d", name, a.capacity[name])
	}
	return b.String()
}

// Text returns the same text for claims that request the same devices of the same classes. The text does not contain the claim's own name.
func (c *Claim) Text() string {
	var b strings.Builder
	for i := range c.requests {
		for j := range c.requests[i].alternatives {
			a := &c.requests[i].alternatives[j]
			fmt.Fprintf(&b, "%q %q %d %t %t %s;", a.name, a.class, a.count, a.all, a.admin, a.text())
		}
	}
	for i := range c.constraints {
		x := &c.constraints[i]
		fmt.Fprintf(&b, "%q %t %q;", x.attribute, x.distinct, x.requests)
	}
	return b.String()
}

// Text returns the same text for equal needs.
func (n Needs) Text() string {
	var b strings.Builder
	for _, kind := range sortedKeys(n.count) {
		fmt.Fprintf(&b, "%d of %d,", n.count[kind], kind)
	}
	for _, p := range sortedKeys(n.present) {
		fmt.Fprintf(&b, "present %d,", p)
	}
	return b.String()
}

// Empty reports whether the pod needs no devices.
func (n Needs) Empty() bool { return len(n.count)+len(n.present) == 0 }
