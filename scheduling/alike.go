package scheduling

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/topology"
)

// alike joins items that no packing needs to tell apart: of one place and with equal needs, caps among them.
// Fewer items are packed faster and valued exactly.
type alike struct {
	// items are the joined ones, in the order in which the first of each was given.
	items []item
	// parts are, for each of items, the given ones that it stands for, by priority and then in their order.
	parts [][]int32
	given []item
}

func (m *Model) joinAlike(given []item) *alike {
	j := &alike{given: given}
	at := make(map[string]int, len(given))
	var key []byte
	for i := range given {
		it := &given[i]
		if it.perMachine != unbounded || it.ruled || len(m.classes[it.class].Shared) > 0 {
			j.items, j.parts = append(j.items, *it), append(j.parts, []int32{int32(i)})
			continue
		}
		key = binary.LittleEndian.AppendUint32(it.appendKey(key[:0], len(it.need)), uint32(it.cell))
		k, known := at[string(key)]
		if !known {
			at[string(key)] = len(j.items)
			j.items, j.parts = append(j.items, *it), append(j.parts, []int32{int32(i)})
			continue
		}
		j.items[k].count += it.count
		j.parts[k] = append(j.parts[k], int32(i))
	}
	for _, parts := range j.parts {
		slices.SortStableFunc(parts, func(a, b int32) int {
			return cmp.Compare(m.classes[given[b].class].Priority, m.classes[given[a].class].Priority)
		})
	}
	return j
}

// keepApart joins nothing.
func keepApart(given []item) *alike {
	j := &alike{items: given, parts: make([][]int32, len(given)), given: given}
	for i := range given {
		j.parts[i] = []int32{int32(i)}
	}
	return j
}

// tied reports whether hard rules about single nodes concern pods with the stake.
func (m *Model) tied(o *topology.Groups) bool {
	if o == nil {
		return false
	}
	here := func(g int32) bool { return m.topology[g].At == topology.Hostname && m.topology[g].Hard }
	return slices.ContainsFunc(o.Owns, here) || slices.ContainsFunc(o.In, here)
}

// left splits numbers of pods of the joined items, all of which are placed but for those left, into the given items: those of
// lower priority are left first.
func (j *alike) left(left []int) []int {
	out := make([]int, len(j.given))
	for k, n := range left {
		for i := len(j.parts[k]) - 1; i >= 0 && n > 0; i-- {
			part := j.parts[k][i]
			out[part] = min(n, j.given[part].count)
			n -= out[part]
		}
	}
	return out
}

// dealing hands out the pods of joined items as those of the given ones, one after another.
type dealing struct {
	j *alike
	// at is, by joined item, the part that is next, and taken how many of it are gone.
	at, taken []int
}

func (j *alike) deal() *dealing {
	return &dealing{j: j, at: make([]int, len(j.items)), taken: make([]int, len(j.items))}
}

// next takes n pods of joined item k, for each given item some.
func (d *dealing) next(k int32, n int32, each func(it *item, n int32)) {
	for parts := d.j.parts[k]; n > 0 && d.at[k] < len(parts); {
		it := &d.j.given[parts[d.at[k]]]
		some := min(n, int32(it.count-d.taken[k]))
		if some > 0 {
			each(it, some)
		}
		n -= some
		d.taken[k] += int(some)
		if d.taken[k] == it.count {
			d.at[k]++
			d.taken[k] = 0
		}
	}
}
