package allowedtypes

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/money"
	"github.com/drawknife/drawknife/internal/consolidate/reference"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Finder finds the allowed types of new nodes in one planning pass (reference.Pass). It is not safe for concurrent
// use.
type Finder struct {
	*reference.Pass
	// oneZone allows restricting a new node to one zone. keepsZone is true while sureOffers may restrict nodes in this way: in the last
	// attempt of Narrow.
	oneZone, keepsZone bool
	// cheapest is scratch space of the method cheaper. The map allWanted has all entries that the method wants has made. The slice wanted
	// has only the latest of these entries, at most the number of the constant lately.
	cheapest  []*knownOffer
	wanted    []*wanted
	allWanted map[wantedKey]*wanted
}

// New returns a finder for nodes of the pass. If oneZone is true, the finder may restrict a new node to one zone. It does this if each type
// of the node costs at least the node's share in some zone.
func New(p *reference.Pass, oneZone bool) *Finder { return &Finder{Pass: p, oneZone: oneZone} }

// Apart returns a finder for another goroutine. The new finder reads shared results, but does not add to them.
func (p *Finder) Apart() *Finder { return New(p.Pass.Apart(), p.oneZone) }

// Group contains the relevant properties of the nodes that are removed.
type Group struct {
	Method decision.Method
	// Spot means that all removed nodes are spot instances. Due means that at least one of the nodes must be removed in any case. One means
	// that the group has only one node.
	Spot, Due, One bool
}

// Money limits the spending of a command, in nano-USD per hour. Spent is the present cost of the removed nodes. Most is the largest
// permitted total cost of the new nodes.
type Money struct{ Spent, Most int64 }

// Limits on the length of type lists, for pools that don't need longer lists. The search uses mostTried, because it needs only one type
// with which a command is worth it. Commands use mostListed. Providers use fewer types for one launch.
const (
	mostTried  = 10
	mostListed = 60
)

// ToTry returns the largest number of types per new node that a search looks at.
func (p *Finder) ToTry() int { return max(mostTried, p.SpotTypes()) }

// ToList returns the largest number of types per new node that a command lists.
func (p *Finder) ToList() int { return max(mostListed, p.SpotTypes()) }

// Narrow restricts planned nodes to types with which the command is worth it. It divides the permitted cost among the new nodes in
// proportion to their prices. Each new node keeps the types that cost less than the node's share with every allowed offering. A node that
// replaces a drifted node keeps all its types. If no type of a node costs less than its share, the node gets a larger share and the other
// nodes get smaller shares. If strict is true, shares don't change. If a node still has no such type, Narrow may restrict nodes to one
// zone. Each list has at most limit types.
func (p *Finder) Narrow(group Group, nodes []planning.NewNode, spend Money, limit int, strict bool) ([]planning.NewNode, *decision.Block) {
	if group.Method == decision.MethodDrift {
		return nodes, nil
	}
	spend.Most = min(spend.Most, money.Unlimited)
	out, why := p.sharing(group, nodes, nil, spend, limit)
	if why != nil && !strict && len(nodes) > 1 && spend.Most != money.Unlimited {
		out, why = p.sharing(group, nodes, p.needs(group, nodes, limit), spend, limit)
	}
	if why == nil || !p.oneZone {
		return out, why
	}
	p.keepsZone = true
	defer func() { p.keepsZone = false }()
	if kept, why := p.sharing(group, nodes, nil, spend, limit); why == nil {
		return kept, nil
	}
	return nil, why
}

// sharing restricts each new node to the types that cost less than the node's share of spend.Most. If needs is not nil and no type of node
// i costs less than the node's share, the node gets the larger share needs[i]. The other nodes divide the remaining cost. So a command that
// saves enough is possible even if the share of one node is too small, because its type costs more in another zone. If needs is nil, the
// nodes keep the shares that sharedOut returns.
func (p *Finder) sharing(group Group, nodes []planning.NewNode, needs []int64, spend Money, limit int) ([]planning.NewNode, *decision.Block) {
	planned, most, short := int64(0), spend.Most, make([]bool, len(nodes))
	for i := range nodes {
		planned += money.NanoUSD(nodes[i].InstanceTypes[0].Price)
	}
	out := make([]planning.NewNode, len(nodes))
	for again := true; again; {
		again = false
		for i := range nodes {
			price, share := money.NanoUSD(nodes[i].InstanceTypes[0].Price), most
			switch {
			case short[i]:
				share = needs[i]
			case most < money.Unlimited:
				share = sharedOut(price, planned, most, len(nodes))
			}
			node, why := p.narrowed(group, &nodes[i], share, spend.Spent, len(nodes), limit)
			if why == nil {
				out[i] = *node
				continue
			}
			if needs == nil || short[i] || needs[i] <= share {
				return nil, why
			}
			short[i], again = true, true
			if planned, most = planned-price, most-needs[i]; most < planned {
				return nil, why
			}
		}
	}
	return out, nil
}

// needs returns, for each new node, the smallest share of the permitted cost with which the method sharing leaves the node at least one
// type. The entry is 0 if no share is enough.
func (p *Finder) needs(group Group, nodes []planning.NewNode, limit int) []int64 {
	out, fromSpot := make([]int64, len(nodes)), group.Spot
	for i := range nodes {
		node := nodes[i]
		if list, _, _ := p.offers(fromSpot, &node, money.Unlimited, limit); len(list) > 0 {
			out[i] = slices.MinFunc(list, func(a, b *knownOffer) int { return cmp.Compare(a.Worst, b.Worst) }).Worst + 1
		}
	}
	return out
}

