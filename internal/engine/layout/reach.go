package layout

import (
	"slices"

	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// Reach finds the domains in which pods under spread rules could get a new node. The result is indexed [shape][key]; each list is
// ascending. known returns results that are already known for a shape; it may be nil.
func (l *Cluster) Reach(base *topology.State, known func(shape int32) [][]int32) [][][]int32 {
	out := make([][][]int32, len(l.Shapes))
	for _, c := range l.Classes {
		if c.Topology == nil || out[c.Shape] != nil || !l.spreadsWidely(c.Topology) {
			continue
		}
		if known != nil {
			if out[c.Shape] = known(c.Shape); out[c.Shape] != nil {
				continue
			}
		}
		found := make([]map[int32]bool, len(l.Keys))
		for i := range found {
			found[i] = map[int32]bool{}
		}
		for _, st := range l.Shapes[c.Shape].Demands {
			for _, u := range st.Uses {
				l.reachedBy(base, u, found)
			}
		}
		out[c.Shape] = make([][]int32, len(l.Keys))
		for i := range found {
			for d := range found[i] {
				out[c.Shape][i] = append(out[c.Shape][i], d)
			}
			slices.Sort(out[c.Shape][i])
		}
	}
	return out
}

// spreadsWidely reports whether pods with these topology groups state a spread rule over domains larger than a node.
func (l *Cluster) spreadsWidely(o *topology.Groups) bool {
	return slices.ContainsFunc(o.Owns, func(g int32) bool {
		return l.Rules[g].Kind == topology.Spread && l.Rules[g].At != topology.Hostname
	})
}

// reachedBy adds the domains of all nodes of a profile to found.
func (l *Cluster) reachedBy(base *topology.State, u podclass.Use, found []map[int32]bool) {
	p := l.Pools[u.Pool]
	f := &p.Profiles[u.Profile]
	t := p.Table
	seen := map[int32]bool{}
	list := p.Assignments([]int32{u.Profile}, nodepool.Domains{Keys: l.Keys, OnNodes: l.ValuesOnNodes})
	for a := range list {
		if !list[a].Allows(f) {
			continue
		}
		c := NewCells(l.Pools, l.Keys, base)
		for r := range f.Rows.Members {
			if list[a].Rows != nil && !list[a].Rows.Has(r) {
				continue
			}
			for s := range t.Rows[r].Slots.Members {
				if !f.Slots.Has(s) || t.Catalog.Price(t.Rows[r].Variant, s) == market.NoPrice {
					continue
				}
				n := c.OfNew(u.Pool, int32(r), int32(s), &list[a])
				if seen[n] {
					continue
				}
				seen[n] = true
				for i, d := range c.List[n] {
					if d != topology.NoDomain {
						found[i][d] = true
					}
				}
			}
		}
		clear(seen)
	}
}
