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

// Claim returns the requirements of the NodeClaim. Keys of offerings are restricted to the values in slots. known are the labels that the
// pool and the plan state.
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
		// Pods may require that a label is absent, or that it differs from a value. If only pods name the label, nodes don't have it.
		_, stated := c.TypeKeys[key]
		if r := claim.Get(key); !known.Has(key) && !stated && !c.OfferingKeys[key] && match.AbsentMeets(r) {
			claim = claim.With(requirements.DoesNotExist(key))
		}
	}
	return claim
}

// KeepProduct restricts the slots to a set that a NodeClaim can express: some zones, some capacity types, and every combination of these
// that the catalog offers. If some combinations are not acceptable, or if a type's amounts depend on where it is bought, only the zone and
// capacity type of the plan remain.
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

// isProduct reports whether the slots contain every slot of the catalog that combines one of their zones with one of their capacity types.
// Slots of other reservations are ignored, because a NodeClaim names its own reservation.
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
