package devices

import (
	"fmt"
	"slices"
	"strings"
)

// Devices can be counted like any other resource as long as a claim asks for a number of devices of which any that matches will do. Kinds are
// what requests ask of a device. Units say how many devices a node has that could serve which kinds; Counts makes resources of them, see
// there. What can't be counted exactly is counted so that there is never less than what is counted.

// Kinds are what the claims of a cluster ask of devices, each once.
type Kinds struct {
	list  []kind
	index map[string]int
	// presences are devices that must be there, in use or not.
	presences     []presence
	presenceIndex map[string]int
}

// kind is what a request asks of each of its devices.
type kind struct {
	claim       *Claim
	request     *request
	alternative *alternative
	// count is the most that a request asks for.
	count int
	// bundle is equal for kinds that a constraint of their claim ties together, empty without one.
	bundle string
}

// presence is what a request for administration asks of a node.
type presence struct {
	alternative *alternative
	count       int
}

// MaxKinds is how many kinds there can be in a cluster.
const MaxKinds = 64

// Needs is what the claims of a pod ask for.
type Needs struct {
	// count is the number of devices by kind, present whether devices are needed for administration.
	count   map[int]int64
	present map[int]bool
}

// NewKinds has none.
func NewKinds() *Kinds { return &Kinds{index: map[string]int{}, presenceIndex: map[string]int{}} }

// Needs reads the claims of one pod, each of which is for that pod alone. Possible says whether any node of the cluster could meet an
// alternative: of several the first such is counted, and the first where none is. The error, an *Error, says what can't be counted.
func (k *Kinds) Needs(claims []*Claim, possible func(*Alternative) bool) (Needs, error) {
	n := Needs{count: map[int]int64{}, present: map[int]bool{}}
	for _, c := range claims {
		total := 0
		for r := range c.requests {
			request := &c.requests[r]
			a := &request.alternatives[0]
			if len(request.alternatives) > 1 {
				for i := range request.alternatives {
					if other := &request.alternatives[i]; possible(&Alternative{other}) {
						a = other
						break
					}
				}
			}
			switch {
			case a.admin:
				n.present[k.presence(a)] = true
				continue
			case a.all:
				return n, &Error{Claim: c.name, Request: a.name, Problem: "asks for all devices of a node: that is not planned, ask for a number of devices"}
			}
			if total += a.count; total > 32 {
				return n, &Error{Claim: c.name, Request: a.name, Problem: "asks for more devices than the 32 that a claim can have"}
			}
			at, ok := k.intern(c, request, a)
			if !ok {
				return n, &Error{Claim: c.name, Request: a.name, Problem: fmt.Sprintf("is one of more than %d kinds of requests in the cluster", MaxKinds)}
			}
			n.count[at] += int64(a.count)
		}
	}
	return n, nil
}

// Alternative is one way to meet a request, see Possible.
type Alternative struct{ of *alternative }

// Possible reports whether so many devices of the inventory match the alternative, in use or not.
func (a *Alternative) Possible(inv *Inventory, m *Matches) bool {
	matching := m.of(inv, a.of)
	n := 0
	for i := range matching.verdicts {
		if v := &matching.verdicts[i]; v.matches() && !v.tainted {
			n++
		}
	}
	return n >= max(a.of.wanted(), 1)
}

func (k *Kinds) intern(c *Claim, r *request, a *alternative) (int, bool) {
	bundle := ""
	if slices.ContainsFunc(c.constraints, func(x constraint) bool { return x.concerns(r, a) }) {
		bundle = c.Text()
	}
	text := fmt.Sprintf("%s in %q", a.text(), bundle)
	if bundle != "" {
		text += " " + a.name
	}
	if at, ok := k.index[text]; ok {
		k.list[at].count = max(k.list[at].count, a.count)
		return at, true
	}
	if len(k.list) == MaxKinds {
		return 0, false
	}
	at := len(k.list)
	k.index[text] = at
	k.list = append(k.list, kind{c, r, a, a.count, bundle})
	return at, true
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

// text is equal for alternatives that the same devices match. Names play no part.
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

// Text is equal for claims that ask for the same, of the same classes. The claim's own name plays no part.
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

// Text is equal for needs that are the same.
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

// Empty reports whether nothing is needed.
func (n Needs) Empty() bool { return len(n.count)+len(n.present) == 0 }
