package resources

import "slices"

// MaxTree finds the first vector of a list that is large enough for a need, without checking all vectors. It is a binary tree; each inner
// entry has, for each resource, the maximum over the leaves below it. Entry 1 is the root, entries width to 2*width-1 are the leaves.
type MaxTree struct {
	// Count is the number of leaves.
	Count       int
	dims, width int
	// most, indexed by entry*dims+resource, has the maximum amount of the resource in the leaves below the entry. It is -1 if no leaf was
	// set.
	most []int64
}

// NewMaxTree returns a tree with count leaves that have no room. Set the leaves with Leaf, then call PullAll.
func NewMaxTree(count, dims int) MaxTree {
	t := MaxTree{Count: count, dims: dims, width: 1}
	for t.width < count {
		t.width *= 2
	}
	t.most = make([]int64, 2*t.width*dims)
	for i := range t.most {
		t.most[i] = -1
	}
	return t
}

// Clone returns an independent copy.
func (t *MaxTree) Clone() MaxTree {
	out := *t
	out.most = slices.Clone(t.most)
	return out
}

// Leaf returns the leaf's vector. After a change of the vector, call PullFrom or PullAll before the next search.
func (t *MaxTree) Leaf(i int) []int64 { return t.entry(t.width + i) }

func (t *MaxTree) entry(i int) []int64 { return t.most[i*t.dims : (i+1)*t.dims] }

// pull sets an inner entry to the maximum of its children; it reports whether the entry changed.
func (t *MaxTree) pull(i int) bool {
	e, a, b := t.entry(i), t.entry(2*i), t.entry(2*i+1)
	changed := false
	for d := range e {
		if v := max(a[d], b[d]); v != e[d] {
			e[d], changed = v, true
		}
	}
	return changed
}

// PullAll updates the tree after changes of all leaves.
func (t *MaxTree) PullAll() {
	for i := t.width - 1; i > 0; i-- {
		t.pull(i)
	}
}

// PullFrom updates the tree after a change of one leaf.
func (t *MaxTree) PullFrom(leaf int) {
	for i := (t.width + leaf) / 2; i > 0 && t.pull(i); i /= 2 {
	}
}

// Next returns the index of the first leaf that has room for the need, or -1 if no leaf has room. The search begins at the leaf with the
// index from.
func (t *MaxTree) Next(need []int64, from int) int {
	if from >= t.Count || !Fits(need, t.entry(1)) {
		return -1
	}
	i := t.width + from
	if from == 0 {
		i = 1
	}
	// Go up and to the right until an entry may have room, then go down into it.
	for {
		if Fits(need, t.entry(i)) {
			if i >= t.width {
				return i - t.width
			}
			i *= 2
			continue
		}
		for i&1 == 1 {
			if i >>= 1; i == 0 {
				return -1
			}
		}
		i++
	}
}
