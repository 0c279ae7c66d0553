package scheduling

import (
	"maps"

	"github.com/drawknife/drawknife/internal/engine/podtext"
)

// regrouping finds the groups that unchanged machines are in now. While pods ask about the same labels, those of a group stay
// together. Otherwise they are told apart by their group before and the labels that are asked about only now, which is far
// less to read than all their labels.
type regrouping struct {
	*groups
	was []nodeGroup
	// fresh are the labels that are asked about only now, as machines may spell them. same tells that all are the same.
	fresh []string
	same  bool
	// renumbered are the new numbers of groups, from 1 on, where all labels are the same; byLabels those of others.
	renumbered []int32
	byLabels   map[string]int32
	buf        []byte
}

// newRegrouping finds in next the groups of nodes that were in one of was, when pods asked about the given labels.
func newRegrouping(next *groups, was []nodeGroup, asked map[string]bool) *regrouping {
	r := &regrouping{groups: next, was: was, same: maps.Equal(asked, next.asked)}
	if r.same {
		r.renumbered = make([]int32, len(was))
		return r
	}
	r.byLabels = make(map[string]int32)
	fresh := make(map[string]bool)
	for key := range next.asked {
		if !asked[key] {
			fresh[key] = true
		}
	}
	r.fresh = next.spellings(fresh)
	return r
}

// of is the group of a machine that was in the given one.
func (r *regrouping) of(n *nodeSource, group int32) int32 {
	if r.same {
		return r.ofSame(group)
	}
	view := viewOf(n)
	var w podtext.Writer
	w.Buf = r.buf[:0]
	w.Number(int64(group))
	writeValues(&w, view.labels, r.fresh)
	r.writeName(&w, &view)
	r.buf = w.Buf
	if g, known := r.byLabels[string(r.buf)]; known {
		return g
	}
	g := r.number(&view)
	r.byLabels[string(r.buf)] = g
	return g
}

func (r *regrouping) ofSame(group int32) int32 {
	if n := r.renumbered[group]; n > 0 {
		return n - 1
	}
	g := r.add(r.was[group])
	r.renumbered[group] = g + 1
	return g
}
