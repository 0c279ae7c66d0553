package offers

import (
	"slices"

	"github.com/drawknife/drawknife/internal/engine/layout"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/pricing"
	"github.com/drawknife/drawknife/internal/engine/resources"
)

// Site is a kind of node, in one cell, that could be bought for pods at a stage. Lists of sites omit a site if a cheaper site of the same
// cell can replace it.
type Site struct {
	pricing.Option
	Stage int32
}

// Sites lists the sites for a stage that the rules allow, sorted by price. It also returns the assignments of the sites. If varied returns
// true for a pool, all sites of the pool are kept, even if sites of another pool could replace them. For such a pool, sites are kept for
// each assignment, including assignments that leave labels open.
func (m *Market) Sites(stage int32, c *layout.Cells, rules pricing.PlaceRules, varied func(*nodepool.Pool) bool) ([]Site, map[int32][]nodepool.Assignment) {
	p := &Choice{Problem: pricing.Problem{Dims: m.Dims}, Assigned: map[int32][]nodepool.Assignment{}, Cells: c, everyCell: true}
	places := []pricing.Place{{Stage: stage, Cell: layout.AnyCell, Rules: rules}}
	var all []pricing.Option
	var pools []int32
	for _, u := range m.Stages[stage].Uses {
		if !slices.Contains(pools, u.Pool) {
			pools = append(pools, u.Pool)
		}
	}
	slices.Sort(pools)
	var open []poolUsers
	for _, pool := range pools {
		profiles := m.profilesInUse(pool, places)
		p.Assigned[pool] = m.Pools[pool].Assignments(profiles, m.Domains)
		if varied(m.Pools[pool]) {
			p.Assigned[pool] = append(p.Assigned[pool], m.Pools[pool].LeftOpenFor(profiles, m.Domains, p.Assigned[pool])...)
		}
		users := poolUsers{pool, 0, places, []int{0}}
		if slices.ContainsFunc(open, func(other poolUsers) bool { return m.covers(p, &other, &users) }) {
			continue
		}
		for at := range p.Assigned[pool] {
			users.assign = int32(at)
			all = m.poolOptions(all, p, users, make([]int64, p.Dims))
		}
		if len(p.Assigned[pool]) == 1 {
			open = append(open, users)
		}
	}
	var list []Site
next:
	for _, o := range sortedOptions(all) {
		for i := range list {
			if k := &list[i]; k.Cell == o.Cell && resources.Fits(o.Alloc, k.Alloc) && m.standsIn(&k.Option, o) && (k.Pool == o.Pool && k.Assign == o.Assign || !varied(m.Pools[k.Pool])) {
				continue next
			}
		}
		list = append(list, Site{Option: *o, Stage: stage})
	}
	return list, p.Assigned
}
