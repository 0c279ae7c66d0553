package scheduling

import (
	"math"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/resources"
)

// stages are numbered as they are come upon.
type stages struct {
	list   []stage
	number map[string]int32
}

// newStages has room for so many.
func newStages(n int) *stages { return &stages{number: make(map[string]int32, n)} }

// find finds the stages that are open to the class, whose shape is given, and what a pod of it costs at each.
func (t *stages) find(pools []*nodepool.Pool, c *class, s *shape) {
	c.stages = t.usable(pools, s, c.requests)
	t.cost(pools, c)
}

// intern gives equal stages one number.
func (t *stages) intern(s stage) int32 {
	text := make([]byte, 0, 8*len(s.uses)+2)
	text = append(text, byte(s.gaveUp), byte(s.kept*100))
	for _, u := range s.uses {
		text = append(text, byte(u.pool), byte(u.pool>>8), byte(u.pool>>16), byte(u.pool>>24),
			byte(u.profile), byte(u.profile>>8), byte(u.profile>>16), byte(u.profile>>24))
	}
	if n, ok := t.number[string(text)]; ok {
		return n
	}
	n := int32(len(t.list))
	t.list = append(t.list, s)
	t.number[string(text)] = n
	return n
}

// usable are those of the shape's stages that have a machine large enough for one pod.
func (t *stages) usable(pools []*nodepool.Pool, s *shape, requests []int64) []int32 {
	var out []int32
	for _, st := range s.demands {
		if st.roomy(pools, requests) {
			out = append(out, t.intern(st))
		}
	}
	return out
}

// roomy reports whether some node of the stage holds one pod.
func (s *stage) roomy(pools []*nodepool.Pool, requests []int64) bool {
	return slices.ContainsFunc(s.uses, func(u use) bool { return pools[u.pool].Holds(int(u.profile), requests) })
}

// cost estimates what a pod of the class costs at each of its stages: its share of the machine where that is
// least.
func (t *stages) cost(pools []*nodepool.Pool, c *class) {
	if len(c.stages) < 2 || t.list[c.stages[0]].kept == 0 {
		return
	}
	c.costs = make([]float64, len(c.stages))
	dims := len(c.requests)
	for i, st := range c.stages {
		c.costs[i] = math.Inf(1)
		for _, u := range t.list[st].uses {
			p := pools[u.pool]
			f := &p.Profiles[u.profile]
			for r := range f.Rows.Members {
				share := resources.LargestShare(c.requests, p.Table.AllocOf(r, dims))
				if share > 1 {
					continue
				}
				if slot, price := p.Table.Catalog.Cheapest(p.Table.Rows[r].Variant, p.Table.Rows[r].Slots, f.Slots); slot >= 0 {
					c.costs[i] = min(c.costs[i], float64(price)*share)
				}
			}
		}
	}
}
