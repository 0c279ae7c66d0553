package devices

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
)

// Counts makes resources of devices. Each is a set of kinds: a pod needs as many of it as it needs devices of these kinds, a node has as
// many as it has units that could serve one of them. Claims fit a node if and only if they fit in each of these resources (Hall's
// theorem on assignments); sets that follow from others are left out. Two kinds that no device serves both are resources of their own; a
// kind that is a special case of another one makes the two resources "special" and "any".
type Counts struct {
	kinds *Kinds
	sets  []uint64
	names []string
}

// maxSets bounds the resources that kinds that overlap make.
const maxSets = 64

// Many is the amount where there is no bound.
const Many = math.MaxInt32

// NewCounts finds the resources for nodes with these units. It is false if kinds overlap in too many ways.
func NewCounts(k *Kinds, nodes []Units) (*Counts, bool) {
	c := &Counts{kinds: k}
	seen := map[uint64]bool{}
	var masks []uint64
	for i := range nodes {
		for _, mask := range sortedKeys(nodes[i].by) {
			if !seen[mask] {
				seen[mask] = true
				masks = append(masks, mask)
			}
		}
	}
	slices.Sort(masks)
	// Every union of kinds is grown from a single one by kinds that share a device with it.
	known := map[uint64]bool{}
	for at := range k.list {
		c.sets = c.add(c.sets, known, closed(1<<at, masks, len(k.list)))
	}
	for i := 0; i < len(c.sets); i++ {
		if len(c.sets) > maxSets {
			return nil, false
		}
		near := touched(c.sets[i], masks) &^ c.sets[i]
		for near != 0 {
			at := bits.TrailingZeros64(near)
			near &= near - 1
			c.sets = c.add(c.sets, known, closed(c.sets[i]|1<<at, masks, len(k.list)))
		}
	}
	slices.Sort(c.sets)
	c.name()
	return c, true
}

func (c *Counts) add(sets []uint64, known map[uint64]bool, set uint64) []uint64 {
	if known[set] {
		return sets
	}
	known[set] = true
	return append(sets, set)
}

// touched are all kinds that share a device with the set.
func touched(set uint64, masks []uint64) uint64 {
	var out uint64
	for _, m := range masks {
		if m&set != 0 {
			out |= m
		}
	}
	return out
}

// closed adds the kinds that only devices serve that serve the set too: they need no other room. A kind that nothing serves stays alone.
func closed(set uint64, masks []uint64, kinds int) uint64 {
	out := set
	for at := range kinds {
		served, outside := false, false
		for _, m := range masks {
			if m&(1<<at) != 0 {
				served = true
				outside = outside || m&set == 0
			}
		}
		if served && !outside {
			out |= 1 << at
		}
	}
	return out
}

// name gives the resources names for people: their classes, numbered where they have the same ones.
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
		var classes []string
		for rest := set; rest != 0; rest &= rest - 1 {
			if class := c.kinds.list[bits.TrailingZeros64(rest)].alternative.class; !slices.Contains(classes, class) {
				classes = append(classes, class)
			}
		}
		slices.Sort(classes)
		give(strings.Join(classes, "+"))
	}
	for i := range c.kinds.presences {
		give(c.kinds.presences[i].alternative.class + " for administration")
	}
}

// Names are those of the resources, each once.
func (c *Counts) Names() []string { return c.names }

// Of is what needs come to, by resource.
func (c *Counts) Of(n Needs) []int64 {
	out := make([]int64, len(c.names))
	for i, set := range c.sets {
		for at, count := range n.count {
			if set&(1<<at) != 0 {
				out[i] += count
			}
		}
	}
	for at := range n.present {
		out[len(c.sets)+at] = 1
	}
	return out
}

// Room is what a node with these units has, by resource.
func (c *Counts) Room(u Units) []int64 {
	out := make([]int64, len(c.names))
	for i, set := range c.sets {
		for mask, count := range u.by {
			if mask&set != 0 {
				out[i] += count
			}
		}
	}
	for i, met := range u.present {
		if met {
			out[len(c.sets)+i] = Many
		}
	}
	return out
}
