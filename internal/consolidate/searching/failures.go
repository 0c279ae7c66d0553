package searching

import (
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/removing"
)

// failures caches the attempts that failed since the last step. Until the next step is accepted, an attempt with the same key has the same
// result. If there are few candidates, strategies often reach the same groups.
type failures struct{ known map[attemptKey]failure }

// attemptKey has everything that the result of an attempt depends on until the next step is accepted.
type attemptKey struct {
	// members is the hash of the removal's nodes and of the places where their pods may go: see attempts.groupKey.
	members uint64
	method  decision.Method
	// refining, subsets, strict and accepting are copies of the fields of the search's removing.Conditions. unlimited means that the
	// attempt did not check the limits of a command (Limits).
	refining, subsets, strict, accepting, unlimited bool
}

// failure is the block of a failed attempt, and the value of Effort.Withheld after the attempt.
type failure struct {
	why      *decision.Block
	withheld bool
}

// attemptKey returns the key of an attempt to execute the removal in the present state of the search.
func (a *attempts) attemptKey(r removing.Removal) attemptKey {
	return attemptKey{a.groupKey(r), r.Method, a.Refining, a.Subsets, a.Strict, a.Accepting, false}
}

// of returns the failure of the attempt with the given key, or nil if that attempt has not failed since the last step.
func (f *failures) of(asked attemptKey) *failure {
	if known, has := f.known[asked]; has {
		return &known
	}
	return nil
}

func (f *failures) note(asked attemptKey, came failure) {
	if f.known == nil {
		f.known = map[attemptKey]failure{}
	}
	f.known[asked] = came
}

func (f *failures) forget() { clear(f.known) }
