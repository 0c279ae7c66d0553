package requirements

import (
	"math"
	"slices"
	"strconv"
)

// bounds are optional inclusive integer bounds. An absent bound has value 0, so that bounds compare with ==.
type bounds struct {
	lower, upper       int64
	hasLower, hasUpper bool
}

func (b bounds) any() bool { return b.hasLower || b.hasUpper }

// crossed reports whether the lower bound is above the upper bound, so that no integer satisfies both.
func (b bounds) crossed() bool { return b.hasLower && b.hasUpper && b.lower > b.upper }

// tighten returns the conjunction: the larger lower bound and the smaller upper bound.
func (b bounds) tighten(o bounds) bounds {
	if o.hasLower && (!b.hasLower || o.lower > b.lower) {
		b.lower, b.hasLower = o.lower, true
	}
	if o.hasUpper && (!b.hasUpper || o.upper < b.upper) {
		b.upper, b.hasUpper = o.upper, true
	}
	return b
}

// allow reports whether the bounds allow the value. If no bound is set, every value is allowed, otherwise only integers within the bounds.
func (b bounds) allow(value string) bool {
	if !b.any() {
		return true
	}
	n, ok := parseInteger(value)
	return ok && (!b.hasLower || n >= b.lower) && (!b.hasUpper || n <= b.upper)
}

// filter keeps the values that the bounds allow. If it keeps all values, it returns the given slice.
func (b bounds) filter(values []string) []string {
	if !b.any() {
		return values
	}
	for i, v := range values {
		if b.allow(v) {
			continue
		}
		kept := append(make([]string, 0, len(values)-1), values[:i]...)
		for _, w := range values[i+1:] {
			if b.allow(w) {
				kept = append(kept, w)
			}
		}
		return kept
	}
	return values
}

// exhausted reports whether the excluded values (two sorted lists, read as one) leave no integer within the bounds. Label values can't be
// negative, so 0 is the lower bound if none is given. It considers only the plain decimal form of integers: "03" is also within the
// bounds, but nobody labels a node with it to avoid an excluded "3".
func (b bounds) exhausted(x, y []string) bool {
	if !b.any() {
		return false
	}
	lower, upper := max(b.lower, 0), int64(math.MaxInt64)
	if b.hasUpper {
		upper = b.upper
	}
	if upper < lower {
		return true
	}
	width := uint64(upper-lower) + 1
	if uint64(len(x)+len(y)) < width {
		return false
	}
	var excluded uint64
	count := func(value string) {
		n, ok := parseInteger(value)
		if ok && n >= lower && n <= upper && strconv.FormatInt(n, 10) == value {
			excluded++
		}
	}
	for _, v := range x {
		count(v)
	}
	for _, v := range y {
		if _, both := slices.BinarySearch(x, v); !both {
			count(v)
		}
	}
	return excluded == width
}

// parseInteger parses a decimal int64. Most label values are not integers. parseInteger refuses them by their characters, because strconv
// would allocate an error value for each.
func parseInteger(s string) (int64, bool) {
	digits := s
	if digits != "" && (digits[0] == '-' || digits[0] == '+') {
		digits = digits[1:]
	}
	if digits == "" {
		return 0, false
	}
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return 0, false
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}
