package searching

import "context"

// strategy decides which nodes a search tries to remove, and in which order.
type strategy struct {
	// roomWeight is the price of free room on existing nodes, in thousandths of the value of the pods that would use this room. With 0,
	// nodes with the highest price per disturbance come first. With 1000, nodes with the highest waste per disturbance come first.
	roomWeight int64
	// seed is a number on which the random choices of drawGroup depend.
	seed uint64
	// rebuild makes the search exchange groups of nodes for new nodes before it uses free room on other nodes.
	rebuild bool
	// wholeGroups makes the search first exchange groups of nodes for the nodes that provisioning would launch for their pods.
	wholeGroups bool
	// merged makes the search first replace as many nodes as possible by one new node.
	merged bool
	// subsets makes the search first try all sets of a few nodes, and execute the best set.
	subsets bool
	// prepare is a function that run calls before consolidate. It may be nil.
	prepare func(context.Context, *Search) error
}

// usual returns the strategy that tries nodes in the order of their waste (price minus value of the pods) per disturbance.
func usual() strategy { return strategy{roomWeight: 1000} }

// strategies returns the strategies that are tried for every plan.
func strategies() []strategy {
	return []strategy{{roomWeight: 1000, rebuild: true}, {roomWeight: 600}, {roomWeight: 0}, usual()}
}

// strategies returns the strategies that are tried for every plan, and additional strategies that suit this search context.
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
