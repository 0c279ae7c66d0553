package allowedtypes

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/consolidate/money"
	"github.com/drawknife/drawknife/internal/consolidate/reference"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// setOffers is like reference.setTypes, for offers that the finder remembers. Nodes share equal lists, so the lists must not be changed.
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

// wanted has the cached offers for the types of nodes with the same pool and requirements.
type wanted struct {
	pool         v1.PoolKey
	requirements requirements.Set
	// narrower has, by capacity type, the entry for the same pool and the same requirements, but restricted to that capacity type.
	narrower map[string]*wanted
	// known has the offers of each type, by the type's name.
	known map[string][]*knownOffer
}

// knownOffer is the result of reference.Cheaper for one type of a planned node. The field planned is this type. The field had is false if
// the result is empty.
type knownOffer struct {
	planned planning.InstanceTypeOption
	reference.Priced
	had bool
	// allocatable is the allocatable of Priced.Option. It is nil until it is first needed.
	allocatable corev1.ResourceList
}

type wantedKey struct {
	pool         v1.PoolKey
	requirements string
}

// lately is the largest number of recent entries that the method wants compares before it looks in the map allWanted.
const lately = 8

// wants returns the entry for the node's pool and requirements. The nodes of a plan need only a few different entries.
func (p *Finder) wants(node *planning.NewNode) *wanted {
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

// keepTo restricts the node's requirements to a capacity type.
func (p *Finder) keepTo(capacityType string, node *planning.NewNode) {
	w := p.wants(node)
	if w.narrower[capacityType] == nil {
		one := planning.NewNode{Pool: node.Pool, Requirements: reference.Only(node.Requirements, capacityType)}
		w.narrower[capacityType] = p.wants(&one)
	}
	node.Requirements = w.narrower[capacityType].requirements
}

// cheaper works like reference.Cheaper, but remembers the result for each type of the node. The list is valid until the next call.
func (p *Finder) cheaper(pool *survey.Pool, node *planning.NewNode, spent int64) []*knownOffer {
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

// offer returns the known offer for node.InstanceTypes[number]. If the offer is not known yet, the method makes it.
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
	if list := reference.Cheaper(pool, &one, money.Unlimited); len(list) > 0 {
		known.Priced, known.had = list[0], true
	}
	w.known[o.Name] = append(w.known[o.Name], known)
	return known
}

// restrictFor works like Pass.restrict, but compares prices by Finder.cheaper.
func (p *Finder) restrictFor(pool *survey.Pool, node *planning.NewNode, spent int64) []*knownOffer {
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
