package requirements

import (
	"slices"
	"strings"
)

// Set has at most one Requirement for each key: adding a second one intersects both. It is immutable: With returns a new Set, and
// goroutines may share Sets. The zero value is the empty set, which restricts nothing.
//
// A Set marshals to and from JSON as the list of its [Set.NodeSelectorRequirements].
type Set struct {
	// reqs are sorted by key, without duplicates; nil when empty. The slice is never written to after construction.
	reqs []Requirement
}

// NewSet makes a Set from requirements in any order.
func NewSet(reqs ...Requirement) Set {
	if len(reqs) == 0 {
		return Set{}
	}
	sorted := slices.Clone(reqs)
	if rising(sorted) {
		return Set{reqs: sorted}
	}
	slices.SortStableFunc(sorted, func(a, b Requirement) int { return strings.Compare(a.key, b.key) })
	out := sorted[:1]
	for _, r := range sorted[1:] {
		if last := &out[len(out)-1]; last.key == r.key {
			*last = last.Intersect(r)
		} else {
			out = append(out, r)
		}
	}
	return Set{reqs: out}
}

// rising reports whether the keys are already sorted and unique. Callers that make many sets with the same keys pass requirements that are
// sorted by key.
func rising(reqs []Requirement) bool {
	for i := 1; i < len(reqs); i++ {
		if reqs[i-1].key >= reqs[i].key {
			return false
		}
	}
	return true
}

// FromLabels returns a set that requires each label to have exactly the given value.
func FromLabels(labels map[string]string) Set {
	if len(labels) == 0 {
		return Set{}
	}
	reqs := make([]Requirement, 0, len(labels))
	for k, v := range labels {
		reqs = append(reqs, Requirement{key: k, values: []string{v}})
	}
	return NewSet(reqs...)
}

// With returns the set with further requirements added.
func (s Set) With(reqs ...Requirement) Set { return s.Merge(NewSet(reqs...)) }

// Merge returns the conjunction of two sets.
func (s Set) Merge(o Set) Set {
	if len(o.reqs) == 0 {
		return s
	}
	if len(s.reqs) == 0 {
		return o
	}
	a, b := s.reqs, o.reqs
	out := make([]Requirement, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].key < b[0].key:
			out, a = append(out, a[0]), a[1:]
		case a[0].key > b[0].key:
			out, b = append(out, b[0]), b[1:]
		default:
			out, a, b = append(out, a[0].Intersect(b[0])), a[1:], b[1:]
		}
	}
	return Set{reqs: append(append(out, a...), b...)}
}

// Without returns the set without requirements on the given keys.
func (s Set) Without(keys ...string) Set {
	if !slices.ContainsFunc(keys, s.Has) {
		return s
	}
	var out []Requirement
	for _, r := range s.reqs {
		if !slices.Contains(keys, r.key) {
			out = append(out, r)
		}
	}
	return Set{reqs: out}
}

// Get returns the requirement on the key. For a key that the set does not have, it returns [Exists].
func (s Set) Get(key string) Requirement {
	if i, ok := s.find(key); ok {
		return s.reqs[i]
	}
	return Exists(key)
}

// Has reports whether the set has a requirement on the key.
func (s Set) Has(key string) bool {
	_, ok := s.find(key)
	return ok
}

// Keys returns the keys of the set, sorted.
func (s Set) Keys() []string {
	if len(s.reqs) == 0 {
		return nil
	}
	keys := make([]string, len(s.reqs))
	for i := range s.reqs {
		keys[i] = s.reqs[i].key
	}
	return keys
}

// Len returns the number of keys in the set.
func (s Set) Len() int { return len(s.reqs) }

// All yields the requirements in the order of their keys: for r := range s.All.
func (s Set) All(yield func(Requirement) bool) {
	for _, r := range s.reqs {
		if !yield(r) {
			return
		}
	}
}

// Equal reports whether both sets have equal requirements.
func (s Set) Equal(o Set) bool {
	// Copies of a set share the list with the original set.
	if len(s.reqs) == len(o.reqs) && (len(s.reqs) == 0 || &s.reqs[0] == &o.reqs[0]) {
		return true
	}
	return slices.EqualFunc(s.reqs, o.reqs, Requirement.Equal)
}

func (s Set) find(key string) (int, bool) {
	return slices.BinarySearchFunc(s.reqs, key, func(r Requirement, key string) int {
		return strings.Compare(r.key, key)
	})
}
