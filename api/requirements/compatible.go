package requirements

import (
	"fmt"
)

// IncompatibleReason says why two sets don't go together.
type IncompatibleReason string

const (
	// ReasonUndefined: a value is demanded for a key that the other side knows nothing about.
	ReasonUndefined IncompatibleReason = "UndefinedLabel"
	// ReasonNoOverlap: both sides constrain the key, and no value satisfies both.
	ReasonNoOverlap IncompatibleReason = "NoOverlap"
)

// IncompatibleError is the error of [Set.Compatible], [Set.Intersects] and [Lookup.Compatible]: the first key, in
// sorted order, on which two sets don't go together.
type IncompatibleError struct {
	// Key is the label key the sets disagree on.
	Key string
	// Have is the first set's requirement on the key; Exists if it has none.
	Have Requirement
	// Want is what the second set demands.
	Want Requirement
	// Reason says which rule was broken.
	Reason IncompatibleReason

	// known are the sources of a spelling hint, which is only searched for when asked: most refusals inside a planner
	// are never read by anybody.
	known  Set
	lookup *Lookup
}

// Error is one sentence: which key, what is wanted and what there is.
func (e *IncompatibleError) Error() string {
	if e.Reason == ReasonUndefined {
		msg := fmt.Sprintf("label %q does not have known values", e.Key)
		if hint := e.Hint(); hint != "" {
			msg += fmt.Sprintf(" (did you mean %q?)", hint)
		}
		return msg
	}
	return fmt.Sprintf("key %s, %s not in %s", e.Key, e.Want.Summary(), e.Have.Summary())
}

// Hint is a known key that an undefined key may be a misspelling of: one that ends with the same name part, contains
// it, or differs by at most a fifth of its characters and no more than two. Empty when there is none or the key is
// defined.
func (e *IncompatibleError) Hint() string {
	if e.Reason != ReasonUndefined {
		return ""
	}
	return spellingHint(e.Key, append(e.known.Keys(), e.lookup.wellKnownKeys()...))
}

// Compatible reports whether something with labels as s describes them (a node, a NodePool, an instance type) can
// satisfy want. It is directional: every key that want demands a value for must be held by s or be let pass by
// allowUndefined (nil lets none pass), and every key held by both must overlap, where two sides that both accept the
// label's absence (NotIn or DoesNotExist) are compatible without a common value.
//
// Use [Lookup.Compatible] for nodes not yet made, whose well-known labels are still open; a nil allowUndefined for
// existing nodes, whose labels are complete; and [Set.Intersects] for instance types against a planned node.
// The error is an [*IncompatibleError]; undefined keys are reported before keys without overlap.
func (s Set) Compatible(want Set, allowUndefined func(key string) bool) error {
	if e := s.incompatible(want, allowUndefined); e != nil {
		return e
	}
	return nil
}

// Intersects reports whether the two sets overlap on every key they share; keys that only one of them holds don't
// matter. Keys on which both accept the label's absence overlap without a common value. The error is an
// [*IncompatibleError].
func (s Set) Intersects(o Set) error {
	if e := s.disjoint(o); e != nil {
		return e
	}
	return nil
}

// acceptsAbsence is how the label's absence is judged in a comparison: by the derived operator, bounded or not.
func (r Requirement) acceptsAbsence() bool {
	return r.complement == (len(r.values) > 0)
}

func (s Set) incompatible(want Set, allowUndefined func(key string) bool) *IncompatibleError {
	have := s.reqs
	for i := range want.reqs {
		w := &want.reqs[i]
		for len(have) > 0 && have[0].key < w.key {
			have = have[1:]
		}
		if len(have) > 0 && have[0].key == w.key || w.acceptsAbsence() {
			continue
		}
		if allowUndefined == nil || !allowUndefined(w.key) {
			return &IncompatibleError{Key: w.key, Have: Exists(w.key), Want: *w, Reason: ReasonUndefined, known: s}
		}
	}
	return s.disjoint(want)
}

func (s Set) disjoint(want Set) *IncompatibleError {
	have := s.reqs
	for i := range want.reqs {
		w := &want.reqs[i]
		for len(have) > 0 && have[0].key < w.key {
			have = have[1:]
		}
		if len(have) == 0 {
			return nil
		}
		h := &have[0]
		if h.key != w.key || h.Intersects(*w) || h.acceptsAbsence() && w.acceptsAbsence() {
			continue
		}
		return &IncompatibleError{Key: w.key, Have: *h, Want: *w, Reason: ReasonNoOverlap}
	}
	return nil
}
