package state

import (
	"maps"
	"slices"
)

// Clone copies the current state, including everything that can be undone. In the copy, the fields Room.Watch and Queue are nil.
func (s *State) Clone() State {
	out := *s
	out.Queue, out.onHost, out.roomLeft, out.rules = nil, nil, nil, counting{}
	out.Room, out.Placed = s.Room.clone(), s.Placed.clone()
	out.Waiting, out.Freed = slices.Clone(s.Waiting), slices.Clone(s.Freed)
	out.Ways = slices.Clone(s.Ways)
	out.Planned = clonePlanned(s.Planned, s.w.Dims)
	out.Hidden, out.HiddenSet, out.firstFreed = slices.Clone(s.Hidden), s.HiddenSet.Clone(), slices.Clone(s.firstFreed)
	out.replaced, out.sealed = slices.Clone(s.replaced), slices.Clone(s.sealed)
	if s.Topology != nil {
		out.Topology = s.Topology.Fork()
	}
	out.Limits.Usage, out.Limits.Standing = cloneAmounts(s.Limits.Usage), cloneAmounts(s.Limits.Standing)
	out.Limits.Reserved = maps.Clone(s.Limits.Reserved)
	out.Volumes.placed = maps.Clone(s.Volumes.placed)
	out.Log.changes, out.Log.cuts = slices.Clone(s.Log.changes), slices.Clone(s.Log.cuts)
	out.received = slices.Clone(s.received)
	return out
}

// clonePlanned copies the new nodes and their amounts.
func clonePlanned(in []Node, dims int) []Node {
	out, amounts := slices.Clone(in), make([]int64, 0, dims*len(in))
	for i := range out {
		from := len(amounts)
		amounts = append(amounts, out[i].Used...)
		out[i].Used = amounts[from:len(amounts):len(amounts)]
	}
	return out
}

// cloneAmounts copies amounts. Nil stays nil.
func cloneAmounts(in [][]int64) [][]int64 {
	out := slices.Clone(in)
	for i := range out {
		out[i] = slices.Clone(out[i])
	}
	return out
}
