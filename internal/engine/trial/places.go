package trial

import (
	"slices"

	"github.com/drawknife/drawknife/internal/engine/layout"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/offers"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/pricing"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Begin forgets what was remembered about possible new nodes; false if there is nothing to place.
func (t *Trial) Begin(classes []int32) bool {
	if len(classes) == 0 {
		return false
	}
	t.Cells = nil
	if t.S.Topology != nil {
		t.Cells = layout.NewCells(t.M.Pools, t.M.TopologyKeys, t.S.Topology)
	}
	t.Sites, t.Varied, t.Assignments = map[int32][]offers.Site{}, map[int32][]offers.Site{}, map[int32]map[int32][]nodepool.Assignment{}
	return true
}

// rules are the rules for all places now.
func (t *Trial) rules() pricing.PlaceRules {
	if t.Lenient {
		return 0
	}
	return pricing.VarietyKept
}

// RulesFor adds the rules for the class: pods that could use a reservation wait for one under ReservedStrict.
func (t *Trial) RulesFor(c *podclass.Class) pricing.PlaceRules {
	if t.AwaitsReservation(c) {
		return t.rules() | pricing.ReservedOnly
	}
	return t.rules()
}

// AwaitsReservation reports whether the class may only be placed on a reservation.
func (t *Trial) AwaitsReservation(c *podclass.Class) bool {
	return t.Options.Reserved == planning.ReservedStrict && slices.ContainsFunc(c.Stages, func(st int32) bool { return reservedFor(t.M, st, c.Requests) })
}

// reservedFor reports whether the stage has a reserved node with instances left that holds the requests.
func reservedFor(m *model.Model, stage int32, requests []int64) bool {
	dims := m.Resources.Len()
	for _, u := range m.Stages[stage].Uses {
		p := m.Pools[u.Pool]
		c := p.Table.Catalog
		f := &p.Profiles[u.Profile]
		for s := range f.Slots.Members {
			if id := c.Slots[s].Reservation; id == "" || c.Reservations[id] <= 0 {
				continue
			}
			for r := range f.Rows.Members {
				row := &p.Table.Rows[r]
				if row.Slots.Has(s) && c.Price(row.Variant, s) != market.NoPrice && resources.Fits(requests, p.Table.AllocOf(r, dims)) {
					return true
				}
			}
		}
	}
	return false
}

// Sells reports whether the stage has a node in the cell that holds one pod.
func (t *Trial) Sells(c *layout.Cells, stage, cell int32, need []int64) bool {
	return slices.ContainsFunc(t.SitesOf(c, stage, t.Sites), func(s offers.Site) bool { return s.Cell == cell && resources.Fits(need, s.Alloc) })
}

// SitesOf lists a stage's sites by price; computed once per trial and stage.
func (t *Trial) SitesOf(c *layout.Cells, stage int32, cache map[int32][]offers.Site) []offers.Site {
	return t.ListSites(c, stage, t.rules(), cache)
}

// ListSites is SitesOf with the given rules; the cache must only be used for these rules.
func (t *Trial) ListSites(c *layout.Cells, stage int32, rules pricing.PlaceRules, cache map[int32][]offers.Site) []offers.Site {
	if list, ok := cache[stage]; ok {
		return list
	}
	list, assigned := t.M.Shop().Sites(stage, c, rules, t.StrictVariety)
	cache[stage] = list
	t.Assignments[stage] = assigned
	return list
}

// StrictVariety reports whether the pool's minValues must be met now.
func (t *Trial) StrictVariety(p *nodepool.Pool) bool {
	return len(p.Variety) > 0 && !t.Lenient
}
