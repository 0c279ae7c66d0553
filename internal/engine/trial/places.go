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

// Places computes which new nodes pods could get with the options of a trial. The results do not depend on the placements of the trial,
// except for the cells, which Begin computes from these placements.
type Places struct {
	M       *model.Model
	Options planning.PlaceOptions
	// Lenient means that minValues of pools are ignored (with MinValuesBestEffort).
	Lenient bool
	// Cells, Sites and Assignments are cached while classes are placed.
	Cells       *layout.Cells
	Sites       map[int32][]offers.Site
	Varied      map[int32][]offers.Site // sites that no longer meet minValues when they are filled: see FindVariedSite
	Assignments map[int32]map[int32][]nodepool.Assignment
}

// Begin clears the caches of possible new nodes. It returns false if classes is empty, so that there are no pods to place.
func (t *Trial) Begin(classes []int32) bool {
	if len(classes) == 0 {
		return false
	}
	t.Places.begin(t.S.Topology)
	return true
}

// begin clears the caches. counts has the number of pods in each domain; it is nil if there are no topology rules.
func (x *Places) begin(counts *topology.State) {
	x.Cells = nil
	if counts != nil {
		x.Cells = layout.NewCells(x.M.Pools, x.M.TopologyKeys, counts)
	}
	x.Sites, x.Varied, x.Assignments = map[int32][]offers.Site{}, map[int32][]offers.Site{}, map[int32]map[int32][]nodepool.Assignment{}
}

// The method rules returns the current rules for the places of all classes.
func (x *Places) rules() pricing.PlaceRules {
	if x.Lenient {
		return 0
	}
	return pricing.VarietyKept
}

// RulesFor returns the rules for the places of the class: the rules for all classes and, with ReservedStrict, the rule that pods which
// could use a reservation must use one.
func (x *Places) RulesFor(c *podclass.Class) pricing.PlaceRules {
	if x.AwaitsReservation(c) {
		return x.rules() | pricing.ReservedOnly
	}
	return x.rules()
}

// AwaitsReservation reports whether pods of the class may only be placed on nodes of a reservation.
func (x *Places) AwaitsReservation(c *podclass.Class) bool {
	return x.Options.Reserved == planning.ReservedStrict && slices.ContainsFunc(c.Stages, func(st int32) bool { return reservedFor(x.M, st, c.Requests) })
}

// reservedFor reports whether a reserved node of the stage has room for the requests and its reservation has instances left.
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

// Sells reports whether the stage has a node in the cell that has room for one pod.
func (x *Places) Sells(c *layout.Cells, stage, cell int32, need []int64) bool {
	return slices.ContainsFunc(x.SitesOf(c, stage, x.Sites), func(s offers.Site) bool { return s.Cell == cell && resources.Fits(need, s.Alloc) })
}

// SitesOf lists a stage's sites, sorted by price. The list is cached until the next call of Begin.
func (x *Places) SitesOf(c *layout.Cells, stage int32, cache map[int32][]offers.Site) []offers.Site {
	return x.ListSites(c, stage, x.rules(), cache)
}

// ListSites does the same as SitesOf with the given rules. The cache must only be used with these rules.
func (x *Places) ListSites(c *layout.Cells, stage int32, rules pricing.PlaceRules, cache map[int32][]offers.Site) []offers.Site {
	if list, ok := cache[stage]; ok {
		return list
	}
	list, assigned := x.M.Shop().Sites(stage, c, rules, x.StrictVariety)
	cache[stage] = list
	x.Assignments[stage] = assigned
	return list
}

// StrictVariety reports whether the pool has minValues that nodes must meet now (see Lenient).
func (x *Places) StrictVariety(p *nodepool.Pool) bool {
	return len(p.Variety) > 0 && !x.Lenient
}
