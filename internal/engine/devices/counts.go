package devices

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Counts converts devices to countable resources. Each resource represents a set of kinds. A pod's need of the resource is the number of
// devices of these kinds that the pod needs. A node's amount of the resource is the number of its units that could serve one of these
// kinds. Claims fit a node if and only if they fit in each of these resources (Hall's theorem on assignments). Sets whose condition follows
// from other sets are omitted. Two kinds without a common device are separate resources. If one kind is a special case of another kind, the
// two resources are "special" and "any".
//
// A request of a varied kind takes a different number of devices on each node, but a pod's needs must be equal on all nodes. So the need is
// the largest of these numbers, the kind's weight. If the request takes fewer devices on a node, the difference is added to the node's
// amount. This is done in each set with a varied kind that the node can meet. If the node has one request of a varied kind, the count is
// exact. For a pod without such a request, only the sets without the kind matter. If the node has several such requests, the count is less
// than the number of devices that could be allocated. For the set with only this kind, the amount is the need of all requests together that
// the node can meet, or 0 if the node can meet none.
//
// Devices that use the same counters, such as a GPU and its partitions, can't all be allocated at once, even if they serve different kinds.
// If several kinds compete for such devices, there are more resources: see counterGroup.shares. Claims that fit a node also fit in these
// resources, but the reverse is not always true.
type Counts struct {
	kinds  *Kinds
	sets   []kindSet
	shares []weighted
	names  []string
	// weights has, for each varied kind (see kind.varied), the largest number of devices that a request takes on a known node. The weight
	// of other kinds is 1.
	weights []int64
}

// maxUnions is the largest number of resources for unions of overlapping kinds, in addition to one resource for each kind. If more unions
// are necessary, the largest are omitted. Without these, some impossible combinations of devices are noticed only when devices are
// allocated.
const maxUnions = 64

// Many is an amount that stands for "unlimited".
const Many = math.MaxInt32

// NewCounts computes the resources for nodes with these units.
func NewCounts(k *Kinds, nodes []Units) *Counts {
	c := &Counts{kinds: k, weights: k.weights(nodes)}
	seen := map[kindSet]bool{}
	var masks []kindSet
	for i := range nodes {
		for _, mask := range append(sortedSets(nodes[i].by), nodes[i].groups.masks()...) {
			if !seen[mask] {
				seen[mask] = true
				masks = append(masks, mask)
			}
		}
	}
	for at := range k.list {
		// Kinds of extended resources need a resource of their own, because device plugins may serve them instead of devices.
		if mask := only(at); k.list[at].resource != "" && !seen[mask] {
			masks = append(masks, mask)
		}
	}
	slices.SortFunc(masks, compareSets)
	// A union is a set of kinds for which devices are counted together. It begins with a single kind. Then kinds are added that share a
	// device with the union.
	known := map[kindSet]bool{}
	for at := range k.list {
		if k.list[at].varied {
			c.sets = c.add(c.sets, known, only(at))
			continue
		}
		c.sets = c.add(c.sets, known, k.closed(only(at), masks))
	}
	most := len(c.sets) + maxUnions
	for i := 0; i < len(c.sets) && len(c.sets) < most; i++ {
		near := touched(c.sets[i], masks).without(c.sets[i])
		for at := range near.all {
			if len(c.sets) == most {
				break
			}
			c.sets = c.add(c.sets, known, k.closed(c.sets[i].union(only(at)), masks))
		}
	}
	slices.SortFunc(c.sets, compareSets)
	c.shares = sharesOf(nodes, c.sets)
	c.name()
	return c
}

func (c *Counts) add(sets []kindSet, known map[kindSet]bool, set kindSet) []kindSet {
	if known[set] {
		return sets
	}
	known[set] = true
	return append(sets, set)
}

// touched returns all kinds that a device could serve if the device also serves at least one kind in set. masks are the sets of kinds that
// devices serve.
func touched(set kindSet, masks []kindSet) kindSet {
	var out kindSet
	for _, m := range masks {
		if m.meets(set) {
			out = out.union(m)
		}
	}
	return out
}

// closed adds to set the kinds that are served only by devices that also serve at least one kind in set. It does not add kinds without
// devices. It does not add varied kinds, because each of them has a resource of its own.
func (k *Kinds) closed(set kindSet, masks []kindSet) kindSet {
	out := set
	for at := range k.list {
		if k.list[at].varied {
			continue
		}
		served, outside := false, false
		for _, m := range masks {
			if m.has(at) {
				served = true
				outside = outside || !m.meets(set)
			}
		}
		if served && !outside {
			out.add(at)
		}
	}
	return out
}

