package cloudprovider

import (
	"cmp"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
)

// CapacityTypeRank orders capacity types by the preference at launch: reserved 0, spot 1, on-demand 2, anything else
// 3.
func CapacityTypeRank(capacityType string) int {
	switch capacityType {
	case v1.CapacityTypeReserved:
		return 0
	case v1.CapacityTypeSpot:
		return 1
	case v1.CapacityTypeOnDemand:
		return 2
	}
	return 3
}

// Candidate is an offering and the type that it belongs to. Offering and type are shared and must not be changed.
type Candidate struct {
	Type     *InstanceType
	Offering *Offering
}

// Key returns the key of the offering.
func (c Candidate) Key() OfferingKey { return KeyOf(c.Type, c.Offering) }

// Suits reports whether an instance bought this way meets the requirements and has room for the requests. It ignores a key if only the
// instance, or only the argument want, has a requirement for the key. A resource that the instance lacks has the amount zero.
func (c Candidate) Suits(want requirements.Set, requests corev1.ResourceList) bool {
	return c.Type != nil && c.Type.Offers(c.Offering, want) && fits(requests, c.Type.AllocatableOf(c.Offering))
}

// LaunchOrder returns all compatible offerings, available or not, in the order in which to try them unless the provider knows a better
// order. They are sorted by capacity type (see CapacityTypeRank), then by price, then by key. The result does not depend on the order of
// types.
func LaunchOrder(types []*InstanceType, want requirements.Set, requests corev1.ResourceList) []Candidate {
	return LaunchOrderBy(types, want, requests, nil)
}

// LaunchCost returns the expected cost of an instance bought as the offering of the type, in USD per hour. This is its price plus, for
// example, the cost of interruptions of spot instances. The function must always return the same result for the same offering, and be safe
// for concurrent use. If the result is not a number, or is below 0, the price of the offering is used instead.
type LaunchCost func(*InstanceType, *Offering) float64

// Of returns the cost of a candidate. It returns the price if c is nil, and 0 if the candidate is empty.
func (c LaunchCost) Of(candidate Candidate) float64 {
	if candidate.Type == nil || candidate.Offering == nil {
		return 0
	}
	price := candidate.Offering.Price
	if c == nil {
		return price
	}
	if cost := c(candidate.Type, candidate.Offering); cost >= 0 && !math.IsInf(cost, 0) {
		return cost
	}
	return price
}

// LaunchOrderBy is like LaunchOrder, but sorts by expected cost instead of price. If cost is nil, the result is the same as that of
// LaunchOrder.
func LaunchOrderBy(types []*InstanceType, want requirements.Set, requests corev1.ResourceList, cost LaunchCost) []Candidate {
	var suitable []keyedCandidate
	for _, t := range types {
		if t == nil {
			continue
		}
		suitable = appendSuitable(suitable, t, want, requests)
	}
	for i := range suitable {
		suitable[i].cost = cost.Of(suitable[i].Candidate)
	}
	slices.SortFunc(suitable, func(a, b keyedCandidate) int {
		if c := cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.cost, b.cost)); c != 0 {
			return c
		}
		return a.key.Compare(b.key)
	})
	order := make([]Candidate, len(suitable))
	for i, c := range suitable {
		order[i] = c.Candidate
	}
	return order
}

type keyedCandidate struct {
	Candidate
	rank int
	cost float64
	key  OfferingKey
}

func appendSuitable(suitable []keyedCandidate, t *InstanceType, want requirements.Set, requests corev1.ResourceList) []keyedCandidate {
	m := newMatcher(t, want)
	if !m.typeMeets {
		return suitable
	}
	typeFits := fits(requests, t.Allocatable())
	for i := range t.Offerings {
		o := &t.Offerings[i]
		if !m.meets(o) {
			continue
		}
		if o.OverridesResources() && !fits(requests, t.AllocatableOf(o)) || !o.OverridesResources() && !typeFits {
			continue
		}
		suitable = append(suitable, keyedCandidate{
			Candidate: Candidate{Type: t, Offering: o},
			rank:      CapacityTypeRank(o.CapacityType()),
			key:       KeyOf(t, o),
		})
	}
	return suitable
}

// fits reports whether no request exceeds the allocatable amount.
func fits(requests, allocatable corev1.ResourceList) bool {
	for name, wanted := range requests {
		has := allocatable[name]
		if wanted.Cmp(has) > 0 {
			return false
		}
	}
	return true
}

// CheapestPrice returns the price of the type's cheapest available offering that meets the requirements, in USD per hour, or +Inf if no
// offering does. Resources are not checked.
func (t *InstanceType) CheapestPrice(want requirements.Set) float64 {
	cheapest, m := math.Inf(1), newMatcher(t, want)
	for o := range t.OfferingsWithRoom() {
		if o.Price < cheapest && m.meets(o) {
			cheapest = o.Price
		}
	}
	return cheapest
}

// SortByPrice returns a new list of the types, sorted by CheapestPrice and then by name. Types without a matching offering come last.
func SortByPrice(types []*InstanceType, want requirements.Set) []*InstanceType {
	price := make(map[*InstanceType]float64, len(types))
	types = slices.DeleteFunc(slices.Clone(types), func(t *InstanceType) bool { return t == nil })
	for _, t := range types {
		price[t] = t.CheapestPrice(want)
	}
	sorted := slices.Clone(types)
	slices.SortStableFunc(sorted, func(a, b *InstanceType) int {
		return cmp.Or(cmp.Compare(price[a], price[b]), strings.Compare(a.Name, b.Name))
	})
	return sorted
}

// WorstLaunchPrice returns the highest price, in USD per hour, of an instance of this type that is launched with the requirements. It
// considers the available offerings that meet the requirements and have the most preferred capacity type among them. The result is the
// price of the most expensive of these offerings. It returns +Inf if no offering matches. Consolidation assumes this price for a
// replacement.
func (t *InstanceType) WorstLaunchPrice(want requirements.Set) float64 {
	best, worst := math.MaxInt, math.Inf(1)
	m := newMatcher(t, want)
	for o := range t.OfferingsWithRoom() {
		if !m.meets(o) {
			continue
		}
		switch rank := CapacityTypeRank(o.CapacityType()); {
		case rank < best:
			best, worst = rank, o.Price
		case rank == best:
			worst = max(worst, o.Price)
		}
	}
	return worst
}
