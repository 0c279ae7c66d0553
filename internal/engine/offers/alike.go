package offers

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/pricing"
)

// Alike joins items that packing need not distinguish, because they have the same pricing.Place and equal needs, including needs for caps.
// Packing is faster with fewer items, and the values of joined items are exact.
type Alike struct {
	// Items are the joined items, each at the position of the first given item in it.
	Items []pricing.Item
	// Parts has, for each joined item, the indexes of the given items in it, sorted by priority and then in their order.
	Parts [][]int32
	Given []pricing.Item
}

// Join joins items that have no rules about single nodes and share no volumes with other items.
func (m *Market) Join(given []pricing.Item) *Alike {
	j := &Alike{Given: given}
	at := make(map[string]int, len(given))
	var key []byte
	for i := range given {
		it := &given[i]
		if it.PerNode != pricing.Unbounded || it.Ruled || len(m.Classes[it.Class].Shared) > 0 {
			j.Items, j.Parts = append(j.Items, *it), append(j.Parts, []int32{int32(i)})
			continue
		}
		key = binary.LittleEndian.AppendUint32(it.AppendKey(key[:0], len(it.Need)), uint32(it.Cell))
		k, known := at[string(key)]
		if !known {
			at[string(key)] = len(j.Items)
			j.Items, j.Parts = append(j.Items, *it), append(j.Parts, []int32{int32(i)})
			continue
		}
		j.Items[k].Count += it.Count
		j.Parts[k] = append(j.Parts[k], int32(i))
	}
	for _, parts := range j.Parts {
		slices.SortStableFunc(parts, func(a, b int32) int {
			return cmp.Compare(m.Classes[given[b].Class].Priority, m.Classes[given[a].Class].Priority)
		})
	}
	return j
}

// Apart returns an Alike that joins no items: each given item is an item of its own.
func Apart(given []pricing.Item) *Alike {
	j := &Alike{Items: given, Parts: make([][]int32, len(given)), Given: given}
	for i := range given {
		j.Parts[i] = []int32{int32(i)}
	}
	return j
}

// Left divides the unplaced pods of joined items among the given items. Pods of lower priority are left unplaced first.
func (j *Alike) Left(left []int) []int {
	out := make([]int, len(j.Given))
	for k, n := range left {
		for i := len(j.Parts[k]) - 1; i >= 0 && n > 0; i-- {
			part := j.Parts[k][i]
			out[part] = min(n, j.Given[part].Count)
			n -= out[part]
		}
	}
	return out
}

// Split assigns the pods of joined items to the given items, one after another.
type Split struct {
	j *Alike
	// at has, for each joined item, the index of the next part. taken has the number of pods of this part that are used.
	at, taken []int
}

// Split returns a Split that starts with the first pod of each joined item.
func (j *Alike) Split() *Split {
	return &Split{j: j, at: make([]int, len(j.Items)), taken: make([]int, len(j.Items))}
}

// Next takes the next n pods of the joined item with index k. A joined item consists of several given items with equal needs. Next calls
// the function each for every given item that the n pods belong to, with the number of its pods.
func (d *Split) Next(k int32, n int32, each func(it *pricing.Item, n int32)) {
	for parts := d.j.Parts[k]; n > 0 && d.at[k] < len(parts); {
		it := &d.j.Given[parts[d.at[k]]]
		some := min(n, int32(it.Count-d.taken[k]))
		if some > 0 {
			each(it, some)
		}
		n -= some
		d.taken[k] += int(some)
		if d.taken[k] == it.Count {
			d.at[k]++
			d.taken[k] = 0
		}
	}
}
