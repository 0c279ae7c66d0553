package disruption

import (
	"cmp"
	"slices"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
)

// flexible narrows planned nodes down to the types whose launch leaves the command worth it: what may be spent is shared
// out over the new nodes by their prices, and each keeps the types that can't cost more than its share, whatever way to
// buy them succeeds (DIS-140 to DIS-144). A node that comes for one that has drifted keeps all its types.
func (p *pass) flexible(m Method, group []*unit, bins []scheduling.NewNode, spent, most int64, limit int) ([]scheduling.NewNode, *Block) {
	if m == MethodDrift {
		return bins, nil
	}
	planned := int64(0)
	for i := range bins {
		planned += nanoUSD(bins[i].InstanceTypes[0].Price)
	}
	most = min(most, unlimited)
	out := make([]scheduling.NewNode, len(bins))
	for i := range bins {
		share := most
		if most < unlimited {
			share = sharedOut(nanoUSD(bins[i].InstanceTypes[0].Price), planned, most)
		}
		node, why := p.narrowed(group, &bins[i], share, spent, len(bins), limit)
		if why != nil {
			return nil, why
		}
		out[i] = *node
	}
	return out, nil
}

// Lists of types are cut where nothing asks for more: what a search looks at to know that a command is good, and what a
// command lists in the end, which is more than providers take for one launch.
const (
	typesToTry  = 10
	typesToList = 60
)

// picky reports whether the pool asks for variety, so that a list of types must not be cut.
func (p *pass) picky(pool *pool) bool {
	return slices.ContainsFunc(pool.Object.Spec.Template.Spec.Requirements, func(r v1.NodeSelectorRequirementWithMinValues) bool { return r.MinValues != nil })
}

// sharedOut is the price with its part of what may be spent beyond all planned prices, rounded down.
func sharedOut(price, planned, most int64) int64 {
	if planned <= 0 {
		return most
	}
	return price + int64(float64(most-planned)*float64(price)/float64(planned))
}

// narrowed is one planned node with the types that cost less than its share. The rules for capacity types are those of the
// reference, by what the whole group is bought as.
func (p *pass) narrowed(group []*unit, planned *scheduling.NewNode, share, spent int64, bins, limit int) (*scheduling.NewNode, *Block) {
	pool := p.fleet.pools[planned.Pool]
	node := *planned
	if !p.picky(pool) && len(node.InstanceTypes) > limit {
		node.InstanceTypes = node.InstanceTypes[:limit]
	}
	admits := planned.Requirements.Get(v1.CapacityTypeLabelKey)
	planOn := planned.InstanceTypes[0].CapacityType
	fromSpot := !slices.ContainsFunc(group, func(u *unit) bool { return u.CapacityType != v1.CapacityTypeSpot })
	spotToSpot := fromSpot && admits.Has(v1.CapacityTypeSpot) && planOn != v1.CapacityTypeReserved
	due := slices.ContainsFunc(group, func(u *unit) bool { return u.due })
	switch {
	case due:
		return &node, nil
	case spotToSpot && !p.SpotToSpot:
		return nil, &Block{Code: BlockSpotToSpot}
	case spotToSpot:
		node.Requirements = only(planned.Requirements, v1.CapacityTypeSpot)
	case planOn == v1.CapacityTypeReserved:
		node.Requirements = only(planned.Requirements, v1.CapacityTypeReserved)
	}
	list := p.cheaper(pool, &node, share)
	if !spotToSpot && planOn != v1.CapacityTypeReserved && admits.Has(v1.CapacityTypeSpot) && admits.Has(v1.CapacityTypeOnDemand) {
		list = p.restrictFor(pool, &node, list, share)
	}
	if len(list) == 0 {
		return nil, &Block{Code: BlockNotCheaper, Price: usd(spent), Floor: planned.InstanceTypes[0].Price}
	}
	setTypes(pool, &node, list)
	if why := p.varied(pool, &node); why != nil {
		return nil, why
	}
	if spotToSpot && len(group) == 1 && bins == 1 {
		if len(list) < p.spotTypes() {
			return nil, &Block{Code: BlockFewTypes, Count: len(list), Need: p.spotTypes()}
		}
		for n := p.spotTypes(); ; n++ {
			setTypes(pool, &node, list[:n])
			if n == len(list) || p.varied(pool, &node) == nil {
				break
			}
		}
	}
	return &node, nil
}

// offer is a type as a node with certain requirements could be launched.
type offer struct {
	requirements string
	pool         v1.PoolKey
	name, zone   string
	capacityType string
	others       string
	price        float64
}

// cheaper is the function of that name, with what was found for a type remembered: nodes of a plan have few different
// requirements. The list is good until the next call.
func (p *pass) cheaper(pool *pool, node *scheduling.NewNode, spent int64) []priced {
	if p.offers == nil {
		p.offers = map[offer]*priced{}
	}
	text := node.Requirements.String()
	out := p.cheapest[:0]
	defer func() { p.cheapest = out }()
	one := *node
	for i := range node.InstanceTypes {
		o := &node.InstanceTypes[i]
		if nanoUSD(o.Price) >= spent {
			break
		}
		key := offer{text, node.Pool, o.Name, o.Zone, o.CapacityType, o.Others, o.Price}
		known, ok := p.offers[key]
		if !ok {
			one.InstanceTypes = node.InstanceTypes[i : i+1]
			if list := cheaper(pool, &one, unlimited); len(list) > 0 {
				known = &list[0]
			}
			p.offers[key] = known
		}
		if known != nil && known.worst < spent {
			out = append(out, *known)
		}
	}
	slices.SortStableFunc(out, func(a, b priced) int {
		return cmp.Or(cmp.Compare(a.option.Price, b.option.Price), cmp.Compare(a.option.Name, b.option.Name))
	})
	return out
}

// restrictFor is restrict with cheaper as above.
func (p *pass) restrictFor(pool *pool, node *scheduling.NewNode, list []priced, spent int64) []priced {
	whole := node.Requirements
	node.Requirements = only(whole, v1.CapacityTypeSpot)
	if spot := p.cheaper(pool, node, spent); len(spot) > 0 {
		return spot
	}
	if len(list) == 0 {
		return nil
	}
	node.Requirements = only(whole, v1.CapacityTypeOnDemand)
	return p.cheaper(pool, node, spent)
}
