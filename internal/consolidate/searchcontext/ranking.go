package searchcontext

import (
	"cmp"
	"slices"

	"github.com/drawknife/drawknife/internal/consolidate/survey"
)

// Rank orders the nodes that may receive pods. Nodes that stay in any case come first, and nodes that must be removed come last. The nodes
// between these are sorted by the ratio of their pods' value to their price. Nodes of unknown price stay in any case.
func (x *Context) Rank(worth func(*Candidate) int64) []string {
	type receiver struct {
		name  string
		class int
		keep  float64
	}
	list := make([]receiver, 0, len(x.Fleet.In.View.Nodes))
	for i := range x.Fleet.In.View.Nodes {
		m := &x.Fleet.In.View.Nodes[i]
		r := receiver{name: m.Name}
		if c := x.ByName[m.Name]; c != nil {
			switch {
			case c.Due || !survey.Ready(m.Node):
				r.class = 2
			case c.Blocked == nil:
				r.class = 1
				if c.NanoPrice > 0 {
					r.keep = float64(worth(c)) / float64(c.NanoPrice)
				}
			}
		}
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b receiver) int {
		return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(b.keep, a.keep), cmp.Compare(a.name, b.name))
	})
	order := make([]string, len(list))
	for i := range list {
		order[i] = list[i].name
	}
	return order
}
