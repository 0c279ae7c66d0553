package scheduling

import (
	"cmp"
	"slices"
	"strings"

	"github.com/drawknife/drawknife/api/requirements"
)

// needs are requirements on labels that must all be met, as a pod states them: several may be about one key. They are
// not merged, since merging forgets that a label must be there at all: "exists" and "not in [a]" together would read
// as "not in [a]", which a machine without the label meets. Sorted by text, each once.
type needs []requirements.Requirement

func newNeeds(list ...requirements.Requirement) needs {
	out := needs(slices.Clone(list))
	slices.SortFunc(out, func(a, b requirements.Requirement) int {
		return cmp.Or(cmp.Compare(a.Key(), b.Key()), cmp.Compare(a.String(), b.String()))
	})
	return slices.CompactFunc(out, requirements.Requirement.Equal)
}

// needsOf are the requirements of a set.
func needsOf(set requirements.Set) needs {
	out := make(needs, 0, set.Len())
	for r := range set.All {
		out = append(out, r)
	}
	return out
}

// and is what meets both.
func (n needs) and(o needs) needs {
	if len(o) == 0 {
		return n
	}
	return newNeeds(slices.Concat(n, o)...)
}

// set merges the requirements, for writing them down.
func (n needs) set() requirements.Set { return requirements.NewSet(n...) }

// conflict is a key on which no node can meet all requirements; empty if there is none.
func (n needs) conflict() string {
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
	return !(absentMeets(a) && absentMeets(b)) && !a.Intersects(b)
}

// String lists the requirements.
func (n needs) String() string {
	parts := make([]string, len(n))
	for i := range n {
		parts[i] = n[i].String()
	}
	return strings.Join(parts, "; ")
}

// metBy reports whether a machine with these labels, all it will ever have, meets the needs.
func (n needs) metBy(labels requirements.Set) bool {
	for _, r := range n {
		if !meets(labels, r) {
			return false
		}
	}
	return true
}

// anySureBy reports whether one of the alternatives is met whatever values the labels will have that are not decided yet.
func anySureBy(alternatives []needs, labels requirements.Set) bool {
	return slices.ContainsFunc(alternatives, func(n needs) bool {
		return !slices.ContainsFunc(n, func(r requirements.Requirement) bool { return !ensures(labels, r) })
	})
}

// ensures reports whether a node whose label is described by have satisfies r whichever of the allowed values it has; a
// key that have lacks is absent.
func ensures(have requirements.Set, r requirements.Requirement) bool {
	h := have.Get(r.Key())
	if !have.Has(r.Key()) || h.Operator() == requirements.OpDoesNotExist {
		return absentMeets(r)
	}
	if absentMeets(h) && !absentMeets(r) {
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

// anyMetBy reports whether one of the alternatives is met.
func anyMetBy(alternatives []needs, labels requirements.Set) bool {
	return slices.ContainsFunc(alternatives, func(n needs) bool { return n.metBy(labels) })
}
