package scheduling

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
)

// Trial is a what-if on a Model: machines can be hidden, their pods placed elsewhere, and all of it undone. It is the
// one engine of the library: Solve is a trial that places the waiting pods, disruption asks a trial what would happen
// if a node went. A new trial starts with the snapshot's machines, nothing hidden, and the waiting pods not placed.
//
// A Trial is not safe for concurrent use; a Model may have any number of them.
type Trial struct {
	m *Model
	// free is indexed [node*resources+resource].
	free []int64
	// usable tells which machines may take pods now.
	usable bitset
	// waiting counts, by class, the pods that need a place.
	waiting []int32
	// freed are pods of hidden machines, in the order they were hidden.
	freed []boundPod
	// placed are the pods put on machines of the snapshot; machines are the new ones. Both only grow at the end, so
	// that a mark is two lengths.
	placed   []placement
	machines []machine
	hidden   []int32
	// usage is indexed by pool, then like the pool's limits: capacity of its machines, hidden and new ones considered.
	usage [][]int64
	log   []change
	// tried has, per class, that no place was found for what is still waiting.
	tried []bool
	// proof is the problem behind the machines, if one packing made them all.
	proof *proof
}

// placement is count pods of a class put on a machine of the snapshot.
type placement struct {
	class, node, count int32
}

// machine is a new one.
type machine struct {
	pool, row, slot int32
	// labels are those decided for the machine that neither its type nor its offering decides.
	labels requirements.Set
	price  int64
	// loads are the pods on it, by class, with the stage that allowed them.
	loads []machineLoad
	used  []int64
}

type machineLoad struct {
	class, stage, count int32
}

// change is one undoable step.
type change struct {
	kind changeKind
	// a and b are what the kind says.
	a, b int32
}

type changeKind uint8

const (
	changeHidden  changeKind = iota // node a was hidden; b of its pods became waiting
	changePlaced                    // the last placement was added
	changeMachine                   // the last machine was added
)

// Mark is a point in a trial to come back to.
type Mark struct{ log int }

// Trial starts a what-if.
func (m *Model) Trial() *Trial {
	t := &Trial{m: m, free: slices.Clone(m.free), usable: newBitset(len(m.nodes)), waiting: make([]int32, len(m.classes))}
	for i := range m.nodes {
		if m.nodes[i].usable {
			t.usable.set(i)
		}
	}
	for i, c := range m.classes {
		t.waiting[i] = int32(len(c.pending))
	}
	t.usage = make([][]int64, len(m.pools))
	for i, p := range m.pools {
		if p.limits != nil {
			t.usage[i] = make([]int64, len(p.limits.names))
		}
	}
	for i := range m.nodes {
		if !m.nodes[i].source.Leaving {
			t.count(m.nodes[i].pool, m.nodes[i].capacity, 1)
		}
	}
	return t
}

// count adds machines of the given capacity to a pool's usage.
func (t *Trial) count(pool int32, capacity corev1.ResourceList, n int64) {
	if pool < 0 || t.m.pools[pool].limits == nil {
		return
	}
	addScaled(t.usage[pool], t.m.pools[pool].limits.cost(capacity), n)
}

// Mark returns the present point.
func (t *Trial) Mark() Mark { return Mark{len(t.log)} }

// Rollback undoes everything done since the mark, in reverse order. Rolling back past a Commit is a caller's mistake
// and does nothing.
func (t *Trial) Rollback(to Mark) {
	for len(t.log) > to.log {
		last := t.log[len(t.log)-1]
		t.log = t.log[:len(t.log)-1]
		switch last.kind {
		case changeHidden:
			t.unhide(last.a, int(last.b))
		case changePlaced:
			p := t.placed[len(t.placed)-1]
			t.placed = t.placed[:len(t.placed)-1]
			addScaled(t.freeOf(p.node), t.m.classes[p.class].requests, int64(p.count))
			t.waiting[p.class] += p.count
		case changeMachine:
			mc := &t.machines[len(t.machines)-1]
			for _, l := range mc.loads {
				t.waiting[l.class] += l.count
			}
			t.count(mc.pool, t.m.capacityOf(mc), -1)
			t.machines = t.machines[:len(t.machines)-1]
		}
	}
}

