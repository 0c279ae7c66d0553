package existing

import (
	"maps"

	"github.com/drawknife/drawknife/internal/engine/podtext"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Regrouping finds the current groups of unchanged nodes. While pods ask about the same labels, the nodes of a group stay in one group. If
// pods ask about other labels, nodes are grouped by their previous group and by the labels that pods newly ask about. This grouping is much
// faster than comparing all labels of the nodes.
type Regrouping struct {
	*Groups
	was []Group
	// fresh lists the labels that pods newly ask about, as nodes may spell them. Same means that pods ask about the same labels as when the
	// old groups were made.
	fresh []string
	Same  bool
	// If Same is set, renumbered has the new number of each old group, counted from 1; 0 means that the group has no new number yet. If
	// Same is not set, byLabels contains the new numbers.
	renumbered []int32
	byLabels   map[string]int32
	buf        []byte
}

// NewRegrouping returns a Regrouping. The parameter was has the old groups, and next receives the new groups. asked has the labels that
// pods asked about when the old groups were made.
func NewRegrouping(next *Groups, was []Group, asked map[string]bool) *Regrouping {
	r := &Regrouping{Groups: next, was: was, Same: maps.Equal(asked, next.Asked)}
	if r.Same {
		r.renumbered = make([]int32, len(was))
		return r
	}
	r.byLabels = make(map[string]int32)
	fresh := make(map[string]bool)
	for key := range next.Asked {
		if !asked[key] {
			fresh[key] = true
		}
	}
	r.fresh = next.spellings(fresh)
	return r
}

// Of returns the current group of a node. group is its previous group.
func (r *Regrouping) Of(n *planning.Node, group int32) int32 {
	if r.Same {
		return r.ofSame(group)
	}
	view := ViewOf(n)
	var w podtext.Writer
	w.Buf = r.buf[:0]
	w.Number(int64(group))
	writeValues(&w, view.Labels, r.fresh)
	r.writeName(&w, &view)
	r.buf = w.Buf
	if g, known := r.byLabels[string(r.buf)]; known {
		return g
	}
	g := r.Number(&view)
	r.byLabels[string(r.buf)] = g
	return g
}

func (r *Regrouping) ofSame(group int32) int32 {
	if n := r.renumbered[group]; n > 0 {
		return n - 1
	}
	g := r.add(r.was[group])
	r.renumbered[group] = g + 1
	return g
}
