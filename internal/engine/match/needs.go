package match

import (
	"cmp"
	"slices"
	"strings"

	"github.com/drawknife/drawknife/api/requirements"
)

// Needs are requirements on labels that must all be met, in the form in which a pod states them. Several requirements may have the same
// key. They are not merged, because merged requirements would no longer say that a label must exist. For example, "exists" and "not in [a]"
// would become "not in [a]", which a node without the label meets. They are sorted by text, without duplicates.
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

// And returns the requirements of n and o.
func (n Needs) And(o Needs) Needs {
	if len(o) == 0 {
		return n
	}
	return New(slices.Concat(n, o)...)
}

// Set returns the requirements, merged into a set. Use it only for output.
func (n Needs) Set() requirements.Set { return requirements.NewSet(n...) }

// Conflict returns a key whose requirements no node can meet together, or "" if there is no such key.
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

// MetBy reports whether a node with exactly these labels meets all requirements.
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

// Ensures reports whether a node satisfies r with each of its possible values. The first argument describes the node's labels; the node
// lacks all other labels.
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

// About returns the requirements on the key. The result shares the memory of n and must not be changed.
func (n Needs) About(key string) Needs {
	from, to := n.span(key)
	return n[from:to:to]
}

// span returns the range of indexes of the requirements on a key.
func (n Needs) span(key string) (from, to int) {
	from, _ = slices.BinarySearchFunc(n, key, func(r requirements.Requirement, key string) int { return strings.Compare(r.Key(), key) })
	for to = from; to < len(n) && n[to].Key() == key; {
		to++
	}
	return from, to
}

// Without returns the requirements on all other keys. keys must be in ascending order.
func (n Needs) Without(keys ...string) Needs {
	out := make(Needs, 0, len(n))
	for _, key := range keys {
		from, to := n.span(key)
		out, n = append(out, n[:from]...), n[to:]
	}
	return append(out, n...)
}

// Keys returns the keys of the requirements in ascending order.
func (n Needs) Keys() []string {
	out := make([]string, len(n))
	for i := range n {
		out[i] = n[i].Key()
	}
	return slices.Compact(out)
}

// NodeName represents a node's name among its labels, for matchFields on metadata.name. No label can have this key.
const NodeName = "field:metadata.name"

// OnNewNodes returns the requirements of a term for new nodes. It leaves out requirements that exclude nodes by name, because a new node is
// none of these nodes. If the term requires a node by name, it stays unchanged, and no new node meets it.
func (n Needs) OnNewNodes() Needs {
	excludes := func(r requirements.Requirement) bool { return r.Key() == NodeName && AbsentMeets(r) }
	if !slices.ContainsFunc(n, excludes) {
		return n
	}
	return slices.DeleteFunc(slices.Clone(n), excludes)
}
