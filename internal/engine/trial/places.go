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
	"github.com/drawknife/drawknife/internal/engine/topology"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Places computes which new nodes pods could get under a trial's options. They do not depend on what the trial has placed, except for the
// cells that Begin made from it.
type Places struct {
	M       *model.Model
	Options planning.PlaceOptions
	// Lenient trials ignore the variety that pools require: see placeTogether.
	Lenient bool
	// Cells, Sites and Assignments are remembered while classes are placed.
	Cells       *layout.Cells
	Sites       map[int32][]offers.Site
	Varied      map[int32][]offers.Site // sites that lose their variety when they are filled: see FindVariedSite
	Assignments map[int32]map[int32][]nodepool.Assignment
}

// Begin clears the caches about possible new nodes; it returns false if there is nothing to place.
func (t *Trial) Begin(classes []int32) bool {
	if len(classes) == 0 {
		return false
	}
	t.Places.begin(t.S.Topology)
	return true
}

// begin clears the caches. counts are the pods in each domain; nil without topology rules.
func (x *Places) begin(counts *topology.State) {
	x.Cells = nil
	if counts != nil {
		x.Cells = layout.NewCells(x.M.Pools, x.M.TopologyKeys, counts)
	}
	x.Sites, x.Varied, x.Assignments = map[int32][]offers.Site{}, map[int32][]offers.Site{}, map[int32]map[int32][]nodepool.Assignment{}
}

// rules returns the present rules for all places.
func (x *Places) rules() pricing.PlaceRules {
	if x.Lenient {
		return 0
	}
	return pricing.VarietyKept
}

// RulesFor adds the rules for the class: pods that could use a reservation wait for one under ReservedStrict.
func (x *Places) RulesFor(c *podclass.Class) pricing.PlaceRules {
	if x.AwaitsReservation(c) {
		return x.rules() | pricing.ReservedOnly
	}
	return x.rules()
}

// AwaitsReservation reports whether the class may only be placed on a reservation.
func (x *Places) AwaitsReservation(c *podclass.Class) bool {
	return x.Options.Reserved == planning.ReservedStrict && slices.ContainsFunc(c.Stages, func(st int32) bool { return reservedFor(x.M, st, c.Requests) })
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
func (x *Places) Sells(c *layout.Cells, stage, cell int32, need []int64) bool {
	return slices.ContainsFunc(x.SitesOf(c, stage, x.Sites), func(s offers.Site) bool { return s.Cell == cell && resources.Fits(need, s.Alloc) })
}

// SitesOf lists a stage's sites by price; computed once per trial and stage.
func (x *Places) SitesOf(c *layout.Cells, stage int32, cache map[int32][]offers.Site) []offers.Site {
	return x.ListSites(c, stage, x.rules(), cache)
}

// ListSites is SitesOf with the given rules; the cache must only be used for these rules.
func (x *Places) ListSites(c *layout.Cells, stage int32, rules pricing.PlaceRules, cache map[int32][]offers.Site) []offers.Site {
	if list, ok := cache[stage]; ok {
		return list
	}
	list, assigned := x.M.Shop().Sites(stage, c, rules, x.StrictVariety)
	cache[stage] = list
	x.Assignments[stage] = assigned
	return list
}

// StrictVariety reports whether the pool's minValues must be met now.
func (x *Places) StrictVariety(p *nodepool.Pool) bool {
	return len(p.Variety) > 0 && !x.Lenient
}
