package placing

import (
	"encoding/binary"

	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/newnodes"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/internal/engine/trial"
)

// Settle replaces each new node by the cheapest that holds the pods it finally has.
func (t Growth) Settle() {
	for k, load := range t.S.Placed.Loads(t.Fresh) {
		if load == nil {
			continue
		}
		i := t.Fresh + k
		mc := &t.S.Planned[i]
		rows, slots, _ := newnodes.Of(t.Trial).Allowed(mc, load)
		best := t.cheapestLike(mc, rows, slots)
		if best.Row < 0 || best.Price >= mc.Price {
			continue
		}
		other, before := *mc, t.Mark()
		other.Row, other.Slot, other.Price = best.Row, best.Slot, best.Price
		if !t.exchangeVaried(int32(i), other, load) {
			// The more expensive node takes less from the pool's limits, so that enough types may be launched.
			t.Undo(before)
			other = *mc
			other.Price = best.Price
			t.S.Exchange(int32(i), other)
		}
	}
}

// mostCheapest bounds how many purchases are remembered.
const mostCheapest = 10_000

// cheapestLike returns the cheapest of the rows and slots with room for what the new node holds, by Pool.CheapestLike. Callers that pack equal
// pods repeatedly ask the same many times: with a cache of packings the answer is remembered.
func (t Growth) cheapestLike(mc *state.Node, rows, slots bitset.Set) trial.Purchase {
	find := func() (out trial.Purchase) {
		out.Row, out.Slot, out.Price = t.M.Pools[mc.Pool].CheapestLike(mc.Row, mc.Used, rows, slots)
		return out
	}
	if t.Packings == nil {
		return find()
	}
	key := make([]byte, 0, 8*(2+len(mc.Used)+len(rows)+len(slots)))
	key = binary.LittleEndian.AppendUint64(key, uint64(mc.Pool)<<32|uint64(uint32(mc.Row)))
	for _, n := range mc.Used {
		key = binary.LittleEndian.AppendUint64(key, uint64(n))
	}
	for _, words := range [...]bitset.Set{rows, slots} {
		for _, word := range words {
			key = binary.LittleEndian.AppendUint64(key, word)
		}
	}
	if known, ok := t.Packings.Cheapest[string(key)]; ok {
		return known
	}
	found := find()
	if len(t.Packings.Cheapest) < mostCheapest {
		t.Packings.Cheapest[string(key)] = found
	}
	return found
}
