package searching

import "context"

// strategy is how a search proceeds.
type strategy struct {
	// roomWeight is the price of free room on existing nodes, in thousandths of the value of the pods that use it. With 0, expensive nodes
	// come first. With 1000, the nodes whose pods are worth least compared to the node's price come first.
	roomWeight int64
	// seed is the seed for drawing groups.
	seed uint64
	// rebuild tries to exchange groups of nodes for new nodes before it uses free room on other nodes.
	rebuild bool
	// wholeGroups starts with groups of nodes that are exchanged for the nodes that provisioning would launch.
	wholeGroups bool
	// merged starts with as many nodes as one new node can replace.
	merged bool
	// subsets tries all sets of a few nodes, and starts with the best set.
	subsets bool
	// prepare runs before the search consolidates anything; it may be nil.
	prepare func(context.Context, *Search) error
}

// usual returns the strategy that orders nodes by their waste.
func usual() strategy { return strategy{roomWeight: 1000} }

// strategies returns the strategies that are tried for every plan; the best result is kept.
func strategies() []strategy {
	return []strategy{{roomWeight: 1000, rebuild: true}, {roomWeight: 600}, {roomWeight: 0}, usual()}
}

// strategies returns all strategies that are tried for a plan of this context.
func (p *Planner) strategies() []strategy {
	list := strategies()
	if p.thorough() {
		whole, merged := usual(), usual()
		whole.wholeGroups, merged.merged = true, true
		list = append(list, whole, merged)
	}
	if p.few() {
		list = append([]strategy{{roomWeight: 1000, subsets: true}}, list...)
	}
	return list
}
