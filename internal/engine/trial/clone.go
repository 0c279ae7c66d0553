package trial

import (
	"slices"
)

// Clone returns an independent copy of the trial. After the call, the same calls give the same results in both trials. They may be used in
// parallel. Marks of one trial are not valid in the other. Caches are not copied.
func (t *Trial) Clone() *Trial {
	out := &Trial{Places: Places{M: t.M, Options: t.Options}, S: t.S.Clone(), Proof: t.Proof}
	out.S.Room.Watch = (*trialWatch)(out)
	if t.M.Gangs != nil {
		out.S.Queue = GangsOf(out).QueueOf
	}
	if t.Rooms != nil {
		out.Rooms = t.Rooms.clone()
	}
	return out
}

// Coined reports whether new nodes of the trial, including new nodes that were undone, had labels with domains that the model does not
// know. The trial numbered these domains in the order in which they appeared.
func (t *Trial) Coined() bool { return t.S.Topology != nil && t.S.Topology.Owned }

// clone returns a copy of the index for an equal trial.
func (x *roomIndex) clone() *roomIndex {
	out := *x
	out.trees = slices.Clone(x.trees)
	for i := range out.trees {
		tree := &out.trees[i]
		tree.MaxTree, tree.known, tree.grown = tree.MaxTree.Clone(), slices.Clone(tree.known), slices.Clone(tree.grown)
	}
	return &out
}
