package launch

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/cloudprovider"
)

// hasMinValues reports whether the claim has minValues. In this case, no types are excluded as exotic or expensive.
func (s *selection) hasMinValues() bool {
	for r := range s.wish.Requirements.All {
		if r.MinValues() != nil {
			return true
		}
	}
	return false
}

// truncate keeps as many types as a request may name (MaxInstanceTypes): the cheapest types, or some more expensive types if minValues
// can't be met without them. It returns an error if this number of types can't meet minValues.
func (s *selection) truncate() error {
	ranked := s.byCost()
	kept := ranked[:min(len(ranked), MaxInstanceTypes)]
	if lacking := s.lacking(kept); lacking != "" && !s.wish.MinValuesRelaxed {
		kept = s.varied(ranked)
		if lacking := s.lacking(kept); lacking != "" {
			return cloudprovider.NewInsufficientCapacityError(
				fmt.Errorf("%d instance types have room, but too few values for minValues: %s", len(ranked), lacking))
		}
	}
	names := make(map[string]bool, len(kept))
	for _, t := range kept {
		names[t.Name] = true
	}
	s.keep(fmt.Sprintf("more expensive than the %d cheapest", MaxInstanceTypes), func(c cloudprovider.Candidate) bool { return names[c.Type.Name] })
	return nil
}

// byCost returns the remaining types, each once, ordered by the cost of their cheapest offering and then by name.
func (s *selection) byCost() []*cloudprovider.InstanceType {
	cheapest := map[*cloudprovider.InstanceType]float64{}
	var types []*cloudprovider.InstanceType
	for _, c := range s.left {
		least, seen := cheapest[c.Type]
		if !seen {
			types = append(types, c.Type)
			least = math.Inf(1)
		}
		cheapest[c.Type] = min(least, s.wish.Cost.Of(c))
	}
	slices.SortFunc(types, func(a, b *cloudprovider.InstanceType) int {
		return cmp.Or(cmp.Compare(cheapest[a], cheapest[b]), strings.Compare(a.Name, b.Name))
	})
	return types
}

// lacking says which minValues the types don't meet, or returns "" if they meet all.
func (s *selection) lacking(types []*cloudprovider.InstanceType) string {
	var faults []string
	for r := range s.wish.Requirements.All {
		if least := r.MinValues(); least != nil {
			if have := len(s.values(types, r)); have < *least {
				faults = append(faults, fmt.Sprintf("%s has %d values, minValues is %d", r.Key(), have, *least))
			}
		}
	}
	return strings.Join(faults, "; ")
}

// values returns the values of a key that the types or their remaining offerings state, and that the requirement allows.
func (s *selection) values(types []*cloudprovider.InstanceType, r requirements.Requirement) map[string]bool {
	values := map[string]bool{}
	among := make(map[*cloudprovider.InstanceType]bool, len(types))
	for _, t := range types {
		among[t] = true
	}
	for _, c := range s.left {
		if !among[c.Type] {
			continue
		}
		stated := c.Offering.Requirements.Get(r.Key())
		if !c.Offering.Requirements.Has(r.Key()) {
			stated = c.Type.Requirements.Get(r.Key())
		}
		if stated.Complement() {
			continue
		}
		for _, value := range stated.Values() {
			if r.Has(value) {
				values[value] = true
			}
		}
	}
	return values
}

// varied returns at most MaxInstanceTypes of the ranked types: first each type with a value that is still missing for minValues, then the
// cheapest of the other types.
func (s *selection) varied(ranked []*cloudprovider.InstanceType) []*cloudprovider.InstanceType {
	var kept []*cloudprovider.InstanceType
	have := map[string]map[string]bool{}
	for _, t := range ranked {
		brings := false
		for r := range s.wish.Requirements.All {
			least := r.MinValues()
			if least == nil || len(have[r.Key()]) >= *least {
				continue
			}
			for value := range s.values([]*cloudprovider.InstanceType{t}, r) {
				if !have[r.Key()][value] {
					brings = true
				}
			}
		}
		if !brings || len(kept) == MaxInstanceTypes {
			continue
		}
		kept = append(kept, t)
		for r := range s.wish.Requirements.All {
			if r.MinValues() == nil {
				continue
			}
			if have[r.Key()] == nil {
				have[r.Key()] = map[string]bool{}
			}
			for value := range s.values([]*cloudprovider.InstanceType{t}, r) {
				have[r.Key()][value] = true
			}
		}
	}
	for _, t := range ranked {
		if len(kept) == MaxInstanceTypes {
			break
		}
		if !slices.Contains(kept, t) {
			kept = append(kept, t)
		}
	}
	return kept
}
