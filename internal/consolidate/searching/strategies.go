package searching

import "context"

// strategy is how a search proceeds.
type strategy struct {
	// roomWeight is the price put on room that pods take on nodes there are, in thousandths of what the pods are worth: with 0
	// expensive nodes go first, with 1000 those whose pods are worth least compared with their price.
	roomWeight int64
	// seed draws other groups.
	seed uint64
	// rebuild tries to exchange groups of nodes for new ones before room on the others is used.
	rebuild bool
	// wholeGroups begins with groups of nodes that are exchanged for what provisioning would launch.
	wholeGroups bool
	// merged begins with as many nodes as one new one can take the pods of.
	merged bool
	// subsets tries all sets of a few nodes, and begins with the best.
	subsets bool
	// prepare is done before anything is consolidated; nil for nothing.
	prepare func(context.Context, *Search) error
}

// usual is the strategy that looks at nodes by what they waste.
func usual() strategy { return strategy{roomWeight: 1000} }

// strategies are tried for each plan, and the best outcome kept.
func strategies() []strategy {
	return []strategy{{roomWeight: 1000, rebuild: true}, {roomWeight: 600}, {roomWeight: 0}, usual()}
}

// strategies are all that a plan of this context is searched with.
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
