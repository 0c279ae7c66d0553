package daemonset

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/match"
)

// Mask says on which of the nodes that can be bought a DaemonSet would run. It is the union over the alternatives of the DaemonSet's node
// affinity. Each alternative has a set of variants (instance types) and a set of slots (zones and capacity types).
type Mask struct {
	Set      *Set
	Number   int32        // of the DaemonSet
	Variants []bitset.Set // per alternative
	Slots    []bitset.Set // per alternative
}

// RunsAt reports whether the DaemonSet has a pod on a node of the variant that is bought in the slot.
func (d *Mask) RunsAt(variant, slot int) bool {
	for i := range d.Variants {
		if d.Variants[i].Has(variant) && d.Slots[i].Has(slot) {
			return true
		}
	}
	return false
}

// Masks returns the DaemonSets that run on nodes with these labels and taints. It examines each alternative of their node affinity
// separately, and considers zones.
func Masks(sets []Set, have requirements.Set, taints []corev1.Taint, c *market.Catalog) []Mask {
	var out []Mask
	for i := range sets {
		d := &sets[i]
		if match.Untolerated(d.Tolerations, taints, true) != nil {
			continue
		}
		mask := Mask{Set: d, Number: int32(i)}
		for _, term := range d.Terms {
			variants, slots, ok := termMask(have, term, c)
			if ok {
				mask.Variants, mask.Slots = append(mask.Variants, variants), append(mask.Slots, slots)
			}
		}
		if len(mask.Variants) > 0 {
			out = append(out, mask)
		}
	}
	return out
}

func termMask(have requirements.Set, term match.Needs, c *market.Catalog) (variants, slots bitset.Set, ok bool) {
	variants, slots = c.AllVariants.Clone(), c.AllSlots.Clone()
	for _, r := range term {
		key := r.Key()
		if have.Has(key) && !match.Meets(have, r) {
			return nil, nil, false
		}
		narrowed := have.Get(key).Intersect(r)
		_, stated := c.TypeKeys[key]
		switch {
		case c.OfferingKeys[key]:
			slots.And(c.SlotMask(narrowed))
		case stated:
			variants.And(c.VariantMask(narrowed))
		case !have.Has(key) && !match.AbsentMeets(r):
			return nil, nil, false
		}
	}
	return variants, slots, !variants.Empty() && !slots.Empty()
}
