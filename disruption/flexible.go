package disruption

import (
	"slices"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
)

// flexible narrows planned nodes down to the types whose launch leaves the command worth it: what may be spent is shared
// out over the new nodes by their prices, and each keeps the types that can't cost more than its share, whatever way to
// buy them succeeds (DIS-140 to DIS-144). A node that comes for one that has drifted keeps all its types.
func (p *pass) flexible(m Method, group []*unit, bins []scheduling.NewNode, spent, most int64) ([]scheduling.NewNode, *Block) {
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
		node, why := p.narrowed(group, &bins[i], share, spent, len(bins))
		if why != nil {
			return nil, why
		}
		out[i] = *node
	}
	return out, nil
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
func (p *pass) narrowed(group []*unit, planned *scheduling.NewNode, share, spent int64, bins int) (*scheduling.NewNode, *Block) {
	pool := p.fleet.pools[planned.Pool]
	node := *planned
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
	list := cheaper(pool, &node, share)
	if !spotToSpot && planOn != v1.CapacityTypeReserved && admits.Has(v1.CapacityTypeSpot) && admits.Has(v1.CapacityTypeOnDemand) {
		list = p.restrict(pool, &node, list, share)
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
