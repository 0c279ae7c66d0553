package requirements

import "strconv"

// AnyValue returns one value that the requirement allows, for a custom label of a new node; false if it allows none. Equal requirements
// give the same value: the first listed value, or the smallest non-negative integer that is within the bounds and not excluded.
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
	// At least one integer within the bounds is allowed. The loop skips at most len(values) excluded integers before it finds one.
	for n := max(r.bounds.lower, 0); ; n++ {
		value := strconv.FormatInt(n, 10)
		if r.Has(value) {
			return value, true
		}
	}
}
