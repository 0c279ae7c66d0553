package packing

import (
	"cmp"
	"slices"
)

// Of packings with equal cost, the packing with fewer nodes is better: each node runs its own system pods, and free room on one node is
// more useful than the same room on two nodes.

// maxPairs is the maximum number of pairs of nodes for which a single replacement is searched.
const maxPairs = 60_000

// fewer replaces two nodes by one node that costs the same as both and holds the pods of both. It tries the cheapest nodes first.
func (s *search) fewer(nodes []Node) []Node {
	price := func(n *Node) int64 { return s.p.Options[n.Option].Price }
	queue := slices.Clone(nodes)
	slices.SortStableFunc(queue, func(a, b Node) int { return cmp.Compare(price(&a), price(&b)) })
	var out []Node
	for pairs := maxPairs; len(queue) > 0; {
		first := queue[0]
		queue = queue[1:]
		merged := false
		for i := 0; i < len(queue) && pairs > 0 && !merged; i++ {
			pairs--
			sum := price(&first) + price(&queue[i])
			from, to := s.priced(sum)
			if from == to {
				for ; i+1 < len(queue) && price(&queue[i+1]) == price(&queue[i]); i++ {
				}
				continue // no option has a suitable price for this sum: skip all nodes with the same price
			}
			var both Node
			if both, merged = s.together(&first, &queue[i], from, to); merged {
				queue = slices.Delete(queue, i, i+1)
				at, _ := slices.BinarySearchFunc(queue, sum, func(n Node, sum int64) int { return cmp.Compare(price(&n), sum) })
				queue = slices.Insert(queue, at, both)
			}
		}
		if !merged {
			out = append(out, first)
		}
	}
	if len(out) == len(nodes) {
		return nodes // if no nodes were merged, nodes keep their order
	}
	return out
}

// priced returns the range of the options with exactly this price: from is included, to is not.
func (s *search) priced(price int64) (from, to int32) {
	by := func(o Option, price int64) int { return cmp.Compare(o.Price, price) }
	at, _ := slices.BinarySearchFunc(s.p.Options, price, by)
	end, _ := slices.BinarySearchFunc(s.p.Options, price+1, by)
	return int32(at), int32(end)
}

// together returns a node of the first option in the range that holds the loads of a and b.
func (s *search) together(a, b *Node, from, to int32) (Node, bool) {
	p := s.p
	both := Node{Load: slices.Clone(a.Load)}
	for _, l := range b.Load {
		at, found := slices.BinarySearchFunc(both.Load, l.Item, func(l Load, item int32) int { return cmp.Compare(l.Item, item) })
		if !found {
			both.Load = slices.Insert(both.Load, at, Load{Item: l.Item})
		}
		if both.Load[at].Count += l.Count; int(both.Load[at].Count) > p.Items[l.Item].PerNode {
			return Node{}, false
		}
	}
	used := make([]int64, len(s.f.asked))
	for _, l := range both.Load {
		for k, d := range s.f.asked {
			used[k] += p.Items[l.Item].Need[d] * int64(l.Count)
		}
	}
	for o := from; o < to; o++ {
		if s.holds(o, &both, used) && (p.Fits == nil || p.Fits(o, both.Load)) {
			both.Option = o
			return both, true
		}
	}
	return Node{}, false
}
