package scheduling

import "slices"

// roomIndex finds machines of the snapshot with room for a pod without looking at all: for each group of machines that
// take the same shapes a tree over its machines in a given order, whose inner entries are what the roomiest below has of
// each resource. A trial keeps it up to date with what it places, hides and undoes.
type roomIndex struct {
	dims  int
	trees []roomTree
	// rank is indexed by node: its number in the order, or -1 for none.
	rank []int32
	// leaf is indexed by node: its place in its group's tree.
	leaf []int32
	// size is indexed by class: how much of all room one pod takes, for an order by size.
	size []float64
}

// roomTree is the tree of one group. Entry 1 is the root, entries width to 2*width-1 are the leaves.
type roomTree struct {
	nodes []int32
	width int
	// most is indexed [entry*dims+resource]; -1 where no machine below takes pods.
	most []int64
}

// newRoomIndex indexes machines in the given order; others are not found.
func (t *Trial) newRoomIndex(order []int32) *roomIndex {
	m := t.m
	x := &roomIndex{dims: m.resources.len(), trees: make([]roomTree, len(m.groups)), rank: make([]int32, len(m.nodes)), leaf: make([]int32, len(m.nodes))}
	for i := range x.rank {
		x.rank[i] = -1
	}
	for rank, node := range order {
		tree := &x.trees[m.nodes[node].group]
		x.rank[node], x.leaf[node] = int32(rank), int32(len(tree.nodes))
		tree.nodes = append(tree.nodes, node)
	}
	for g := range x.trees {
		tree := &x.trees[g]
		if len(tree.nodes) == 0 {
			continue
		}
		for tree.width = 1; tree.width < len(tree.nodes); tree.width *= 2 {
		}
		tree.most = make([]int64, 2*tree.width*x.dims)
		for i := range tree.most {
			tree.most[i] = -1
		}
		for i, node := range tree.nodes {
			x.write(tree, i, t, node)
		}
		for entry := tree.width - 1; entry > 0; entry-- {
			x.pull(tree, entry)
		}
	}
	size := t.sizes(order)
	x.size = make([]float64, len(m.classes))
	for i, c := range m.classes {
		x.size[i] = size(c.requests)
	}
	return x
}

func (x *roomIndex) entry(tree *roomTree, i int) []int64 { return tree.most[i*x.dims : (i+1)*x.dims] }

// write sets a leaf to what the machine has free.
func (x *roomIndex) write(tree *roomTree, leaf int, t *Trial, node int32) {
	e := x.entry(tree, tree.width+leaf)
	if t.usable.has(int(node)) {
		copy(e, t.freeOf(node))
		return
	}
	for d := range e {
		e[d] = -1
	}
}

// pull makes an inner entry the maximum of those below; it reports whether that changed it.
func (x *roomIndex) pull(tree *roomTree, i int) bool {
	e, a, b := x.entry(tree, i), x.entry(tree, 2*i), x.entry(tree, 2*i+1)
	changed := false
	for d := range e {
		if v := max(a[d], b[d]); v != e[d] {
			e[d], changed = v, true
		}
	}
	return changed
}

// update takes notice of what became of a machine's room.
func (x *roomIndex) update(t *Trial, node int32) {
	if x.rank[node] < 0 {
		return
	}
	tree := &x.trees[t.m.nodes[node].group]
	x.write(tree, int(x.leaf[node]), t, node)
	for i := (tree.width + int(x.leaf[node])) / 2; i > 0 && x.pull(tree, i); i /= 2 {
	}
}

// next is the first machine of the tree, from a leaf on, that has the need; -1 for none.
func (x *roomIndex) next(tree *roomTree, need []int64, from int) int {
	if tree.width == 0 || from >= len(tree.nodes) || !fits(need, x.entry(tree, 1)) {
		return -1
	}
	// Climb from the leaf to the right until an entry promises room, then descend into it.
	i := tree.width + from
	for {
		if fits(need, x.entry(tree, i)) {
			if i >= tree.width {
				return i - tree.width
			}
			i *= 2
			continue
		}
		for i&1 == 1 {
			if i >>= 1; i == 0 {
				return -1
			}
		}
		if i == 0 {
			return -1
		}
		i++
		if i&(i-1) == 0 {
			return -1 // past the last entry of its level
		}
	}
}

// cursor walks the machines of one group that have room for a need, in order.
type cursor struct {
	tree *roomTree
	at   int
}

// first finds the first machine, by rank, that has room for a pod of the class, is of a group that fits it at least as well as
// asked, and that take says yes to. It returns -1 if there is none.
func (x *roomIndex) first(m *Model, c *class, need []int64, fit uint32, exactly bool, take func(node int32) bool) int32 {
	var open []cursor
	for g := range x.trees {
		tree := &x.trees[g]
		if len(tree.nodes) == 0 {
			continue
		}
		if has := m.fitOf(int32(g), c.shape); has < fit || (exactly && has != fit) {
			continue
		}
		if at := x.next(tree, need, 0); at >= 0 {
			open = append(open, cursor{tree, at})
		}
	}
	for len(open) > 0 {
		best := 0
		for i := range open[1:] {
			if x.rank[open[i+1].tree.nodes[open[i+1].at]] < x.rank[open[best].tree.nodes[open[best].at]] {
				best = i + 1
			}
		}
		k := &open[best]
		node := k.tree.nodes[k.at]
		if take(node) {
			return node
		}
		if k.at = x.next(k.tree, need, k.at+1); k.at < 0 {
			open = slices.Delete(open, best, best+1)
		}
	}
	return -1
}
