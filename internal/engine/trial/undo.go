package trial

import (
	"errors"

	"github.com/drawknife/drawknife/internal/engine/state"
)

// Mark is a point in a trial to come back to. The zero value is none.
type Mark struct {
	of    *Trial
	At    state.Mark
	proof *Proof
}

// ErrStaleMark is what Trial.Rollback returns for a mark that it can't go back to: it was taken before a Commit, is undone
// itself, or is another trial's. Take a new mark after Commit and after rolling back beyond one.
var ErrStaleMark = errors.New("the mark is stale: the trial can't go back there")

// Mark returns the present point.
func (t *Trial) Mark() Mark { return Mark{t, t.S.Log.Now(), t.Proof} }

// Rollback undoes everything done since the mark, in reverse order. For a mark that is stale it does nothing and returns
// ErrStaleMark: going on as if it had been undone is a mistake of the caller's.
func (t *Trial) Rollback(to Mark) error {
	if to.of != t {
		return ErrStaleMark
	}
	undone, ok := t.S.Rollback(to.At)
	if !ok {
		return ErrStaleMark
	}
	if undone {
		t.Proof = to.proof
	}
	return nil
}

// Undo is Rollback to a mark that is known to be good.
func (t *Trial) Undo(to Mark) {
	if t.S.Undo(to.At) {
		t.Proof = to.proof
	}
}

// Commit makes everything done so far permanent: it can't be rolled back any more. Marks taken before are void.
func (t *Trial) Commit() { t.S.Log.Commit() }
