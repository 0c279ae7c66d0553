package global

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

// pass is the reference's pass as a search uses it: with what it found out about types that new nodes may be.
type pass struct {
	*reference.Pass
	// oneZone says that new nodes may be kept to one zone, keepsZone that they are now: see flexible.
	oneZone, keepsZone bool
	// cheapest is scratch of cheaper; allWanted remembers what it found, wanted the last of them.
	cheapest  []*knownOffer
	wanted    []*wanted
	allWanted map[wantedKey]*wanted
}

// flexible narrows planned nodes down to the types whose launch leaves the command worth it: what may be spent is shared
// out over the new nodes by their prices, and each keeps the types that can't cost more than its share, whatever way to
// buy them succeeds. A node that comes for one that has drifted keeps all its types. Where such shares leave some node no type,
// it gets what it needs of the others', unless the caller is strict. Where that does not do either, nodes may be kept to one zone.
func (p *pass) flexible(m decision.Method, group []*unit, bins []planning.NewNode, spent, most int64, limit int, strict bool) ([]planning.NewNode, *decision.Block) {
	if m == decision.MethodDrift {
		return bins, nil
	}
	most = min(most, unlimited)
	out, why := p.sharing(group, bins, nil, spent, most, limit)
	if why != nil && !strict && len(bins) > 1 && most != unlimited {
		out, why = p.sharing(group, bins, p.needs(group, bins, limit), spent, most, limit)
	}
	if why == nil || !p.oneZone {
		return out, why
	}
	p.keepsZone = true
	defer func() { p.keepsZone = false }()
	if kept, why := p.sharing(group, bins, nil, spent, most, limit); why == nil {
		return kept, nil
	}
	return nil, why
}

