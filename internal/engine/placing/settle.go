package placing

import (
	"github.com/drawknife/drawknife/internal/engine/newnodes"
	"github.com/drawknife/drawknife/internal/engine/state"
)

// Settle replaces each new node by the cheapest node that holds its final pods. Nodes that are already settled and have not changed since
// then are skipped: see Trial.Settled.
func (t Growth) Settle() {
	if t.Settled != nil && t.S.Topology == nil && t.S.Log.Holds(*t.Settled) {
		for _, i := range t.S.NewNodesSince(*t.Settled) {
			if load := t.S.Placed.Load(int32(len(t.M.Nodes)) + i); load != nil && int(i) >= t.Fresh {
				t.settle(i, load)
			}
		}
		return
	}
	for k, load := range t.S.Placed.Loads(t.Fresh) {
		if load != nil {
			t.settle(int32(t.Fresh+k), load)
		}
	}
}

// settle replaces new node i by the cheapest node that holds the load. If some pool would then no longer meet its minValues, node i keeps
// its type and only gets the price of that node.
func (t Growth) settle(i int32, load []state.Binding) {
	mc := &t.S.Planned[i]
	rows, slots, _ := newnodes.Of(t.Trial).Allowed(mc, load)
	row, slot, price := t.M.Pools[mc.Pool].CheapestLike(mc.Row, mc.Used, rows, slots)
	if row < 0 || price >= mc.Price {
		return
	}
	other, before := *mc, t.Mark()
	other.Row, other.Slot, other.Price = row, slot, price
	if !t.exchangeVaried(i, other, load) {
		// With the cheaper type, the NodeClaim would list too few types for minValues: it lists only types that use no more of the pool's
		// limits than the planned type. So keep the present, more expensive type, but with the price of the cheapest type.
		t.Undo(before)
		other = *mc
		other.Price = price
		t.S.Exchange(i, other)
	}
}
