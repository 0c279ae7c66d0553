package pricing

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
)

// maxLPRows is the maximum number of rows of the linear program. If there are more items, similar items are bundled. The lower bound
// remains proven, because the proof considers every item separately. But the bound is weak if pods of a bundle use a node's resources in
// different proportions. A hundred sizes of pods with a few node selectors already make several hundred items.
const maxLPRows = 400

// maxBundles is the maximum number of bundles if similar items are bundled.
const maxBundles = 64

// bundle is a set of items that share one row (constraint) of the linear program. The items have equal needs or, if there would be too many
// rows, similar needs.
type bundle struct {
	Items []int32
	At    []int // indexes of the items' places
	need  []float64
	count float64
	limit int
	// uniform means that all items of the bundle have equal needs.
	uniform bool
}

// takenBy reports whether some item of the bundle may use the option.
func (b *bundle) takenBy(o *Option) bool { return slices.ContainsFunc(b.At, o.Open.Has) }

// perOption returns how many pods of the bundle's mean size fit on an empty node of the option.
func (b *bundle) perOption(o *Option) float64 {
	if !b.takenBy(o) {
		return 0
	}
	most := float64(b.limit)
	if b.uniform {
		most = min(most, b.count)
	}
	for d, need := range b.need {
		if need > 0 {
			fit := float64(o.Alloc[d]) / need
			if b.uniform {
				fit = math.Floor(fit * (1 + 1e-12))
			}
			most = min(most, fit)
		}
	}
	return max(most, 0)
}

// bundleItems groups items with equal needs and the same place. dims is the number of leading dimensions that the bundles use. If there are
// too many bundles, it leaves out rules of p.Pressing and ignores to which cell an item is assigned. If there are still too many bundles,
// it makes one part of the items for each place. Then it repeatedly halves a part along the resource in which the part's items differ most,
// until there are maxBundles parts.
func bundleItems(p *Problem, places []Place) (bundles []bundle, dims int) {
	resources := p.Dims - len(p.Pressing)
	pressing := 0
	for pressing < len(p.Pressing) && 2*p.Pressing[pressing] >= p.Pressing[0] {
		pressing++
	}
	for dims := resources + pressing; dims >= resources; dims-- {
		if parts := equalItems(p, dims, false); parts != nil && (!p.Rough || len(parts) <= maxRoughRows) {
			return newBundles(p, parts, places, dims, true), dims
		}
		if !p.Celled {
			continue
		}
		if parts := equalItems(p, dims, true); parts != nil {
			return newBundles(p, parts, places, dims, true), dims
		}
	}
	dims = resources
	var parts [][]int32
	for _, pl := range places {
		var part []int32
		for i := range p.Items {
			if p.Items[i].Place == pl {
				part = append(part, int32(i))
			}
		}
		parts = append(parts, part)
	}
	for len(parts) < maxBundles {
		at, dim, spread := -1, 0, 1.0
		for i, part := range parts {
			if d, s := widest(p, part, dims); s > spread {
				at, dim, spread = i, d, s
			}
		}
		if at < 0 {
			break
		}
		lo, hi := halve(p, parts[at], dim)
		parts[at] = lo
		parts = append(parts, hi)
	}
	return newBundles(p, parts, places, dims, false), dims
}

// equalItems groups items that have equal needs in the first dims dimensions and the same place. If the parameter anywhere is set, places
// that differ only in their cell count as the same place. The groups are sorted by their first items. It returns nil if there are more than
// maxLPRows groups.
func equalItems(p *Problem, dims int, anywhere bool) [][]int32 {
	var parts [][]int32
	at := make(map[string]int, len(p.Items))
	var key []byte
	for i := range p.Items {
		it := &p.Items[i]
		key = it.AppendKey(key[:0], dims)
		if !anywhere {
			key = binary.LittleEndian.AppendUint32(key, uint32(it.Cell))
		}
		k, known := at[string(key)]
		if !known {
			if k = len(parts); k == maxLPRows {
				return nil
			}
			at[string(key)], parts = k, append(parts, nil)
		}
		parts[k] = append(parts[k], int32(i))
	}
	return parts
}

