package scheduling

import (
	"fmt"

	"github.com/drawknife/drawknife/internal/engine/bitset"
)

// Close keeps pods that are placed from now on off a node of the snapshot: what is on it stays. A name the snapshot does
// not have is an error and changes nothing; a node that is closed or hidden already is none.
func (t *Trial) Close(name string) error {
	i, ok := t.m.nodeIndex[name]
	if !ok {
		return fmt.Errorf("closing node %q: the snapshot has none of that name", name)
	}
	if t.isClosed(i) {
		return nil
	}
	if t.closed == nil {
		t.closed = bitset.New(len(t.m.nodes))
	}
	t.closed.Add(i)
	t.usable.Remove(i)
	t.roomChanged(int32(i))
	t.log = append(t.log, change{changeClosed, int32(i), 0})
	return nil
}

func (t *Trial) isClosed(node int) bool { return t.closed != nil && t.closed.Has(node) }

// reopen undoes Close.
func (t *Trial) reopen(node int) {
	t.closed.Remove(node)
	if t.m.nodes[node].Usable && !t.hiddenSet.Has(node) {
		t.usable.Add(node)
		t.roomChanged(int32(node))
	}
}

// Placed writes down where the trial has put pods so far, without reasons for those that have no place and without a
// bound: what a planner that tries much can afford. Order and names are those that Solve would give.
func (t *Trial) Placed() *Plan {
	out := &Plan{}
	t.writeBindings(out, newPodQueues(t))
	return out
}
