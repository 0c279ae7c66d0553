package layout

import (
	"slices"

	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// A cell is a combination of domains: one value for each topology key that a rule uses. Each node is in one cell. Rules over domains larger
// than a node can't distinguish the nodes of a cell. So pods with such rules are first assigned to cells, and then packed within their
// cells.

// AnyCell is the cell of pods that no rule over domains larger than a node concerns.
const AnyCell = -1

// Cells numbers the combinations of domains that occur.
type Cells struct {
	pools []*nodepool.Pool
	// keys are the labels whose values are domains.
	keys   []string
	state  *topology.State
	List   [][]int32 // the domains of each cell, indexed like keys
	byText map[string]int32
	cache  map[newSite]int32
	// hosts caches the cells of existing nodes, numbered from 1; 0 means that the cell is not computed yet. The list is nil until the first
	// call of OfHost.
	hosts []int32
}

// newSite contains the properties of a new node that determine its cell.
type newSite struct {
	pool, slot, variant int32
}

// NewCells returns a Cells that has no cells yet.
func NewCells(pools []*nodepool.Pool, keys []string, s *topology.State) *Cells {
	return &Cells{pools: pools, keys: keys, state: s, byText: map[string]int32{}, cache: map[newSite]int32{}}
}

// OfHost returns the cell of an existing node.
func (c *Cells) OfHost(host int) int32 {
	if c.hosts == nil {
		c.hosts = make([]int32, len(c.state.Hosts))
	}
	if c.hosts[host] == 0 {
		c.hosts[host] = c.Number(c.state.Hosts[host].Domains) + 1
	}
	return c.hosts[host] - 1
}

// KnownHost returns the cell of an existing node if OfHost has computed it before, otherwise -1.
func (c *Cells) KnownHost(host int) int32 {
	if c.hosts == nil {
		return -1
	}
	return c.hosts[host] - 1
}

// Number returns the number of the cell with these domains.
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

// OfNew returns the cell of a new node.
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
		c.cache[site] = n // cells of assignments with labels are not cached, because assignments are numbered again for each problem
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
