package nodepool

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/match"
)

// Claim are the claim's, with the keys of offerings narrowed to the values that the remaining slots have.
// known are the labels that the pool and the plan state.
func Claim(c *market.Catalog, claim, known requirements.Set, slots bitset.Set) requirements.Set {
	for _, key := range []string{corev1.LabelTopologyZone, v1.CapacityTypeLabelKey} {
		var values []string
		for s := range slots.Members {
			if v := match.OnlyValue(c.Slots[s].Labels.Get(key)); v != "" && !slices.Contains(values, v) {
				values = append(values, v)
			}
		}
		if len(values) > 0 {
			claim = claim.With(requirements.In(key, values...))
		}
	}
	for _, key := range claim.Keys() {
		// Pods may ask that a label be absent, or not have some value, that nobody but pods knows: nodes lack it.
		_, stated := c.TypeKeys[key]
		if r := claim.Get(key); !known.Has(key) && !stated && !c.OfferingKeys[key] && match.AbsentMeets(r) {
			claim = claim.With(requirements.DoesNotExist(key))
		}
	}
	return claim
}

// KeepProduct narrows the slots to what a claim can say: some zones, some capacity types, and every combination of them
// that is sold. Where not all combinations will do, or what a type holds depends on where it is bought, the zone and
// capacity type of the plan are all that is left.
func (t *Table) KeepProduct(planned int32, slots bitset.Set) {
	c := t.Catalog
	bought := &c.Slots[planned]
	if !t.Split && isProduct(c, slots) {
		return
	}
	keep := func(same func(s *market.Slot) bool) bitset.Set {
		out := slots.Clone()
		for s := range slots.Members {
			if !same(&c.Slots[s]) {
				out.Remove(s)
			}
		}
		return out
	}
	if !t.Split {
		for _, narrowed := range []bitset.Set{
			keep(func(s *market.Slot) bool { return s.CapacityType == bought.CapacityType }),
			keep(func(s *market.Slot) bool { return s.Zone == bought.Zone }),
		} {
			if isProduct(c, narrowed) {
				copy(slots, narrowed)
				return
			}
		}
	}
	copy(slots, keep(func(s *market.Slot) bool { return s.Zone == bought.Zone && s.CapacityType == bought.CapacityType }))
}

// isProduct reports whether the slots are all those of the catalog whose zone and capacity type are among theirs. Of
// reservations the claim names its own.
func isProduct(c *market.Catalog, slots bitset.Set) bool {
	zones, types, reservations := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for s := range slots.Members {
		zones[c.Slots[s].Zone], types[c.Slots[s].CapacityType], reservations[c.Slots[s].Reservation] = true, true, true
	}
	for s := range c.Slots {
		if !slots.Has(s) && zones[c.Slots[s].Zone] && types[c.Slots[s].CapacityType] && reservations[c.Slots[s].Reservation] {
			return false
		}
	}
	return true
}
