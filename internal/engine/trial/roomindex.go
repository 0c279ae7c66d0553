package trial

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/model"

	"github.com/drawknife/drawknife/internal/engine/resources"
)

// Sizes returns a function that measures the size of requests: their share of the free resources of all the given nodes.
func (t *Trial) Sizes(nodes []int32) func([]int64) float64 {
	total := make([]float64, t.M.Resources.Len())
	for _, i := range nodes {
		for d, f := range t.S.Room.Of(i) {
			total[d] += float64(max(f, 0))
		}
	}
	return func(v []int64) float64 {
		sum := 0.0
		for d, x := range v {
			if total[d] > 0 {
				sum += float64(x) / total[d]
			}
		}
		return sum
	}
}

// roomIndex finds nodes of the snapshot with room for a pod without checking all nodes. For each group of nodes that accept the same
// shapes, it has a tree over the nodes in a given order. An inner entry of the tree has, for each resource, the largest free amount of the
// nodes below the entry. A trial updates its roomIndex when pods are placed, nodes are hidden and changes are undone.
type roomIndex struct {
	trees []roomTree
	// rank has each node's position in the order, or -1 if the order lacks the node.
	rank []int32
	// leaf has each node's index in its group's tree.
	leaf []int32
	// size has, for each class, the share of all free resources that one pod uses. It is used to sort by size.
	size []float64
	// need has, for each class, a number that identifies its requests. Classes with equal requests have the same number. needs is the
	// number of distinct requests.
	need  []int32
	needs int
}

// roomTree is the tree of one group. It caches searches that are repeated. With several resources, the largest amounts in an inner entry
// may come from different nodes, so that no single node has room. Therefore a search may have to check many entries.
type roomTree struct {
	nodes []int32
	resources.MaxTree
	// known has, for each need, the point where a search starts. It is nil before the first search.
	known []startingPoint
	// grown lists the leaves that have gained room, oldest first. When the list is full, it is emptied. forgotten is the total number of
	// entries that were removed in this way.
	grown     []int32
	forgotten int
}

// startingPoint records the result of a search at an earlier time: no leaf with an index below the field at had room. The field grown
// identifies this time: it is the number of times that leaves had gained room until then.
type startingPoint struct {
	at    int32
	grown int
}

// mostGrown is the maximum length of grown.
const mostGrown = 128

// NewRoomIndex returns an index of the nodes in the given order. It does not find other nodes.
func (t *Trial) NewRoomIndex(order []int32) *roomIndex {
	m := t.M
	dims := m.Resources.Len()
	x := &roomIndex{trees: make([]roomTree, len(m.Groups)), rank: make([]int32, len(m.Nodes)), leaf: make([]int32, len(m.Nodes))}
	for i := range x.rank {
		x.rank[i] = -1
	}
	for rank, node := range order {
		tree := &x.trees[m.Nodes[node].Group]
		x.rank[node], x.leaf[node] = int32(rank), int32(len(tree.nodes))
		tree.nodes = append(tree.nodes, node)
	}
	for g := range x.trees {
		tree := &x.trees[g]
		if len(tree.nodes) == 0 {
			continue
		}
		tree.MaxTree = resources.NewMaxTree(len(tree.nodes), dims)
		for i, node := range tree.nodes {
			tree.write(i, t, node)
		}
		tree.PullAll()
	}
	x.numberNeeds(m)
	size := t.Sizes(order)
	x.size = make([]float64, len(m.Classes))
	for i, c := range m.Classes {
		x.size[i] = size(c.Requests)
	}
	return x
}

// numberNeeds numbers the distinct requests of classes.
func (x *roomIndex) numberNeeds(m *model.Model) {
	x.need = make([]int32, len(m.Classes))
	numbers := make(map[string]int32, len(m.Classes))
	var key []byte
	for i, c := range m.Classes {
		key = key[:0]
		for _, n := range c.Unshared() {
			key = binary.LittleEndian.AppendUint64(key, uint64(n))
		}
		n, has := numbers[string(key)]
		if !has {
			n = int32(len(numbers))
			numbers[string(key)] = n
		}
		x.need[i] = n
	}
	x.needs = len(numbers)
}

