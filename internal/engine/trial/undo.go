package trial

import (
	"errors"

	"github.com/drawknife/drawknife/internal/engine/state"
)

// Mark is a point in a trial to return to. The zero value is no mark.
type Mark struct {
	of    *Trial
	At    state.Mark
	proof *Proof
}

// ErrStaleMark is returned by Trial.Rollback for a mark that it can't go back to: it is from before a Commit, was undone itself, or
// belongs to another trial. Take a new mark after Commit and after rolling back behind a mark.
var ErrStaleMark = errors.New("the trial cannot roll back to this mark: take a new mark after Commit, and after a rollback to an earlier mark")

// Mark returns the present point.
func (t *Trial) Mark() Mark { return Mark{t, t.S.Log.Now(), t.Proof} }

// Rollback undoes everything since the mark, in reverse order. For a stale mark it does nothing and returns ErrStaleMark: the caller must
// not continue as if everything had been undone.
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

// Undo is Rollback to a mark that is known to be valid.
func (t *Trial) Undo(to Mark) {
	if t.S.Undo(to.At) {
		t.Proof = to.proof
	}
}

// Commit makes everything done so far permanent: it can no longer be rolled back. Earlier marks become void.
func (t *Trial) Commit() { t.S.Log.Commit() }