// AppendKey appends the properties that distinguish the item from others, with its needs in the first dims dimensions. The item's cell and
// count are left out.
func (it *Item) AppendKey(key []byte, dims int) []byte {
	key = binary.LittleEndian.AppendUint32(key, uint32(it.Stage))
	key = append(key, byte(it.Rules))
	if it.PerNode != Unbounded {
		key = binary.LittleEndian.AppendUint32(key, uint32(it.Class)) // the PerNode limits of different classes can't be added
	}
	for _, n := range it.Need[:dims] {
		key = binary.LittleEndian.AppendUint64(key, uint64(n))
	}
	return key
}

func newBundles(p *Problem, parts [][]int32, places []Place, dims int, uniform bool) []bundle {
	bundles := make([]bundle, len(parts))
	for i, part := range parts {
		bundles[i] = newBundle(p, part, places, dims, uniform)
	}
	return bundles
}

func newBundle(p *Problem, part []int32, places []Place, dims int, uniform bool) bundle {
	b := bundle{Items: part, need: make([]float64, dims), limit: math.MaxInt, uniform: uniform}
	for _, i := range part {
		it := &p.Items[i]
		if at := slices.Index(places, it.Place); !slices.Contains(b.At, at) {
			b.At = append(b.At, at)
		}
		b.count += float64(it.Count)
		b.limit = min(b.limit, it.PerNode)
		for d := range b.need {
			b.need[d] += float64(it.Need[d]) * float64(it.Count)
		}
	}
	for d := range b.need {
		b.need[d] /= b.count
	}
	if uniform {
		for d, n := range p.Items[part[0]].Need[:dims] {
			b.need[d] = float64(n)
		}
	} else if b.limit < math.MaxInt && len(part) > 1 {
		b.limit = math.MaxInt // the sum of the PerNode limits of several classes does not limit the bundle
	}
	return b
}

// widest returns the resource in which the items of a part differ most, and the factor by which they differ, raised if the part has many
// items.
func widest(p *Problem, part []int32, dims int) (dim int, spread float64) {
	for d := range dims {
		lo, hi := int64(math.MaxInt64), int64(0)
		for _, i := range part {
			lo, hi = min(lo, p.Items[i].Need[d]), max(hi, p.Items[i].Need[d])
		}
		s := float64(hi+1) / float64(lo+1)
		if s > 1 {
			s = 1 + (s-1)*math.Sqrt(float64(len(part)))
		}
		if s > spread {
			dim, spread = d, s
		}
	}
	return dim, spread
}

func halve(p *Problem, part []int32, dim int) (lo, hi []int32) {
	sorted := slices.Clone(part)
	slices.SortFunc(sorted, func(a, b int32) int {
		return cmp.Or(cmp.Compare(p.Items[a].Need[dim], p.Items[b].Need[dim]), cmp.Compare(a, b))
	})
	mid := len(sorted) / 2
	// Items with equal needs must stay in the same half, so that halving ends.
	for mid < len(sorted) && p.Items[sorted[mid]].Need[dim] == p.Items[sorted[mid-1]].Need[dim] {
		mid++
	}
	if mid == len(sorted) {
		mid = len(sorted) / 2
		for mid > 0 && p.Items[sorted[mid]].Need[dim] == p.Items[sorted[mid-1]].Need[dim] {
			mid--
		}
	}
	return sorted[:mid], sorted[mid:]
}

// Bundles returns, for each item, the number of its bundle, counted from 1. It returns 0 for an item that is in no bundle of items with
// equal needs.
func (v *Values) Bundles() []int {
	out := make([]int, len(v.Item))
	if v.Program == nil {
		return out
	}
	for b := range v.Program.Bundles {
		if bn := &v.Program.Bundles[b]; bn.uniform {
			for _, i := range bn.Items {
				out[i] = b + 1
			}
		}
	}
	return out
}
