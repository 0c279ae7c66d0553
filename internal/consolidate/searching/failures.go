package searching

import (
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/removing"
)

// failures remembers unsuccessful attempts since the last step: until the next step is accepted, the same attempt has the same result. In
// small fleets strategies often reach the same groups.
type failures struct{ known map[attemptKey]failure }

// attemptKey is an attempt with everything that its result depends on, as long as no step is accepted.
type attemptKey struct {
	// members identifies the set of nodes and where their pods may go: see attempts.groupKey.
	members uint64
	method  decision.Method
	// refining, subsets, strict and accepting are the search's: see removing.Conditions. unlimited means that limits on what may go
	// together were not checked.
	refining, subsets, strict, accepting, unlimited bool
}

// failure is the reason of a failed attempt, and whether the attempt set Withheld.
type failure struct {
	why      *decision.Block
	withheld bool
}

// attemptKey returns the key of a present attempt.
func (a *attempts) attemptKey(r removing.Removal) attemptKey {
	return attemptKey{a.groupKey(r), r.Method, a.Refining, a.Subsets, a.Strict, a.Accepting, false}
}

// of returns the result of the attempt, or nil if it was not tried.
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
