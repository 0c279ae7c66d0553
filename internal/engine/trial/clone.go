package trial

import "slices"

// Clone is a trial of its own that is as this one is now. Both give the same answers to the same questions from now on, and may be used side
// by side. Marks of one are none of the other. What is remembered to save time is not taken along.
func (t *Trial) Clone() *Trial {
	out := &Trial{M: t.M, S: t.S.Clone(), Options: t.Options, Proof: t.Proof}
	out.S.Watch = (*trialWatch)(out)
	if t.M.Gangs != nil {
		out.S.Queue = GangsOf(out).QueueOf
	}
	if t.Rooms != nil {
		out.Rooms = t.Rooms.clone()
	}
	return out
}

// Coined reports whether new nodes of the trial, undone ones too, had labels that are domains which the model does not know: it has
// numbered those in the order in which it met them.
func (t *Trial) Coined() bool { return t.S.Topology != nil && t.S.Topology.Owned }

// clone is an index for a trial that is alike.
func (x *roomIndex) clone() *roomIndex {
	out := *x
	out.trees = slices.Clone(x.trees)
	for i := range out.trees {
		tree := &out.trees[i]
		tree.MaxTree, tree.known, tree.grown = tree.MaxTree.Clone(), slices.Clone(tree.known), slices.Clone(tree.grown)
	}
	return &out
}
