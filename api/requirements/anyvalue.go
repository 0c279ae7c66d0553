package requirements

import "strconv"

// AnyValue is one value that the requirement allows, used to materialise a custom label on a new node; false when
// there is none. The choice is always the same for equal requirements: the first listed value, or the smallest
// non-negative integer that is inside the bounds and not excluded.
func (r Requirement) AnyValue() (string, bool) {
	if !r.complement {
		if len(r.values) == 0 {
			return "", false
		}
		return r.values[0], true
	}
	if r.bounds.exhausted(r.values, nil) {
		return "", false
	}
	// The range is not exhausted: an allowed integer is met after at most len(values) excluded ones.
	for n := max(r.bounds.lower, 0); ; n++ {
		value := strconv.FormatInt(n, 10)
		if r.Has(value) {
			return value, true
		}
	}
}
