package podclass

import (
	"math"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/resources"
)

// Stages is a list of stages. They are numbered in the order in which they are found.
type Stages struct {
	List   []Stage
	number map[string]int32
}

// NewStages returns an empty list with capacity for n stages.
func NewStages(n int) *Stages { return &Stages{number: make(map[string]int32, n)} }

// Find sets the stages of the class c, whose shape is s, and the cost of a pod at each stage.
func (t *Stages) Find(pools []*nodepool.Pool, c *Class, s *Shape) {
	c.Stages = t.usable(pools, s, c.Requests)
	t.cost(pools, c)
}

// Intern returns the number of the stage s. Equal stages have the same number.
func (t *Stages) Intern(s Stage) int32 {
	text := make([]byte, 0, 8*len(s.Uses)+2)
	text = append(text, byte(s.gaveUp), byte(s.Kept*100))
	for _, u := range s.Uses {
		text = append(text, byte(u.Pool), byte(u.Pool>>8), byte(u.Pool>>16), byte(u.Pool>>24),
			byte(u.Profile), byte(u.Profile>>8), byte(u.Profile>>16), byte(u.Profile>>24))
	}
	if n, ok := t.number[string(text)]; ok {
		return n
	}
	n := int32(len(t.List))
	t.List = append(t.List, s)
	t.number[string(text)] = n
	return n
}

// usable returns the shape's stages that have a node which is large enough for one pod.
func (t *Stages) usable(pools []*nodepool.Pool, s *Shape, requests []int64) []int32 {
	var out []int32
	for _, st := range s.Demands {
		if st.roomy(pools, requests) {
			out = append(out, t.Intern(st))
		}
	}
	return out
}

// roomy reports whether some node of the stage has room for one pod.
func (s *Stage) roomy(pools []*nodepool.Pool, requests []int64) bool {
	return slices.ContainsFunc(s.Uses, func(u Use) bool { return pools[u.Pool].Holds(int(u.Profile), requests) })
}

// cost estimates the cost of a pod of the class at each of its stages: the price of the pod's share of the node on which that share is
// cheapest. It estimates costs only if the class has several stages and the first stage keeps preferences.
func (t *Stages) cost(pools []*nodepool.Pool, c *Class) {
	if len(c.Stages) < 2 || t.List[c.Stages[0]].Kept == 0 {
		return
	}
	c.Costs = make([]float64, len(c.Stages))
	dims := len(c.Requests)
	for i, st := range c.Stages {
		c.Costs[i] = math.Inf(1)
		for _, u := range t.List[st].Uses {
			p := pools[u.Pool]
			f := &p.Profiles[u.Profile]
			for r := range f.Rows.Members {
				share := resources.LargestShare(c.Requests, p.Table.AllocOf(r, dims))
				if share > 1 {
					continue
				}
				if slot, price := p.Table.Catalog.Cheapest(p.Table.Rows[r].Variant, p.Table.Rows[r].Slots, f.Slots); slot >= 0 {
					c.Costs[i] = min(c.Costs[i], float64(price)*share)
				}
			}
		}
	}
}
