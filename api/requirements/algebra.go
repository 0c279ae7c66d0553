package requirements

import "slices"

// Has reports whether the requirement allows the value: it must be listed (or, for a complement, not excluded), and if the requirement
// has bounds, it must be an integer within them.
func (r Requirement) Has(value string) bool {
	_, listed := slices.BinarySearch(r.values, value)
	return listed != r.complement && r.bounds.allow(value)
}

// Intersect returns the conjunction of two requirements on one key: it allows the values that both allow. The larger minValues wins.
// If the bounds exclude each other, the result is [DoesNotExist]. The result has r's key; the keys are not compared.
//
// It is commutative, associative and idempotent, and Exists is its identity.
func (r Requirement) Intersect(o Requirement) Requirement {
	out := Requirement{key: r.key, minValues: max(r.minValues, o.minValues)}
	both := r.bounds.tighten(o.bounds)
	if both.crossed() {
		return out
	}
	switch {
	case r.complement && o.complement:
		out.complement = true
		out.bounds = both
		out.values = both.filter(union(r.values, o.values))
	case r.complement:
		out.values = both.filter(subtract(o.values, r.values))
	case o.complement:
		out.values = both.filter(subtract(r.values, o.values))
	default:
		out.values = common(r.values, o.values)
	}
	if len(out.values) == 0 {
		out.values = nil
	}
	return out
}

// Intersects reports whether some value satisfies both requirements, without building their intersection. The absence of the label is not a
// value: two DoesNotExist don't intersect. [Set.Compatible] accepts two DoesNotExist nevertheless. A range has no value if all of its
// integers are excluded.
func (r Requirement) Intersects(o Requirement) bool {
	switch {
	case r.complement && o.complement:
		both := r.bounds.tighten(o.bounds)
		return !both.crossed() && !both.exhausted(r.values, o.values)
	case r.complement:
		return slices.ContainsFunc(o.values, r.Has)
	case o.complement:
		return slices.ContainsFunc(r.values, o.Has)
	default:
		return overlap(r.values, o.values)
	}
}

// sortedSet returns a sorted copy of values without duplicates. It returns nil for an empty list.
func sortedSet(values []string) []string {
	if len(values) == 0 {
		return nil
	}
	out := slices.Clone(values)
	slices.Sort(out)
	return slices.Clip(slices.Compact(out))
}

// union, subtract, common and overlap work on sorted lists without duplicates. If the result equals an argument, they return that
// argument: lists are immutable, and most intersections change nothing.

func union(a, b []string) []string {
	if len(b) > len(a) {
		a, b = b, a
	}
	if contains(a, b) {
		return a
	}
	out := make([]string, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			out, a = append(out, a[0]), a[1:]
		case a[0] > b[0]:
			out, b = append(out, b[0]), b[1:]
		default:
			out, a, b = append(out, a[0]), a[1:], b[1:]
		}
	}
	return append(append(out, a...), b...)
}

func subtract(a, b []string) []string {
	if !overlap(a, b) {
		return a
	}
	out := make([]string, 0, len(a)-1)
	for _, v := range a {
		for len(b) > 0 && b[0] < v {
			b = b[1:]
		}
		if len(b) == 0 || b[0] != v {
			out = append(out, v)
		}
	}
	return out
}

func common(a, b []string) []string {
	if len(b) < len(a) {
		a, b = b, a
	}
	if contains(b, a) {
		return a
	}
	if !overlap(a, b) {
		return nil
	}
	out := make([]string, 0, len(a)-1)
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			a = a[1:]
		case a[0] > b[0]:
			b = b[1:]
		default:
			out, a, b = append(out, a[0]), a[1:], b[1:]
		}
	}
	return out
}

func overlap(a, b []string) bool {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			a = a[1:]
		case a[0] > b[0]:
			b = b[1:]
		default:
			return true
		}
	}
	return false
}

// contains reports whether the list whole contains every value of the list part.
func contains(whole, part []string) bool {
	for _, v := range part {
		for len(whole) > 0 && whole[0] < v {
			whole = whole[1:]
		}
		if len(whole) == 0 || whole[0] != v {
			return false
		}
	}
	return true
}
