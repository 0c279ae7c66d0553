package global

import (
	"github.com/drawknife/drawknife/disruption/decision"
	"slices"
)

// families tell which nodes have to go together, while a search is going on: those that were exchanged for one another, one
// exchange upon another, and those whose pods share a new node. A command is a family or less, so none becomes larger than a
// command may be.
type families struct {
	kin sets
	// size is what the family of a root removes and launches.
	size map[*unit]familySize
	// opener is the first member that each new node was opened for, by number.
	opener map[int]*unit
	// guests are members whose pods a node that is there may have received.
	guests map[*unit][]*unit
	roots  []*unit // scratch
	// full is the block of what would make a family larger than a command may be: the next plan begins with new families.
	full *decision.Block
}

type familySize struct{ members, bins int }

func newFamilies() *families {
	return &families{size: map[*unit]familySize{}, opener: map[int]*unit{}, guests: map[*unit][]*unit{}, full: &decision.Block{Code: decision.BlockLater}}
}

// of is the root of what the unit belongs to.
func (f *families) of(u *unit) *unit {
	if u.planned != nil {
		u = f.opener[u.planned.number]
	}
	return f.kin.find(u)
}

// parties are the roots that come together if the group goes and pods of the others are put on the same new nodes. The list
// is good until the next call.
func (f *families) parties(group []*unit, others ...*unit) (roots []*unit, size familySize) {
	f.roots = f.roots[:0]
	add := func(u *unit) {
		root := f.of(u)
		if slices.Contains(f.roots, root) {
			return
		}
		f.roots = append(f.roots, root)
		known, has := f.size[root]
		if !has {
			known.members = 1
		}
		size.members += known.members
		size.bins += known.bins
	}
	for _, u := range group {
		add(u)
		if u.planned != nil {
			size.bins--
		}
	}
	for _, u := range others {
		add(u)
	}
	return f.roots, size
}

// mixed are the others whose pods may be on the same new nodes as the group's: those whose pods were on nodes of the group,
// and those that the new nodes were opened for that have received pods. None, if no new node is concerned.
func (f *families) mixed(group []*unit, opened, grown []int) []*unit {
	if len(opened)+len(grown) == 0 {
		return nil
	}
	var out []*unit
	for _, u := range group {
		out = append(out, f.guests[u]...)
	}
	for _, number := range grown {
		out = append(out, f.opener[number])
	}
	return out
}

// join makes the parties one family, for which new nodes were opened.
func (f *families) join(roots []*unit, size familySize, opened []int) {
	for _, root := range roots[1:] {
		delete(f.size, root)
		f.kin.join(roots[0], root)
	}
	root := f.kin.find(roots[0])
	size.bins += len(opened)
	f.size[root] = size
	for _, number := range opened {
		f.opener[number] = root
	}
}

// receive notes that a node may have received pods of the group, or of others whose pods were on the group's nodes.
func (f *families) receive(receiver *unit, group []*unit) {
	list := f.guests[receiver]
	for _, u := range group {
		list = append(list, f.guests[u]...)
	}
	f.guests[receiver] = append(list, f.of(group[0]))
}

// sets are units joined together (union-find): units that were never joined are sets of their own.
type sets struct{ parent map[*unit]*unit }

func (x *sets) find(u *unit) *unit {
	for x.parent[u] != nil {
		u = x.parent[u]
	}
	return u
}

func (x *sets) join(a, b *unit) {
	a, b = x.find(a), x.find(b)
	if a == b {
		return
	}
	if x.parent == nil {
		x.parent = map[*unit]*unit{}
	}
	x.parent[b] = a
}
