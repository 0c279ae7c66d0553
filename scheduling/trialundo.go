package scheduling

import (
	"cmp"
	"errors"
	"slices"
)

// change is one undoable step.
type change struct {
	kind changeKind
	// a and b are what the kind says.
	a, b int32
}

type changeKind uint8

const (
	changeHidden    changeKind = iota // node a was hidden; b of its pods became waiting
	changePlaced                      // the last placement was added
	changeMachine                     // the last node was added, empty
	changeTaken                       // b pods of placement a were taken off their host again
	changeMoved                       // node a became another: the last of Trial.before
	changeAbandoned                   // node a, which is empty, counts no more
	changeClosed                      // node a was closed
	changeStage                       // placement a was at stage b before
	changeSealed                      // host a has no room for devices any more; it had the last of Trial.sealed
)

// Mark is a point in a trial to come back to. The zero value is none.
type Mark struct {
	of *Trial
	// taken is Trial.cut at the time.
	log, epoch, taken int
	proof             *proof
}

// cut is a rollback: what was logged from at on is gone.
type cut struct{ number, at int }

// ErrStaleMark is what Trial.Rollback returns for a mark that it can't go back to: it was taken before a Commit, is undone
// itself, or is another trial's. Take a new mark after Commit and after rolling back beyond one.
var ErrStaleMark = errors.New("the mark is stale: the trial can't go back there")

// Mark returns the present point.
func (t *Trial) Mark() Mark { return Mark{t, len(t.log), t.epoch, t.cut, t.proof} }

// Rollback undoes everything done since the mark, in reverse order. For a mark that is stale it does nothing and returns
// ErrStaleMark: going on as if it had been undone is a mistake of the caller's.
func (t *Trial) Rollback(to Mark) error {
	if to.of != t || to.epoch != t.epoch || t.isCut(to) {
		return ErrStaleMark
	}
	t.cut++
	for len(t.cuts) > 0 && t.cuts[len(t.cuts)-1].at >= to.log {
		t.cuts = t.cuts[:len(t.cuts)-1]
	}
	t.cuts = append(t.cuts, cut{t.cut, to.log})
	t.undo(to)
	return nil
}

// isCut reports whether a rollback since the mark was taken went back beyond it. Both numbers and places of cuts ascend, so
// that the first one since then went back furthest.
func (t *Trial) isCut(m Mark) bool {
	since, _ := slices.BinarySearchFunc(t.cuts, m.taken+1, func(c cut, number int) int { return cmp.Compare(c.number, number) })
	return since < len(t.cuts) && t.cuts[since].at < m.log
}

// undo is Rollback to a mark that is known to be good.
func (t *Trial) undo(to Mark) {
	if len(t.log) == to.log {
		return
	}
	for len(t.log) > to.log {
		last := t.log[len(t.log)-1]
		t.log = t.log[:len(t.log)-1]
		switch last.kind {
		case changeHidden:
			t.unhide(last.a, int(last.b))
		case changePlaced:
			p := t.placed[len(t.placed)-1]
			t.placed = t.placed[:len(t.placed)-1]
			*t.lastOn(p.host) = p.before
			t.apply(p, -1)
		case changeTaken:
			p := &t.placed[last.a]
			p.count = last.b
			t.apply(*p, 1)
		case changeMoved:
			t.become(last.a, t.before[len(t.before)-1])
			t.before = t.before[:len(t.before)-1]
		case changeAbandoned:
			t.countMachine(last.a, 1)
		case changeClosed:
			t.reopen(int(last.a))
		case changeStage:
			t.placed[last.a].stage = last.b
		case changeSealed:
			t.seal(last.a, t.sealed[len(t.sealed)-1], -1)
			t.sealed = t.sealed[:len(t.sealed)-1]
		case changeMachine:
			mc := &t.machines[len(t.machines)-1]
			t.count(mc.pool, t.m.capacityOf(mc), -1)
			t.reserve(mc, -1)
			if t.topology != nil {
				t.placeResidents(mc, -1)
				t.topology.DropHost()
			}
			t.machines = t.machines[:len(t.machines)-1]
		}
	}
	t.proof = to.proof
}

// Commit makes everything done so far permanent: it can't be rolled back any more. Marks taken before are void.
func (t *Trial) Commit() {
	t.log = t.log[:0]
	t.cuts = nil
	t.epoch++
}
