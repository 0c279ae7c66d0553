package scheduling

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/match"
)

// daemonMask is where a DaemonSet would run among the machines of a pool: the union over its alternatives of rows x
// slots.
type daemonMask struct {
	daemon   *daemon
	number   int32        // of the daemon, in Model.daemonSets
	variants []bitset.Set // per alternative
	slots    []bitset.Set // per alternative
}

// runsAt reports whether the DaemonSet has a pod on the variant bought in the slot.
func (d *daemonMask) runsAt(variant, slot int) bool {
	for i := range d.variants {
		if d.variants[i].Has(variant) && d.slots[i].Has(slot) {
			return true
		}
	}
	return false
}

// daemonMasks finds the DaemonSets that run on nodes with these labels and taints. Each alternative is looked at on its own, and zones count.
func daemonMasks(sets []daemon, have requirements.Set, taints []corev1.Taint, c *market.Catalog) []daemonMask {
	var out []daemonMask
	for i := range sets {
		d := &sets[i]
		if match.Untolerated(d.tolerations, taints, true) != nil {
			continue
		}
		mask := daemonMask{daemon: d, number: int32(i)}
		for _, term := range d.terms {
			variants, slots, ok := termMask(have, term, c)
			if ok {
				mask.variants, mask.slots = append(mask.variants, variants), append(mask.slots, slots)
			}
		}
		if len(mask.variants) > 0 {
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
