package scheduling

import (
	"slices"

	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// A cell is a combination of domains: one value for each topology key that some rule uses. Each machine is in one cell,
// and rules over domains larger than a machine can't tell the machines of a cell apart; so pods under such rules are
// first dealt out to cells, then packed within them.

// anyCell is the cell of pods that no such rule concerns.
const anyCell = -1

// cells numbers the combinations seen.
type cells struct {
	m      *Model
	state  *topology.State
	list   [][]int32 // domains, indexed like Model.topologyKeys
	byText map[string]int32
	cache  map[machineSite]int32
	// hosts are the cells of machines of the snapshot, from 1 on; 0 where nobody asked, and nil until somebody does.
	hosts []int32
}

// machineSite is what decides a new machine's cell.
type machineSite struct {
	pool, slot, variant int32
}

func newCells(m *Model, s *topology.State) *cells {
	return &cells{m: m, state: s, byText: map[string]int32{}, cache: map[machineSite]int32{}}
}

// ofHost is the cell of a machine of the snapshot.
func (c *cells) ofHost(host int) int32 {
	if c.hosts == nil {
		c.hosts = make([]int32, len(c.m.nodes))
	}
	if c.hosts[host] == 0 {
		c.hosts[host] = c.number(c.state.Hosts[host].Domains) + 1
	}
	return c.hosts[host] - 1
}

// knownHost is it where somebody has asked for it before; -1 elsewhere.
func (c *cells) knownHost(host int) int32 {
	if c.hosts == nil {
		return -1
	}
	return c.hosts[host] - 1
}

func (c *cells) number(domains []int32) int32 {
	text := make([]byte, 0, 4*len(domains))
	for _, d := range domains {
		text = append(text, byte(d), byte(d>>8), byte(d>>16), byte(d>>24))
	}
	if n, ok := c.byText[string(text)]; ok {
		return n
	}
	n := int32(len(c.list))
	c.list = append(c.list, slices.Clone(domains))
	c.byText[string(text)] = n
	return n
}

// ofMachine is the cell of a new machine.
func (c *cells) ofMachine(pool, row, slot int32, as *nodepool.Assignment) int32 {
	m := c.m
	t := m.pools[pool].Table
	site := machineSite{pool, slot, topology.NoDomain}
	if m.typeDecides(t.Catalog) {
		site.variant = int32(t.Rows[row].Variant)
	}
	if n, ok := c.cache[site]; ok && as.Labels.Len() == 0 {
		return n
	}
	n := c.number(c.state.DomainsOf(func(key string) string {
		return m.pools[pool].Label(int(row), int(slot), as, key)
	}))
	if as.Labels.Len() == 0 {
		c.cache[site] = n // assignments are numbered anew for each problem
	}
	return n
}

// typeDecides reports whether instance types of the catalog state any topology key.
func (m *Model) typeDecides(c *market.Catalog) bool {
	return slices.ContainsFunc(m.topologyKeys, func(key string) bool {
		_, stated := c.TypeKeys[key]
		return stated && !c.OfferingKeys[key]
	})
}

// reachable are the domains of a topology key where pods of the shape could get a new machine, ascending.
func (m *Model) reachable(shape int32, key int) []int32 {
	if m.reach == nil || m.reach[shape] == nil {
		return nil
	}
	return m.reach[shape][key]
}

// findReachable fills in reachable for the shapes of classes under spread rules. known, which may be nil, yields what is known of a
// shape already.
func (m *Model) findReachable(known func(shape int32) [][]int32) {
	m.reach = make([][][]int32, len(m.shapes))
	for _, c := range m.classes {
		if c.Topology == nil || m.reach[c.Shape] != nil || !m.spreadsWidely(c.Topology) {
			continue
		}
		if known != nil {
			if m.reach[c.Shape] = known(c.Shape); m.reach[c.Shape] != nil {
				continue
			}
		}
		found := make([]map[int32]bool, len(m.topologyKeys))
		for i := range found {
			found[i] = map[int32]bool{}
		}
		for _, st := range m.shapes[c.Shape].Demands {
			for _, u := range st.Uses {
				m.reachedBy(u, found)
			}
		}
		m.reach[c.Shape] = make([][]int32, len(m.topologyKeys))
		for i := range found {
			for d := range found[i] {
				m.reach[c.Shape][i] = append(m.reach[c.Shape][i], d)
			}
			slices.Sort(m.reach[c.Shape][i])
		}
	}
}

func (m *Model) spreadsWidely(o *topology.Groups) bool {
	return slices.ContainsFunc(o.Owns, func(g int32) bool {
		return m.topology[g].Kind == topology.Spread && m.topology[g].At != topology.Hostname
	})
}

// reachedBy adds the domains of all machines of a use.
func (m *Model) reachedBy(u podclass.Use, found []map[int32]bool) {
	p := m.pools[u.Pool]
	f := &p.Profiles[u.Profile]
	t := p.Table
	seen := map[int32]bool{}
	list := p.Assignments([]int32{u.Profile}, m.domains())
	for a := range list {
		if !list[a].Allows(f) {
			continue
		}
		c := newCells(m, m.base)
		for r := range f.Rows.Members {
			if list[a].Rows != nil && !list[a].Rows.Has(r) {
				continue
			}
			for s := range t.Rows[r].Slots.Members {
				if !f.Slots.Has(s) || t.Catalog.Price(t.Rows[r].Variant, s) == market.NoPrice {
					continue
				}
				n := c.ofMachine(u.Pool, int32(r), int32(s), &list[a])
				if seen[n] {
					continue
				}
				seen[n] = true
				for i, d := range c.list[n] {
					if d != topology.NoDomain {
						found[i][d] = true
					}
				}
			}
		}
		clear(seen)
	}
}
