package trial

import (
	"errors"

	"github.com/drawknife/drawknife/internal/engine/state"
)

// Mark is a point in a trial to which the trial can return. The zero value is not a valid mark.
type Mark struct {
	of    *Trial
	At    state.Mark
	proof *Proof
}

// ErrStaleMark is returned by Trial.Rollback for a mark to which the trial can't return: a Commit came after it, it was undone itself, or
// it belongs to another trial. Take a new mark after Commit, and after a rollback to an earlier mark.
var ErrStaleMark = errors.New("the trial cannot roll back to this mark: take a new mark after Commit, and after a rollback to an earlier mark")

// Mark returns a mark of the current point.
func (t *Trial) Mark() Mark { return Mark{t, t.S.Log.Now(), t.Proof} }

// Rollback undoes everything since the mark, in reverse order. For a mark that is no longer valid it does nothing and returns ErrStaleMark.
// The caller must not continue as if everything had been undone.
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

// Undo does the same as Rollback for a mark that must be valid.
func (t *Trial) Undo(to Mark) {
	if t.S.Undo(to.At) {
		t.Proof = to.proof
	}
}

// Commit makes everything done so far permanent: it can't be rolled back any more. Earlier marks are no longer valid.
func (t *Trial) Commit() { t.S.Log.Commit() }
