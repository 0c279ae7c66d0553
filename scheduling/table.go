package scheduling

import (
	"fmt"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/resources"
)

// table is the machines a pool could launch, with what its DaemonSets take already taken off. Pools with the same
// catalog and the same daemons on it share one.
type table struct {
	catalog *market.Catalog
	rows    []row
	// alloc is indexed [row*resources+resource]: what is left for pods.
	alloc []int64
	// daemons is indexed alike: what DaemonSets take.
	daemons []int64
	// split tells that some type has several rows: what it holds depends on where it is bought.
	split bool
	// on is indexed by row: the DaemonSets there, by number.
	on [][]int32
	// inOrder is for cheapestFirst alone.
	inOrder *purchases
}

// row is a variant in those slots where the same DaemonSets run.
type row struct {
	variant int
	slots   bitset.Set
	// residents are the classes of the DaemonSet pods on it that topology rules could notice; resident numbers the
	// set, 0 for none.
	residents []int32
	resident  int32
}

// newTable is the catalog's table for pools on whose nodes the DaemonSets of the masks run.
func newTable(c *market.Catalog, in *resources.Table, masks []daemonMask) *table {
	t := &table{catalog: c, inOrder: &purchases{}}
	dims := in.Len()
	alloc, taken := make([]int64, dims), make([]int64, dims)
	for v := range c.Variants {
		in.Capacity(c.Variants[v].Allocatable, alloc)
		in.AttachRoom(alloc, typeLimit(c.Types[c.Variants[v].Type]))
		for _, slots := range slotGroups(masks, v, len(c.Slots)) {
			clear(taken)
			first := 0
			for s := range slots.Members {
				first = s
				break
			}
			var on []int32
			for i := range masks {
				if masks[i].runsAt(v, first) {
					resources.AddScaled(taken, masks[i].daemon.requests, 1)
					on = append(on, masks[i].number)
				}
			}
			t.on = append(t.on, on)
			t.rows = append(t.rows, row{variant: v, slots: slots})
			t.daemons = append(t.daemons, taken...)
			for d := range alloc {
				t.alloc = append(t.alloc, max(alloc[d]-taken[d], -1))
			}
		}
	}
	for r := 1; r < len(t.rows); r++ {
		if c.Variants[t.rows[r].variant].Type == c.Variants[t.rows[r-1].variant].Type {
			t.split = true
		}
	}
	return t
}

func (t *table) allocOf(row, dims int) []int64 { return t.alloc[row*dims : (row+1)*dims] }

// sellable reports whether some offering of the row in one of slots is available.
func (t *table) sellable(row int, slots bitset.Set) bool {
	for s := range t.rows[row].slots.Members {
		if slots.Has(s) && t.catalog.Price(t.rows[row].variant, s) != market.NoPrice {
			return true
		}
	}
	return false
}

// slotGroups splits the slots by the set of DaemonSets that run there on the variant; nearly always into one group.
func slotGroups(masks []daemonMask, variant, slots int) []bitset.Set {
	if len(masks) == 0 {
		return []bitset.Set{bitset.Full(slots)}
	}
	var groups []bitset.Set
	var keys []string
	for s := range slots {
		key := make([]byte, 0, len(masks))
		for i := range masks {
			if masks[i].runsAt(variant, s) {
				key = append(key, 1)
			} else {
				key = append(key, 0)
			}
		}
		at := slices.Index(keys, string(key))
		if at < 0 {
			at = len(keys)
			keys = append(keys, string(key))
			groups = append(groups, bitset.New(slots))
		}
		groups[at].Add(s)
	}
	return groups
}

func tableText(catalogName string, masks []daemonMask) string {
	text := []byte(catalogName)
	for i := range masks {
		text = fmt.Appendf(text, "|%p", masks[i].daemon)
		for j := range masks[i].variants {
			text = append(text, profileText(masks[i].variants[j], masks[i].slots[j], nil)...)
		}
	}
	return string(text)
}