// sharing narrows each new node to its share. A node whose share by its price leaves it no type gets what it needs, and the others
// share what is left: one whose type costs more in another zone does not stop a command that saves enough. Without needs each has
// to do with its share by price.
func (p *pass) sharing(group []*unit, bins []planning.NewNode, needs []int64, spent, most int64, limit int) ([]planning.NewNode, *decision.Block) {
	planned, short := int64(0), make([]bool, len(bins))
	for i := range bins {
		planned += money.NanoUSD(bins[i].InstanceTypes[0].Price)
	}
	out := make([]planning.NewNode, len(bins))
	for again := true; again; {
		again = false
		for i := range bins {
			price, share := money.NanoUSD(bins[i].InstanceTypes[0].Price), most
			switch {
			case short[i]:
				share = needs[i]
			case most < unlimited:
				share = sharedOut(price, planned, most)
			}
			node, why := p.narrowed(group, &bins[i], share, spent, len(bins), limit)
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

// needs is the least share for each new node that leaves it a type; 0 where nothing does.
func (p *pass) needs(group []*unit, bins []planning.NewNode, limit int) []int64 {
	out, fromSpot := make([]int64, len(bins)), allSpot(group)
	for i := range bins {
		node := bins[i]
		if list, _, _ := p.offers(fromSpot, &node, unlimited, limit); len(list) > 0 {
			out[i] = slices.MinFunc(list, func(a, b *knownOffer) int { return cmp.Compare(a.Worst, b.Worst) }).Worst + 1
		}
	}
	return out
}

// Lists of types are cut where nothing asks for more: what a search looks at to know that a command is good, and what a
// command lists in the end, which is more than providers take for one launch.
const (
	typesToTry  = 10
	typesToList = 60
)

// picky reports whether the pool asks for variety, so that a list of types must not be cut.
func (p *pass) picky(pool *survey.Pool) bool {
	return slices.ContainsFunc(pool.Object.Spec.Template.Spec.Requirements, func(r v1.NodeSelectorRequirementWithMinValues) bool { return r.MinValues != nil })
}

// sharedOut is the price with its part of what may be spent beyond all planned prices, rounded down.
func sharedOut(price, planned, most int64) int64 {
	if planned <= 0 {
		return most
	}
	return price + int64(float64(most-planned)*float64(price)/float64(planned))
}

// offers keeps the node to the capacity type that it has to be bought as, and returns its types that cost less than its share. The
// list is good until the next call.
func (p *pass) offers(fromSpot bool, node *planning.NewNode, share int64, limit int) (list []*knownOffer, spotToSpot bool, why *decision.Block) {
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

// allSpot reports whether the whole group is bought as spot.
func allSpot(group []*unit) bool {
	return !slices.ContainsFunc(group, func(u *unit) bool { return u.CapacityType != v1.CapacityTypeSpot })
}

// narrowed is one planned node with the types that cost less than its share. The rules for capacity types are those of the
// reference, by what the whole group is bought as.
func (p *pass) narrowed(group []*unit, planned *planning.NewNode, share, spent int64, bins, limit int) (*planning.NewNode, *decision.Block) {
	pool := p.Fleet.Pools[planned.Pool]
	node := *planned
	if slices.ContainsFunc(group, func(u *unit) bool { return u.due }) {
		if !p.picky(pool) && len(node.InstanceTypes) > limit {
			node.InstanceTypes = node.InstanceTypes[:limit]
		}
		return &node, nil
	}
	list, spotToSpot, why := p.sureOffers(allSpot(group), &node, share, limit)
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
	if spotToSpot && len(group) == 1 && bins == 1 {
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

// setOffers is setTypes for offers that are remembered. Nodes share what is alike: it must not be changed.
func setOffers(pool *survey.Pool, node *planning.NewNode, list []*knownOffer) {
	alike := len(list) <= len(node.InstanceTypes)
	for i := 0; alike && i < len(list); i++ {
		alike = sameOption(&node.InstanceTypes[i], &list[i].Option)
	}
	if alike {
		node.InstanceTypes = node.InstanceTypes[:len(list):len(list)]
	} else {
		node.InstanceTypes = make([]planning.InstanceTypeOption, len(list))
		for i := range list {
			node.InstanceTypes[i] = list[i].Option
		}
	}
	first := list[0]
	if first.allocatable == nil {
		first.allocatable = reference.AllocatableOf(pool, &first.Option)
	}
	if first.allocatable != nil {
		node.Allocatable = first.allocatable
	}
}

func sameOption(a, b *planning.InstanceTypeOption) bool {
	return a.Name == b.Name && a.Zone == b.Zone && a.CapacityType == b.CapacityType && a.Others == b.Others && a.Price == b.Price && slices.Equal(a.Terms, b.Terms)
}

// wanted are nodes of a pool with the same requirements, with what is known of the types that they could be.
type wanted struct {
	pool         v1.PoolKey
	requirements requirements.Set
	// narrower are those kept to a capacity type.
	narrower map[string]*wanted
	// known is indexed by the type's name, and has nil for what is not to be had.
	known map[string][]*knownOffer
}

// knownOffer is a type, as it was planned, with what it may become: no options if it is not to be had.
type knownOffer struct {
	planned planning.InstanceTypeOption
	reference.Priced
	had bool
	// allocatable of option; nil until somebody asks.
	allocatable corev1.ResourceList
}

type wantedKey struct {
	pool         v1.PoolKey
	requirements string
}

// lately is how many of what is wanted are found by comparing.
const lately = 8

// wants finds what is known of nodes like it: nodes of a plan have few different requirements.
func (p *pass) wants(node *planning.NewNode) *wanted {
	for _, w := range p.wanted {
		if w.pool == node.Pool && w.requirements.Equal(node.Requirements) {
			return w
		}
	}
	key := wantedKey{node.Pool, node.Requirements.String()}
	w := p.allWanted[key]
	if w == nil {
		w = &wanted{pool: node.Pool, requirements: node.Requirements, narrower: map[string]*wanted{}, known: map[string][]*knownOffer{}}
		if p.allWanted == nil {
			p.allWanted = map[wantedKey]*wanted{}
		}
		p.allWanted[key] = w
	}
	if len(p.wanted) == lately {
		p.wanted = slices.Delete(p.wanted, 0, 1)
	}
	p.wanted = append(p.wanted, w)
	return w
}

// keepTo keeps the node to a capacity type.
func (p *pass) keepTo(capacityType string, node *planning.NewNode) {
	w := p.wants(node)
	if w.narrower[capacityType] == nil {
		one := planning.NewNode{Pool: node.Pool, Requirements: reference.Only(node.Requirements, capacityType)}
		w.narrower[capacityType] = p.wants(&one)
	}
	node.Requirements = w.narrower[capacityType].requirements
}

// cheaper is the function of that name, with what was found for a type remembered. The list is good until the next call.
func (p *pass) cheaper(pool *survey.Pool, node *planning.NewNode, spent int64) []*knownOffer {
	w := p.wants(node)
	out := p.cheapest[:0]
	defer func() { p.cheapest = out }()
	for i := range node.InstanceTypes {
		o := &node.InstanceTypes[i]
		if money.NanoUSD(o.Price) >= spent {
			break
		}
		if known := w.offer(pool, node, i); known.had && known.Worst < spent {
			out = append(out, known)
		}
	}
	byPrice := func(a, b *knownOffer) int {
		return cmp.Or(cmp.Compare(a.Option.Price, b.Option.Price), cmp.Compare(a.Option.Name, b.Option.Name))
	}
	if !slices.IsSortedFunc(out, byPrice) {
		slices.SortStableFunc(out, byPrice)
	}
	return out
}

// offer is what the node's type of that number may become.
func (w *wanted) offer(pool *survey.Pool, node *planning.NewNode, number int) *knownOffer {
	o := &node.InstanceTypes[number]
	for _, known := range w.known[o.Name] {
		if p := &known.planned; p.Zone == o.Zone && p.CapacityType == o.CapacityType && p.Others == o.Others && p.Price == o.Price {
			return known
		}
	}
	one := *node
	one.InstanceTypes = node.InstanceTypes[number : number+1]
	known := &knownOffer{planned: *o}
	if list := reference.Cheaper(pool, &one, unlimited); len(list) > 0 {
		known.Priced, known.had = list[0], true
	}
	w.known[o.Name] = append(w.known[o.Name], known)
	return known
}

// restrictFor is restrict with cheaper as above.
func (p *pass) restrictFor(pool *survey.Pool, node *planning.NewNode, spent int64) []*knownOffer {
	whole := *node
	p.keepTo(v1.CapacityTypeSpot, node)
	if spot := p.cheaper(pool, node, spent); len(spot) > 0 {
		return spot
	}
	if len(p.cheaper(pool, &whole, spent)) == 0 {
		return nil
	}
	node.Requirements = whole.Requirements
	p.keepTo(v1.CapacityTypeOnDemand, node)
	return p.cheaper(pool, node, spent)
}

// apart is the pass for a goroutine of its own, that reads but does not add to what is found: what is remembered on the way is
// not shared.
func (p *pass) apart() *pass {
	return &pass{Pass: p.Pass.Apart(), oneZone: p.oneZone}
}

// sureOffers is offers, and where no type is sure to cost less than the share since it costs more in some zone, offers of a node that is kept
// to one zone: the first, in the order of the planned types, in which a type is. Prices of spot instances differ by zone, and a
// command that would only be worth it in one of them is worth it there.
func (p *pass) sureOffers(fromSpot bool, node *planning.NewNode, share int64, limit int) (list []*knownOffer, spotToSpot bool, why *decision.Block) {
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
