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

// ErrStaleMark is returned by Trial.Rollback for a mark to which the trial can't return. Either a Commit came after the mark, or the mark
// itself was undone, or the mark belongs to another trial. Take a new mark after Commit, and after a rollback to an earlier mark.
var ErrStaleMark = errors.New("the trial cannot roll back to this mark: take a new mark after Commit, and after a rollback to an earlier mark")

// Mark returns a mark of the current point.
func (t *Trial) Mark() Mark { return Mark{t, t.S.Log.Now(), t.Proof} }

// Rollback undoes all changes since the mark, in reverse order. For a mark that is no longer valid it does nothing and returns
// ErrStaleMark. In this case, the caller must not continue as if the changes had been undone.
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

// Commit makes all changes so far permanent, so that they can no longer be rolled back. Earlier marks are no longer valid.
func (t *Trial) Commit() { t.S.Log.Commit() }