// write sets a leaf to the free amounts of the node, or to -1 if the node takes no pods. It reports whether any amount has grown.
func (tree *roomTree) write(leaf int, t *Trial, node int32) (grew bool) {
	e := tree.Leaf(leaf)
	if !t.S.Room.Usable.Has(int(node)) {
		for d := range e {
			e[d] = -1
		}
		return false
	}
	for d, n := range t.S.Room.Of(node) {
		grew = grew || n > e[d]
		e[d] = n
	}
	return grew
}

// start returns the index of the first leaf that may have room for the need, or -1. It skips leaves that, by the result of an earlier
// search, have no room.
func (x *roomIndex) start(tree *roomTree, number int32, need []int64) int {
	if tree.known == nil {
		tree.known = make([]startingPoint, x.needs)
	}
	k := &tree.known[number]
	if k.grown < tree.forgotten {
		*k = startingPoint{}
	} else {
		for _, leaf := range tree.grown[k.grown-tree.forgotten:] {
			if leaf < k.at && resources.Fits(need, tree.Leaf(int(leaf))) {
				k.at = leaf
			}
		}
	}
	k.grown = tree.forgotten + len(tree.grown)
	at := tree.Next(need, int(k.at))
	if k.at = int32(at); at < 0 {
		k.at = int32(tree.Count)
	}
	return at
}

// update writes a node's current free amounts to the tree of its group.
func (x *roomIndex) update(t *Trial, node int32) {
	if x.rank[node] < 0 {
		return
	}
	tree := &x.trees[t.M.Nodes[node].Group]
	leaf := x.leaf[node]
	if tree.write(int(leaf), t, node) && tree.known != nil {
		if len(tree.grown) == mostGrown {
			tree.forgotten += len(tree.grown)
			tree.grown = tree.grown[:0]
		}
		tree.grown = append(tree.grown, leaf)
	}
	tree.PullFrom(int(leaf))
}

// cursor visits, in order, the nodes of one group that have room for a need. at is the index of the current leaf of the tree.
type cursor struct {
	tree *roomTree
	at   int
}

// First returns the first node, by rank, that has room for a pod of the class and for which take returns true. It considers only groups of
// nodes with at least the given fit or, if exactly is set, with exactly this fit. It returns -1 if there is no such node.
func (x *roomIndex) First(m *model.Model, class int32, need []int64, fit uint32, exactly bool, take func(node int32) bool) int32 {
	c := m.Classes[class]
	var open []cursor
	for g := range x.trees {
		tree := &x.trees[g]
		if len(tree.nodes) == 0 {
			continue
		}
		if has := m.Fits.FitOf(int32(g), c.Shape); has < fit || (exactly && has != fit) {
			continue
		}
		if at := x.start(tree, x.need[class], need); at >= 0 {
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
		if k.at = k.tree.Next(need, k.at+1); k.at < 0 {
			open = slices.Delete(open, best, best+1)
		}
	}
	return -1
}

// Rank sets which nodes of the snapshot Move may use, and in which order. Each pod goes to the first node that takes it. The order is valid
// until the next call of Rank. If a name is unknown or repeated, it returns an error and changes nothing.
func (t *Trial) Rank(order []string) error {
	nodes := make([]int32, 0, len(order))
	seen := bitset.New(len(t.M.Nodes))
	for _, name := range order {
		i, ok := t.M.NodeIndex[name]
		switch {
		case !ok:
			return fmt.Errorf("ranking node %q: the snapshot has no node with this name", name)
		case seen.Has(i):
			return fmt.Errorf("ranking node %q: it is named twice", name)
		}
		seen.Add(i)
		nodes = append(nodes, int32(i))
	}
	t.Rooms = t.NewRoomIndex(nodes)
	return nil
}
