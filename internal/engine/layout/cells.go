package layout

import (
	"slices"

	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// A cell is a combination of domains: one value for each topology key that some rule uses. Each node is in one cell,
// and rules over domains larger than a node can't tell the nodes of a cell apart; so pods under such rules are
// first dealt out to cells, then packed within them.

// AnyCell is the cell of pods that no such rule concerns.
const AnyCell = -1

// Cells numbers the combinations seen.
type Cells struct {
	pools []*nodepool.Pool
	// keys are the labels whose values are domains.
	keys   []string
	state  *topology.State
	List   [][]int32 // domains, indexed like keys
	byText map[string]int32
	cache  map[newSite]int32
	// hosts are the cells of nodes that are there, from 1 on; 0 where nobody asked, and nil until somebody does.
	hosts []int32
}

// newSite is what decides a new node's cell.
type newSite struct {
	pool, slot, variant int32
}

// NewCells are no cells yet.
func NewCells(pools []*nodepool.Pool, keys []string, s *topology.State) *Cells {
	return &Cells{pools: pools, keys: keys, state: s, byText: map[string]int32{}, cache: map[newSite]int32{}}
}

// OfHost is the cell of a node that is there.
func (c *Cells) OfHost(host int) int32 {
	if c.hosts == nil {
		c.hosts = make([]int32, len(c.state.Hosts))
	}
	if c.hosts[host] == 0 {
		c.hosts[host] = c.Number(c.state.Hosts[host].Domains) + 1
	}
	return c.hosts[host] - 1
}

// KnownHost is it where somebody has asked for it before; -1 elsewhere.
func (c *Cells) KnownHost(host int) int32 {
	if c.hosts == nil {
		return -1
	}
	return c.hosts[host] - 1
}

// Number is the number of a cell by its domains.
func (c *Cells) Number(domains []int32) int32 {
	text := make([]byte, 0, 4*len(domains))
	for _, d := range domains {
		text = append(text, byte(d), byte(d>>8), byte(d>>16), byte(d>>24))
	}
	if n, ok := c.byText[string(text)]; ok {
		return n
	}
	n := int32(len(c.List))
	c.List = append(c.List, slices.Clone(domains))
	c.byText[string(text)] = n
	return n
}

// OfNew is the cell of a new node.
func (c *Cells) OfNew(pool, row, slot int32, as *nodepool.Assignment) int32 {
	p := c.pools[pool]
	t := p.Table
	site := newSite{pool, slot, topology.NoDomain}
	if TypeDecides(c.keys, t.Catalog) {
		site.variant = int32(t.Rows[row].Variant)
	}
	if n, ok := c.cache[site]; ok && as.Labels.Len() == 0 {
		return n
	}
	n := c.Number(c.state.DomainsOf(func(key string) string {
		return p.Label(int(row), int(slot), as, key)
	}))
	if as.Labels.Len() == 0 {
		c.cache[site] = n // assignments are numbered again for each problem
	}
	return n
}

// TypeDecides reports whether instance types of the catalog state any of the keys.
func TypeDecides(keys []string, c *market.Catalog) bool {
	return slices.ContainsFunc(keys, func(key string) bool {
		_, stated := c.TypeKeys[key]
		return stated && !c.OfferingKeys[key]
	})
}
