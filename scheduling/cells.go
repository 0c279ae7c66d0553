package scheduling

import (
	"slices"

	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// A cell is a combination of domains: one value for each topology key that some rule uses. Each node is in one cell,
// and rules over domains larger than a node can't tell the nodes of a cell apart; so pods under such rules are
// first dealt out to cells, then packed within them.

// anyCell is the cell of pods that no such rule concerns.
const anyCell = -1

// cells numbers the combinations seen.
type cells struct {
	pools []*nodepool.Pool
	// keys are the labels whose values are domains.
	keys   []string
	state  *topology.State
	list   [][]int32 // domains, indexed like keys
	byText map[string]int32
	cache  map[machineSite]int32
	// hosts are the cells of nodes of the snapshot, from 1 on; 0 where nobody asked, and nil until somebody does.
	hosts []int32
}

// machineSite is what decides a new node's cell.
type machineSite struct {
	pool, slot, variant int32
}

// newCells are no cells yet.
func newCells(pools []*nodepool.Pool, keys []string, s *topology.State) *cells {
	return &cells{pools: pools, keys: keys, state: s, byText: map[string]int32{}, cache: map[machineSite]int32{}}
}

// ofHost is the cell of a node of the snapshot.
func (c *cells) ofHost(host int) int32 {
	if c.hosts == nil {
		c.hosts = make([]int32, len(c.state.Hosts))
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

// ofMachine is the cell of a new node.
func (c *cells) ofMachine(pool, row, slot int32, as *nodepool.Assignment) int32 {
	p := c.pools[pool]
	t := p.Table
	site := machineSite{pool, slot, topology.NoDomain}
	if typeDecides(c.keys, t.Catalog) {
		site.variant = int32(t.Rows[row].Variant)
	}
	if n, ok := c.cache[site]; ok && as.Labels.Len() == 0 {
		return n
	}
	n := c.number(c.state.DomainsOf(func(key string) string {
		return p.Label(int(row), int(slot), as, key)
	}))
	if as.Labels.Len() == 0 {
		c.cache[site] = n // assignments are numbered again for each problem
	}
	return n
}

// typeDecides reports whether instance types of the catalog state any of the keys.
func typeDecides(keys []string, c *market.Catalog) bool {
	return slices.ContainsFunc(keys, func(key string) bool {
		_, stated := c.TypeKeys[key]
		return stated && !c.OfferingKeys[key]
	})
}
