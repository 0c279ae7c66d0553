package scheduling

import "slices"

// roomIndex finds machines of the snapshot with room for a pod without looking at all: for each group of machines that
// take the same shapes a tree over its machines in a given order, whose inner entries are what the roomiest below has of
// each resource. A trial keeps it up to date with what it places, hides and undoes.
type roomIndex struct {
	trees []roomTree
	// rank is indexed by node: its number in the order, or -1 for none.
	rank []int32
	// leaf is indexed by node: its place in its group's tree.
	leaf []int32
	// size is indexed by class: how much of all room one pod takes, for an order by size.
	size []float64
}

// roomTree is the tree of one group.
type roomTree struct {
	nodes []int32
	maxTree
}

// newRoomIndex indexes machines in the given order; others are not found.
func (t *Trial) newRoomIndex(order []int32) *roomIndex {
	m := t.m
	dims := m.resources.len()
	x := &roomIndex{trees: make([]roomTree, len(m.groups)), rank: make([]int32, len(m.nodes)), leaf: make([]int32, len(m.nodes))}
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
		tree.maxTree = newMaxTree(len(tree.nodes), dims)
		for i, node := range tree.nodes {
			tree.write(i, t, node)
		}
		tree.pullAll()
	}
	size := t.sizes(order)
	x.size = make([]float64, len(m.classes))
	for i, c := range m.classes {
		x.size[i] = size(c.requests)
	}
	return x
}

// write sets a leaf to what the machine has free.
func (tree *roomTree) write(leaf int, t *Trial, node int32) {
	e := tree.entry(tree.width + leaf)
	if t.usable.has(int(node)) {
		copy(e, t.freeOf(node))
		return
	}
	for d := range e {
		e[d] = -1
	}
}

// update takes notice of what became of a machine's room.
func (x *roomIndex) update(t *Trial, node int32) {
	if x.rank[node] < 0 {
		return
	}
	tree := &x.trees[t.m.nodes[node].group]
	leaf := int(x.leaf[node])
	tree.write(leaf, t, node)
	tree.pullFrom(leaf)
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
		if at := tree.next(need, 0); at >= 0 {
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
		if k.at = k.tree.next(need, k.at+1); k.at < 0 {
			open = slices.Delete(open, best, best+1)
		}
	}
	return -1
}
