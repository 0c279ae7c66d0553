package requirements

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Operator is a node selector operator. Gte and Lte are extensions that NodePools, NodeClaims and NodeOverlays may
// use and pods may not: the Kubernetes API refuses them there.
type Operator = corev1.NodeSelectorOperator

// The operators a requirement may be written with.
const (
	// OpIn allows the listed values.
	OpIn Operator = corev1.NodeSelectorOpIn
	// OpNotIn allows every value but the listed ones, and the label's absence.
	OpNotIn Operator = corev1.NodeSelectorOpNotIn
	// OpExists allows every value.
	OpExists Operator = corev1.NodeSelectorOpExists
	// OpDoesNotExist allows no value: the label must be absent.
	OpDoesNotExist Operator = corev1.NodeSelectorOpDoesNotExist
	// OpGt allows integers above the one value given.
	OpGt Operator = corev1.NodeSelectorOpGt
	// OpLt allows integers below the one value given.
	OpLt Operator = corev1.NodeSelectorOpLt
	// OpGte allows integers from the one value given upwards.
	OpGte Operator = "Gte"
	// OpLte allows integers up to the one value given.
	OpLte Operator = "Lte"
)

// Requirement is an immutable constraint on one label key: either a list of allowed values, or everything but a list
// of exclusions, in the second case optionally between integer bounds. It is passed by value and is safe for
// concurrent use. The zero value is DoesNotExist of the empty key; build requirements with [In], [NotIn], [Exists],
// [DoesNotExist], [Gt], [Lt], [Gte], [Lte], [Parse] or [ParseText].
//
// Two requirements are equal exactly when their String is equal; [Requirement.Equal] says so without printing.
type Requirement struct {
	key string
	// values are sorted and without duplicates: allowed values, or exclusions when complement is set. The slice may
	// be shared between requirements and is never written to after construction.
	values []string
	// bounds are only ever set together with complement: a list of allowed values is filtered by them at once.
	bounds bounds
	// minValues is 0 when not asked for.
	minValues  int
	complement bool
}

// In allows exactly the given values. No values at all is the same thing as [DoesNotExist].
func In(key string, values ...string) Requirement {
	return Requirement{key: key, values: sortedSet(values)}
}

// NotIn allows every value but the given ones. No values at all is the same thing as [Exists].
func NotIn(key string, values ...string) Requirement {
	return Requirement{key: key, values: sortedSet(values), complement: true}
}

// Exists allows every value.
func Exists(key string) Requirement { return Requirement{key: key, complement: true} }

// DoesNotExist allows no value: only the label's absence satisfies it.
func DoesNotExist(key string) Requirement { return Requirement{key: key} }

// Gt allows integers greater than n. Nothing is greater than the largest int64: that is [DoesNotExist].
func Gt(key string, n int64) Requirement {
	if n == math.MaxInt64 {
		return DoesNotExist(key)
	}
	return Gte(key, n+1)
}

// Lt allows integers less than n. A label value can't be negative, so that for n of 0 or less no value satisfies it.
func Lt(key string, n int64) Requirement {
	return Lte(key, max(n, 0)-1)
}

// Gte allows integers from n upwards. A label value can't be negative: a negative n is read as 0.
func Gte(key string, n int64) Requirement {
	return Requirement{key: key, complement: true, bounds: bounds{lower: max(n, 0), hasLower: true}}
}

// Lte allows integers up to n. A label value can't be negative: a negative n is read as -1, which no value satisfies.
func Lte(key string, n int64) Requirement {
	return Requirement{key: key, complement: true, bounds: bounds{upper: max(n, -1), hasUpper: true}}
}

// Key is the label key the requirement is about.
func (r Requirement) Key() string { return r.key }

// Operator is the derived operator: NotIn and Exists for a complement with and without exclusions, whether bounded or
// not; In and DoesNotExist for a list of values and for an empty one. The bounds are in [Requirement.Bounds].
func (r Requirement) Operator() Operator {
	switch {
	case r.complement && len(r.values) > 0:
		return OpNotIn
	case r.complement:
		return OpExists
	case len(r.values) > 0:
		return OpIn
	default:
		return OpDoesNotExist
	}
}

// Complement reports whether the requirement allows everything but Values (inside the bounds), rather than Values.
func (r Requirement) Complement() bool { return r.complement }

// Values are the allowed values, or the exclusions when Complement is true; sorted. The caller must not change them.
func (r Requirement) Values() []string { return r.values }

// Bounds are the inclusive integer bounds, nil where there is none. Only complements have bounds.
func (r Requirement) Bounds() (lower, upper *int64) {
	if r.bounds.hasLower {
		lower = new(int64)
		*lower = r.bounds.lower
	}
	if r.bounds.hasUpper {
		upper = new(int64)
		*upper = r.bounds.upper
	}
	return lower, upper
}

// MinValues is the least number of distinct values that candidate instance types must offer for the key, nil when
// nothing is asked for.
func (r Requirement) MinValues() *int {
	if r.minValues == 0 {
		return nil
	}
	n := r.minValues
	return &n
}

// WithMinValues returns the requirement with minValues set to n, replacing what it had. Zero or less removes it.
func (r Requirement) WithMinValues(n int) Requirement {
	r.minValues = max(n, 0)
	return r
}

// WithKey returns the same constraint on another key.
func (r Requirement) WithKey(key string) Requirement {
	r.key = key
	return r
}

// Equal reports whether both requirements have the same key, values, bounds and minValues.
func (r Requirement) Equal(o Requirement) bool {
	return r.key == o.key && r.complement == o.complement && r.minValues == o.minValues &&
		r.bounds == o.bounds && slices.Equal(r.values, o.values)
}
