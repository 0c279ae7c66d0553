package existing

import (
	"cmp"
	"slices"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/engine/market"
)

// standing is a node with the offering that it was bought as.
type standing struct {
	node int32
	market.Priced
	source string
	market.Covered
}

// Standings are the nodes that use commitments.
type Standings struct {
	nodes []standing
	// order lists, for each commitment, the nodes that it may cover. The nodes with the highest saving per unit used come first.
	order [][]int32
	// Left is the unused part of each commitment if no node is hidden. shares are the covered shares of each node.
	Left   []int64
	shares [][]market.Share
}

// Standings returns how nodes use commitments, or nil if there are no commitments.
func (from *Seller) Standings(nodes []Node) *Standings {
	if from.Costs == nil || len(from.Costs.Commitments) == 0 {
		return nil
	}
	s := &Standings{order: make([][]int32, len(from.Costs.Commitments))}
	for i := range nodes {
		if nodes[i].Source.Leaving {
			continue
		}
		o, source, ok := from.BoughtAs(nodes[i].Source)
		if !ok || o.Key.CapacityType == v1.CapacityTypeReserved {
			continue
		}
		st := standing{node: int32(i), Priced: o, source: source, Covered: market.Covered{InstanceType: o.Key.InstanceType, By: make([]market.Coverage, len(from.Costs.Commitments))}}
		st.Plain, _ = from.Costs.Walk(&o, market.NoTerm, nil)
		for k, term := range from.Costs.Commitments {
			if !o.Applies[term] {
				continue
			}
			if price, used := from.Costs.Walk(&o, term, nil); used > 0 && price < st.Plain {
				st.By[k] = market.Coverage{Price: price, Used: used}
				s.order[k] = append(s.order[k], int32(len(s.nodes)))
			}
		}
		s.nodes = append(s.nodes, st)
	}
	for k := range s.order {
		before := market.ByYield(k)
		slices.SortFunc(s.order[k], func(a, b int32) int {
			x, y := &s.nodes[a], &s.nodes[b]
			return cmp.Or(before(&x.Covered, &y.Covered), cmp.Compare(nodes[x.node].Name, nodes[y.node].Name))
		})
	}
	s.Left, s.shares = s.Without(from.Costs, nil)
	return s
}

// Without returns the unused part of each commitment if the hidden nodes don't count, and the shares of the other nodes.
func (s *Standings) Without(model *market.Costs, hidden []int32) (left []int64, shares [][]market.Share) {
	nodes := make([]market.Covered, len(s.nodes))
	for i := range nodes {
		nodes[i] = market.Covered{InstanceType: s.nodes[i].InstanceType, Plain: s.nodes[i].Plain, By: s.nodes[i].By, Rest: market.Whole}
	}
	left = make([]int64, len(model.Commitments))
	for k, term := range model.Commitments {
		var list []*market.Covered
		for _, i := range s.order[k] {
			if !slices.Contains(hidden, s.nodes[i].node) {
				list = append(list, &nodes[i])
			}
		}
		left[k] = market.Fill(k, model.Terms[term].Commitment.Amount, list)
	}
	shares = make([][]market.Share, len(nodes))
	for i := range nodes {
		shares[i] = nodes[i].Shares
	}
	return left, shares
}

// SharesOf returns the shares of the node with the given number if no node is hidden.
func (s *Standings) SharesOf(node int32) []market.Share {
	at := slices.IndexFunc(s.nodes, func(st standing) bool { return st.node == node })
	if at < 0 {
		return nil
	}
	return s.shares[at]
}