// picky reports whether the pool has minValues. The list of types of such a pool must not be cut, because a shorter list could have too few
// values of a label.
func (p *Finder) picky(pool *survey.Pool) bool {
	return slices.ContainsFunc(pool.Object.Spec.Template.Spec.Requirements, func(r v1.NodeSelectorRequirementWithMinValues) bool { return r.MinValues != nil })
}

// sharedOut returns a node's share of the largest total cost, the parameter most. The share is the node's price, plus a part of the amount
// by which the largest total cost exceeds the sum of all planned prices. The part is proportional to the node's price and rounded down. If
// the price of every node is 0, all shares are equal.
func sharedOut(price, planned, most int64, nodes int) int64 {
	if planned <= 0 {
		return most / int64(nodes)
	}
	return price + int64(float64(most-planned)*float64(price)/float64(planned))
}

// offers restricts the node to the capacity types that it may have, and returns the types that cost less than the node's share of the cost
// with every offering that the launch may use. The list is valid until the next call.
func (p *Finder) offers(fromSpot bool, node *planning.NewNode, share int64, limit int) (list []*knownOffer, spotToSpot bool, why *decision.Block) {
	pool := p.Fleet.Pools[node.Pool]
	if !p.picky(pool) && len(node.InstanceTypes) > limit {
		node.InstanceTypes = node.InstanceTypes[:limit]
	}
	admits := node.Requirements.Get(v1.CapacityTypeLabelKey)
	planOn := node.InstanceTypes[0].CapacityType
	spotToSpot = fromSpot && admits.Has(v1.CapacityTypeSpot) && planOn != v1.CapacityTypeReserved
	switch {
	case spotToSpot && !p.SpotToSpot:
		return nil, true, &decision.Block{Code: decision.BlockSpotToSpot}
	case spotToSpot:
		p.keepTo(v1.CapacityTypeSpot, node)
	case planOn == v1.CapacityTypeReserved:
		p.keepTo(v1.CapacityTypeReserved, node)
	}
	if !spotToSpot && planOn != v1.CapacityTypeReserved && admits.Has(v1.CapacityTypeSpot) && admits.Has(v1.CapacityTypeOnDemand) {
		return p.restrictFor(pool, node, share), false, nil
	}
	return p.cheaper(pool, node, share), spotToSpot, nil
}

// narrowed returns the planned node with the types that cost less than the node's share of the cost. If a removed node is due, the planned
// node keeps all its types, however expensive they are. The rules for capacity types are those of Reference, applied to all nodes of the
// group together.
func (p *Finder) narrowed(group Group, planned *planning.NewNode, share, spent int64, nodes, limit int) (*planning.NewNode, *decision.Block) {
	pool := p.Fleet.Pools[planned.Pool]
	node := *planned
	if group.Due {
		if !p.picky(pool) && len(node.InstanceTypes) > limit {
			node.InstanceTypes = node.InstanceTypes[:limit]
		}
		return &node, nil
	}
	list, spotToSpot, why := p.sureOffers(group.Spot, &node, share, limit)
	if why != nil {
		return nil, why
	}
	if len(list) == 0 {
		return nil, &decision.Block{Code: decision.BlockNotCheaper, Price: money.USD(spent), Floor: planned.InstanceTypes[0].Price}
	}
	setOffers(pool, &node, list)
	if why := p.Varied(pool, &node); why != nil {
		return nil, why
	}
	if spotToSpot && group.One && nodes == 1 {
		if len(list) < p.SpotTypes() {
			return nil, &decision.Block{Code: decision.BlockFewTypes, Count: len(list), Need: p.SpotTypes()}
		}
		for n := p.SpotTypes(); ; n++ {
			setOffers(pool, &node, list[:n])
			if n == len(list) || p.Varied(pool, &node) == nil {
				break
			}
		}
	}
	return &node, nil
}

// sureOffers calls offers. If each type costs at least the share in some zone, sureOffers may restrict the node to one zone. It is the zone
// of the first planned type that costs less than the share in its zone. Spot prices differ by zone, so a command may be worth it in only
// one zone.
func (p *Finder) sureOffers(fromSpot bool, node *planning.NewNode, share int64, limit int) (list []*knownOffer, spotToSpot bool, why *decision.Block) {
	planned := *node
	if list, spotToSpot, why = p.offers(fromSpot, node, share, limit); !p.keepsZone || why != nil || len(list) > 0 {
		return list, spotToSpot, why
	}
	var tried []string
	for i := range planned.InstanceTypes[:min(limit, len(planned.InstanceTypes))] {
		o := &planned.InstanceTypes[i]
		if money.NanoUSD(o.Price) >= share {
			break
		}
		if slices.Contains(tried, o.Zone) {
			continue
		}
		tried = append(tried, o.Zone)
		kept := planned
		kept.Requirements = planned.Requirements.With(requirements.In(corev1.LabelTopologyZone, o.Zone))
		if list, sameKind, why := p.offers(fromSpot, &kept, share, limit); why == nil && len(list) > 0 {
			*node = kept
			return list, sameKind, nil
		}
	}
	return list, spotToSpot, nil
}