// weights computes, for each varied kind, the largest number of devices that a request takes on any of the nodes. The weight of other kinds
// is 1.
func (k *Kinds) weights(nodes []Units) []int64 {
	out := make([]int64, len(k.list))
	for at := range out {
		out[at] = 1
		if !k.list[at].varied {
			continue
		}
		for i := range nodes {
			if s := nodes[i].varied[at]; s.times > 0 {
				out[at] = max(out[at], s.takes)
			}
		}
	}
	return out
}

// name gives the resources readable names: the names of their device classes, with a number if several resources have the same classes.
func (c *Counts) name() {
	used := map[string]int{}
	give := func(name string) {
		used[name]++
		if n := used[name]; n > 1 {
			name = fmt.Sprintf("%s#%d", name, n)
		}
		c.names = append(c.names, name)
	}
	for _, set := range c.sets {
		give(c.classesOf(set))
	}
	for i := range c.shares {
		give("shares of " + c.classesOf(c.shares[i].kinds))
	}
	for i := range c.kinds.presences {
		give(c.kinds.presences[i].alternative.class + " for administration")
	}
}

// classesOf returns the names of the DeviceClasses of the kinds in the set, as one text.
func (c *Counts) classesOf(set kindSet) string {
	var classes []string
	for at := range set.all {
		if class := c.kinds.list[at].alternatives[0].class; !slices.Contains(classes, class) {
			classes = append(classes, class)
		}
	}
	slices.Sort(classes)
	return strings.Join(classes, "+")
}

// firstPresence returns the index of the first resource that represents an element of Kinds.presences.
func (c *Counts) firstPresence() int { return len(c.sets) + len(c.shares) }

// Names returns the distinct names of the resources.
func (c *Counts) Names() []string { return c.names }

// Of converts the needs of a pod to an amount of each resource.
func (c *Counts) Of(n Needs) []int64 {
	out := make([]int64, len(c.names))
	for i, set := range c.sets {
		for at, count := range n.count {
			if set.has(at) {
				out[i] += count * c.weights[at]
			}
		}
	}
	for i := range c.shares {
		for at, count := range n.count {
			out[len(c.sets)+i] += count * c.shares[i].weights[at]
		}
	}
	for at := range n.present {
		out[c.firstPresence()+at] = 1
	}
	return out
}

// Room returns the amounts of a node with these units, by resource. The parameter plugins has the amounts of extended resources that device
// plugins offer. If a plugin offers a resource, devices don't serve it.
func (c *Counts) Room(u Units, plugins map[string]int64) []int64 {
	out := make([]int64, len(c.names))
	plugged := kindSet{}
	for at := range c.kinds.list {
		if _, yes := plugins[c.kinds.list[at].resource]; yes {
			plugged.add(at)
		}
	}
	for i, set := range c.sets {
		if at := set.first(); c.kinds.list[at].varied && set == only(at) {
			out[i] = c.meets(u, at) * c.weights[at]
			continue
		}
		for mask, count := range u.by {
			if mask.meets(set.without(plugged)) {
				out[i] += count
			}
		}
		out[i] += u.groups.of(set.without(plugged))
		for at := range set.all {
			if c.kinds.list[at].varied && c.meets(u, at) > 0 {
				out[i] += c.weights[at] - u.varied[at].takes
			}
			out[i] += plugins[c.kinds.list[at].resource]
		}
	}
	for i := range c.shares {
		w := c.shares[i].without(plugged)
		out[len(c.sets)+i] = min(w.ofMasks(u.by)+u.groups.weigh(&w)+c.pluggedIn(&c.shares[i], plugins), Many)
	}
	for i := range c.kinds.presences {
		if u.present[i] {
			out[c.firstPresence()+i] = Many
		}
	}
	return out
}

// pluggedIn returns the total weight of the extended resources that device plugins offer. For each kind of w, the amount of its extended
// resource is multiplied by the kind's weight.
func (c *Counts) pluggedIn(w *weighted, plugins map[string]int64) int64 {
	sum := int64(0)
	for at := range w.kinds.all {
		sum += w.weights[at] * plugins[c.kinds.list[at].resource]
	}
	return sum
}

// meets returns how many requests of a varied kind a node with these units can meet. It returns 0 if a request takes more devices on this
// node than on any known node.
func (c *Counts) meets(u Units, at int) int64 {
	if s := u.varied[at]; s.takes <= c.weights[at] {
		return s.times
	}
	return 0
}

// Serves returns the amount of the extended resource that devices of a node with these units can serve.
func (c *Counts) Serves(u Units, resource string) int64 {
	var sum int64
	for at := range c.kinds.list {
		if c.kinds.list[at].resource != resource {
			continue
		}
		for mask, count := range u.by {
			if mask.has(at) {
				sum += count
			}
		}
		sum += u.groups.of(only(at))
	}
	return sum
}
