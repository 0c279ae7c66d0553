package nodepool

import (
	"fmt"
	"slices"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/daemonset"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/resources"
)

// Table contains the nodes that a pool could launch. The requests of the pool's DaemonSets are already subtracted. Pools with the same
// catalog and the same DaemonSets share one table.
type Table struct {
	Catalog *market.Catalog
	Rows    []Row
	// alloc is indexed by row*resources+resource. It has the amounts that are left for pods.
	alloc []int64
	// The field most is indexed like alloc. It has upper bounds of the amounts that are left for pods. It is nil if no upper bound exceeds
	// the amount in alloc.
	most []int64
	// Taken is indexed like alloc. It has the amounts that DaemonSets use.
	Taken []int64
	// Several is true if some type has several rows. Split is true if the amounts of some type depend on where it is bought.
	Several, Split bool
	// DaemonsOn has the numbers of the DaemonSets that run on each row.
	DaemonsOn [][]int32
	// InOrder has the purchases in the order of CheapestFirst. Only CheapestFirst and Ordered use it.
	InOrder *Purchases
}

// Row is a variant of an instance type, with the slots in which the same DaemonSets run.
type Row struct {
	Variant int
	Slots   bitset.Set
	// Residents are the classes of the row's DaemonSet pods that topology rules could see. Resident is the number of this set, or 0 if it
	// is empty.
	Residents []int32
	Resident  int32
}

// Devices computes the devices that a new node of a type has in addition to its other allocatable amounts.
type Devices interface {
	// RoomOfType writes to the slice into the amounts that pods can rely on if the type is bought as offering o. o is nil if the offering
	// does not matter.
	RoomOfType(it *cloudprovider.InstanceType, o *cloudprovider.Offering, into []int64)
	// MostOfType writes to the slice into upper bounds on the devices that pods can have. Lower bounds on costs use it.
	MostOfType(it *cloudprovider.InstanceType, o *cloudprovider.Offering, into []int64)
}

// NewTable returns the catalog's table for pools whose nodes run the DaemonSets of the masks. The parameter devices may be nil.
func NewTable(c *market.Catalog, in *resources.Table, masks []daemonset.Mask, devices Devices) *Table {
	t := &Table{Catalog: c, InOrder: &Purchases{}}
	dims := in.Len()
	alloc, most, taken := make([]int64, dims), make([]int64, dims), make([]int64, dims)
	for v := range c.Variants {
		in.Capacity(c.Variants[v].Allocatable, alloc)
		in.AttachRoom(alloc, market.AttachLimit(c.Types[c.Variants[v].Type]))
		copy(most, alloc)
		if devices != nil {
			devices.RoomOfType(c.Types[c.Variants[v].Type], c.Variants[v].Offering, alloc)
			devices.MostOfType(c.Types[c.Variants[v].Type], c.Variants[v].Offering, most)
		}
		for _, slots := range slotGroups(masks, v, len(c.Slots)) {
			clear(taken)
			first := 0
			for s := range slots.Members {
				first = s
				break
			}
			var on []int32
			for i := range masks {
				if masks[i].RunsAt(v, first) {
					resources.AddScaled(taken, masks[i].Set.Requests, 1)
					on = append(on, masks[i].Number)
				}
			}
			t.DaemonsOn = append(t.DaemonsOn, on)
			t.Rows = append(t.Rows, Row{Variant: v, Slots: slots})
			t.Taken = append(t.Taken, taken...)
			for d := range alloc {
				left := max(alloc[d]-taken[d], -1)
				if left < 0 && resources.CountsDevices(in.Names[d]) {
					left = 0 // the DaemonSet's pod stays pending and uses nothing
				}
				t.alloc = append(t.alloc, left)
				if left = max(most[d]-taken[d], -1); left < 0 && resources.CountsDevices(in.Names[d]) {
					left = most[d] // other pods may get the devices that the DaemonSet's pod waits for
				}
				t.most = append(t.most, left)
			}
		}
	}
	for r := 1; r < len(t.Rows); r++ {
		if c.Variants[t.Rows[r].Variant].Type == c.Variants[t.Rows[r-1].Variant].Type {
			t.Several = true
			t.Split = t.Split || !t.holdAlike(r-1, r, dims)
		}
	}
	if slices.Equal(t.most, t.alloc) {
		t.most = nil
	}
	return t
}

// holdAlike reports whether two rows of a type differ only in device attributes that no pod asks about.
func (t *Table) holdAlike(a, b, dims int) bool {
	x, y := &t.Catalog.Variants[t.Rows[a].Variant], &t.Catalog.Variants[t.Rows[b].Variant]
	same := func(amounts []int64) bool {
		return slices.Equal(amounts[a*dims:(a+1)*dims], amounts[b*dims:(b+1)*dims])
	}
	if unsold := x.Offering == nil && y.Bound != "" && x.Override == y.Override; unsold {
		return true
	}
	return x.Bound != y.Bound && x.Override == y.Override && same(t.alloc) && same(t.most) && same(t.Taken) && slices.Equal(t.DaemonsOn[a], t.DaemonsOn[b])
}

// AllocOf returns the amounts that are left for pods on a node of the row.
func (t *Table) AllocOf(row, dims int) []int64 { return t.alloc[row*dims : (row+1)*dims] }

// MostOf returns the upper bound of the amounts that are left for pods on a node of the row.
func (t *Table) MostOf(row, dims int) []int64 {
	if t.most == nil {
		return t.AllocOf(row, dims)
	}
	return t.most[row*dims : (row+1)*dims]
}

// CountsTooFew reports whether some node may have more room than AllocOf says.
func (t *Table) CountsTooFew() bool { return t.most != nil }

// sellable reports whether some offering of the row in one of the given slots is available.
func (t *Table) sellable(row int, slots bitset.Set) bool {
	for s := range t.Rows[row].Slots.Members {
		if slots.Has(s) && t.Catalog.Price(t.Rows[row].Variant, s) != market.NoPrice {
			return true
		}
	}
	return false
}

// slotGroups groups the slots by the set of DaemonSets that run on nodes of the variant in the slot. There is nearly always only one group.
func slotGroups(masks []daemonset.Mask, variant, slots int) []bitset.Set {
	if len(masks) == 0 {
		return []bitset.Set{bitset.Full(slots)}
	}
	var groups []bitset.Set
	var keys []string
	for s := range slots {
		key := make([]byte, 0, len(masks))
		for i := range masks {
			if masks[i].RunsAt(variant, s) {
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

// TableText identifies a table within a model: tables with equal texts are equal.
func TableText(catalogName string, masks []daemonset.Mask) string {
	text := []byte(catalogName)
	for i := range masks {
		text = fmt.Appendf(text, "|%p", masks[i].Set)
		for j := range masks[i].Variants {
			text = append(text, profileText(masks[i].Variants[j], masks[i].Slots[j], nil)...)
		}
	}
	return string(text)
}