// Commit makes everything done so far permanent: it can't be rolled back any more. Marks taken before are void.
func (t *Trial) Commit() { t.log = t.log[:0] }

func (t *Trial) freeOf(node int32) []int64 {
	dims := int32(t.m.resources.len())
	return t.free[node*dims : (node+1)*dims]
}

func (m *Model) capacityOf(mc *machine) corev1.ResourceList {
	t := m.pools[mc.pool].table
	return t.catalog.variants[t.rows[mc.row].variant].capacity
}

// Hide takes a machine of the snapshot out of the trial, as if it were gone: its pods that can move begin to wait for
// a place. It reports how many those are. A name the snapshot does not have, or a machine already hidden, is an
// error and changes nothing.
func (t *Trial) Hide(name string) (pods int, err error) {
	i, ok := t.m.nodeIndex[name]
	if !ok {
		return 0, fmt.Errorf("hiding machine %q: the snapshot has none of that name", name)
	}
	if slices.Contains(t.hidden, int32(i)) {
		return 0, fmt.Errorf("hiding machine %q: it is hidden already", name)
	}
	n := &t.m.nodes[i]
	t.usable.clear(i)
	t.hidden = append(t.hidden, int32(i))
	for _, p := range n.movable {
		t.waiting[p.class]++
		t.freed = append(t.freed, p)
	}
	if !n.source.Leaving {
		t.count(n.pool, n.capacity, -1)
	}
	t.log = append(t.log, change{changeHidden, int32(i), int32(len(n.movable))})
	return len(n.movable), nil
}

func (t *Trial) unhide(i int32, pods int) {
	n := &t.m.nodes[i]
	for _, p := range t.freed[len(t.freed)-pods:] {
		t.waiting[p.class]--
	}
	t.freed = t.freed[:len(t.freed)-pods]
	t.hidden = t.hidden[:len(t.hidden)-1]
	if n.usable {
		t.usable.set(int(i))
	}
	if !n.source.Leaving {
		t.count(n.pool, n.capacity, 1)
	}
}

// put places pods of a class on a machine of the snapshot.
func (t *Trial) put(class, node, count int32) {
	addScaled(t.freeOf(node), t.m.classes[class].requests, -int64(count))
	t.waiting[class] -= count
	t.placed = append(t.placed, placement{class, node, count})
	t.log = append(t.log, change{kind: changePlaced})
}

// launch adds a new machine with its pods.
func (t *Trial) launch(mc machine) {
	for _, l := range mc.loads {
		t.waiting[l.class] -= l.count
	}
	t.count(mc.pool, t.m.capacityOf(&mc), 1)
	t.machines = append(t.machines, mc)
	t.log = append(t.log, change{kind: changeMachine})
}

// affordable reports whether the pool's limits allow one more machine of the row.
func (t *Trial) affordable(pool, row int32) bool {
	p := t.m.pools[pool]
	if p.limits == nil {
		return true
	}
	return p.limits.allow(t.usage[pool], p.rowCost(int(row)))
}

// PlaceOptions bound what Place may do. The zero value bounds nothing.
type PlaceOptions struct {
	// ExistingOnly keeps Place from adding machines.
	ExistingOnly bool
}

// Outcome is what Place achieved.
type Outcome struct {
	// Placed and Unplaced count the pods that were waiting.
	Placed, Unplaced int
	// NewMachines were added, for NewCost USD per hour.
	NewMachines int
	NewCost     float64
}

// Place finds places for the waiting pods: first on machines of the snapshot, then on new ones. A cancelled context
// ends it early with ctx.Err(); what is placed until then stays, and can be rolled back.
func (t *Trial) Place(ctx context.Context, o PlaceOptions) (Outcome, error) {
	before, machines := t.waitingPods(), len(t.machines)
	if before > 0 {
		t.placeAll(ctx, o)
	}
	out := Outcome{Unplaced: t.waitingPods(), NewMachines: len(t.machines) - machines}
	out.Placed = before - out.Unplaced
	for i := range t.machines[machines:] {
		out.NewCost += float64(t.machines[machines+i].price) / nanoPerUSD
	}
	return out, ctx.Err()
}

func (t *Trial) waitingPods() int {
	n := 0
	for _, w := range t.waiting {
		n += int(w)
	}
	return n
}
