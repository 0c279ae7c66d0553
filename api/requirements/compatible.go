package requirements

import (
	"fmt"
)

// IncompatibleReason says why two sets are incompatible.
type IncompatibleReason string

const (
	// ReasonUndefined: one set requires a value for a key that the other set does not have.
	ReasonUndefined IncompatibleReason = "UndefinedLabel"
	// ReasonNoOverlap: both sets restrict the key, and no value satisfies both.
	ReasonNoOverlap IncompatibleReason = "NoOverlap"
)

// IncompatibleError is the error of [Set.Compatible], [Set.Intersects] and [Lookup.Compatible]: the first key, in sorted order, on which
// two sets are incompatible.
type IncompatibleError struct {
	// Key is the label key on which the sets are incompatible.
	Key string
	// Have is the first set's requirement on the key; Exists if it has none.
	Have Requirement
	// Want is the second set's requirement on the key.
	Want Requirement
	// Reason says which rule was broken.
	Reason IncompatibleReason

	// known are the keys among which Hint searches. The hint is computed only when Hint is called, because most of these errors are never
	// shown to a user.
	known  Set
	lookup *Lookup
}

// Error returns one sentence with the key, the wanted requirement and the existing one.
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

// Hint returns a known key that the user may have meant instead of an undefined key. A known key is similar if it has the same name part,
// contains the undefined key, or differs from it in at most two characters, and in at most a fifth of its characters. The hint is empty if
// no key is similar, or if the key is defined.
func (e *IncompatibleError) Hint() string {
	if e.Reason != ReasonUndefined {
		return ""
	}
	return spellingHint(e.Key, append(e.known.Keys(), e.lookup.wellKnownKeys()...))
}

// Compatible reports whether a node, NodePool or instance type whose labels s describes can satisfy want. The order of the sets matters. If
// want requires a value for a key, s must have the key, or allowUndefined must accept it. A nil allowUndefined accepts no key. On every key
// that both sets have, the requirements must intersect, or both must accept the label's absence (NotIn or DoesNotExist).
//
// Use [Lookup.Compatible] for nodes that do not exist yet, because their well-known labels are not decided yet. Use a nil allowUndefined
// for existing nodes, because their labels are complete. Use [Set.Intersects] to compare instance types with a planned node. The error is
// an [*IncompatibleError]; undefined keys are reported before keys without overlap.
func (s Set) Compatible(want Set, allowUndefined func(key string) bool) error {
	if e := s.incompatible(want, allowUndefined); e != nil {
		return e
	}
	return nil
}

// Intersects reports whether the two sets intersect on every key that both have. Keys that only one of the sets has don't matter. If both
// sets accept the absence of a label, they intersect on its key even without a common value. The error is an [*IncompatibleError].
func (s Set) Intersects(o Set) error {
	if e := s.disjoint(o); e != nil {
		return e
	}
	return nil
}

// acceptsAbsence reports whether a missing label meets the requirement, as it meets NotIn and DoesNotExist. Bounds do not change the
// result.
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
