package match

import (
	"cmp"
	"slices"
	"strings"

	"github.com/drawknife/drawknife/api/requirements"
)

// Needs are requirements on labels that must all be met, in the form in which a pod states them. Several needs may be about one key. They
// are not merged, because merging loses that a label must exist: "exists" and "not in [a]" together would read as "not in [a]", which a
// node without the label meets. They are sorted by text, without duplicates.
type Needs []requirements.Requirement

// New returns needs with the given requirements.
func New(list ...requirements.Requirement) Needs {
	out := Needs(slices.Clone(list))
	slices.SortFunc(out, func(a, b requirements.Requirement) int {
		return cmp.Or(cmp.Compare(a.Key(), b.Key()), cmp.Compare(a.String(), b.String()))
	})
	return slices.CompactFunc(out, requirements.Requirement.Equal)
}

// Of returns needs with the requirements of a set.
func Of(set requirements.Set) Needs {
	out := make(Needs, 0, set.Len())
	for r := range set.All {
		out = append(out, r)
	}
	return out
}

// And returns the needs of both.
func (n Needs) And(o Needs) Needs {
	if len(o) == 0 {
		return n
	}
	return New(slices.Concat(n, o)...)
}

// Set merges the requirements into a set, for results.
func (n Needs) Set() requirements.Set { return requirements.NewSet(n...) }

// Conflict returns a key on which no node can meet all requirements, or "" if there is none.
func (n Needs) Conflict() string {
	for i := range n {
		for j := i + 1; j < len(n) && n[j].Key() == n[i].Key(); j++ {
			if contradict(n[i], n[j]) {
				return n[i].Key()
			}
		}
	}
	return ""
}

// contradict reports whether no node can meet both requirements on one key.
func contradict(a, b requirements.Requirement) bool {
	return !(AbsentMeets(a) && AbsentMeets(b)) && !a.Intersects(b)
}

// String lists the requirements.
func (n Needs) String() string {
	parts := make([]string, len(n))
	for i := range n {
		parts[i] = n[i].String()
	}
	return strings.Join(parts, "; ")
}

// MetBy reports whether a node with exactly these labels meets the needs.
func (n Needs) MetBy(labels requirements.Set) bool {
	for _, r := range n {
		if !Meets(labels, r) {
			return false
		}
	}
	return true
}

// AnySureBy reports whether one of the alternatives is met, whichever values the undecided labels get.
func AnySureBy(alternatives []Needs, labels requirements.Set) bool {
	return slices.ContainsFunc(alternatives, func(n Needs) bool {
		return !slices.ContainsFunc(n, func(r requirements.Requirement) bool { return !Ensures(labels, r) })
	})
}

// Ensures reports whether a node whose label is described by have satisfies r with each of the allowed values; a key that is not in have is
// absent.
func Ensures(have requirements.Set, r requirements.Requirement) bool {
	h := have.Get(r.Key())
	if !have.Has(r.Key()) || h.Operator() == requirements.OpDoesNotExist {
		return AbsentMeets(r)
	}
	if AbsentMeets(h) && !AbsentMeets(r) {
		return false
	}
	if !h.Complement() {
		return !slices.ContainsFunc(h.Values(), func(v string) bool { return !r.Has(v) })
	}
	if lower, upper := r.Bounds(); !r.Complement() || lower != nil || upper != nil {
		return false
	}
	return !slices.ContainsFunc(r.Values(), h.Has)
}

// AnyMetBy reports whether one of the alternatives is met.
func AnyMetBy(alternatives []Needs, labels requirements.Set) bool {
	return slices.ContainsFunc(alternatives, func(n Needs) bool { return n.MetBy(labels) })
}

// About returns the needs on one key. They share the memory of n, which must not be changed.
func (n Needs) About(key string) Needs {
	from, to := n.span(key)
	return n[from:to:to]
}

// span returns the range of the needs on a key.
func (n Needs) span(key string) (from, to int) {
	from, _ = slices.BinarySearchFunc(n, key, func(r requirements.Requirement, key string) int { return strings.Compare(r.Key(), key) })
	for to = from; to < len(n) && n[to].Key() == key; {
		to++
	}
	return from, to
}

// Without returns the needs on all keys except these, which must be ascending.
func (n Needs) Without(keys ...string) Needs {
	out := make(Needs, 0, len(n))
	for _, key := range keys {
		from, to := n.span(key)
		out, n = append(out, n[:from]...), n[to:]
	}
	return append(out, n...)
}

// Keys lists the keys that needs are about, ascending.
func (n Needs) Keys() []string {
	out := make([]string, len(n))
	for i := range n {
		out[i] = n[i].Key()
	}
	return slices.Compact(out)
}

// NodeName represents a node's name among its labels, for matchFields on metadata.name. No label can have this key.
const NodeName = "field:metadata.name"

// OnNewNodes returns the requirements of a term for a new node: the new node can't be any node that a field excludes. A term that names a
// node stays unchanged, and no new node meets it.
func (n Needs) OnNewNodes() Needs {
	excludes := func(r requirements.Requirement) bool { return r.Key() == NodeName && AbsentMeets(r) }
	if !slices.ContainsFunc(n, excludes) {
		return n
	}
	return slices.DeleteFunc(slices.Clone(n), excludes)
}
