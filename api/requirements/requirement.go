package requirements

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Operator is a node selector operator. Gte and Lte are extensions for NodePools, NodeClaims and NodeOverlays. In pods the Kubernetes API
// refuses them.
type Operator = corev1.NodeSelectorOperator

// The operators of requirements.
const (
	// OpIn allows the listed values.
	OpIn Operator = corev1.NodeSelectorOpIn
	// OpNotIn allows every value except the listed ones, and the label's absence.
	OpNotIn Operator = corev1.NodeSelectorOpNotIn
	// OpExists allows every value.
	OpExists Operator = corev1.NodeSelectorOpExists
	// OpDoesNotExist allows no value: the label must be absent.
	OpDoesNotExist Operator = corev1.NodeSelectorOpDoesNotExist
	// OpGt allows integers above the given value.
	OpGt Operator = corev1.NodeSelectorOpGt
	// OpLt allows integers below the given value.
	OpLt Operator = corev1.NodeSelectorOpLt
	// OpGte allows integers that are at least the given value.
	OpGte Operator = "Gte"
	// OpLte allows integers that are at most the given value.
	OpLte Operator = "Lte"
)

// Requirement is an immutable constraint on one label key: either a list of allowed values, or all values except a list of exclusions,
// optionally limited by integer bounds. It is passed by value and is safe for concurrent use. The zero value is DoesNotExist of the empty
// key; build requirements with [In], [NotIn], [Exists],
// [DoesNotExist], [Gt], [Lt], [Gte], [Lte], [Parse] or [ParseText].
//
// Two requirements are equal if and only if the results of String are equal; [Requirement.Equal] compares without printing.
type Requirement struct {
	key string
	// values are sorted and without duplicates: allowed values, or exclusions if complement is set. The slice may be shared between
	// requirements and is never written to after construction.
	values []string
	// bounds are set only together with complement. In a list of allowed values, the values outside of the bounds are removed instead.
	bounds bounds
	// minValues is 0 if it is not set.
	minValues  int
	complement bool
}

// In allows exactly the given values. Without values it is the same as [DoesNotExist].
func In(key string, values ...string) Requirement {
	return Requirement{key: key, values: sortedSet(values)}
}

// NotIn allows every value except the given ones. Without values it is the same as [Exists].
func NotIn(key string, values ...string) Requirement {
	return Requirement{key: key, values: sortedSet(values), complement: true}
}

// Exists allows every value.
func Exists(key string) Requirement { return Requirement{key: key, complement: true} }

// DoesNotExist allows no value: only the label's absence satisfies it.
func DoesNotExist(key string) Requirement { return Requirement{key: key} }

// Gt allows integers greater than n. If n is the largest int64, the result is [DoesNotExist].
func Gt(key string, n int64) Requirement {
	if n == math.MaxInt64 {
		return DoesNotExist(key)
	}
	return Gte(key, n+1)
}

// Lt allows integers less than n. A label value can't be negative, so no value satisfies it if n is 0 or less.
func Lt(key string, n int64) Requirement {
	return Lte(key, max(n, 0)-1)
}

// Gte allows integers that are at least n. A label value can't be negative, so a negative n counts as 0.
func Gte(key string, n int64) Requirement {
	return Requirement{key: key, complement: true, bounds: bounds{lower: max(n, 0), hasLower: true}}
}

// Lte allows integers that are at most n. A label value can't be negative, so no value satisfies a negative n, which counts as -1.
func Lte(key string, n int64) Requirement {
	return Requirement{key: key, complement: true, bounds: bounds{upper: max(n, -1), hasUpper: true}}
}

// Key returns the label key that the requirement restricts.
func (r Requirement) Key() string { return r.key }

// Operator returns the derived operator. For a complement it is NotIn, or Exists without exclusions, regardless of bounds. For a list of
// values it is In, or DoesNotExist if the list is empty. The bounds are in [Requirement.Bounds].
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

// Complement reports whether the requirement allows all values except Values (within the bounds), instead of only Values.
func (r Requirement) Complement() bool { return r.complement }

// Values returns the allowed values, or the exclusions if Complement is true, sorted. The caller must not change them.
func (r Requirement) Values() []string { return r.values }

// Bounds returns the inclusive integer bounds; nil for a missing bound. Only complements have bounds.
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

// MinValues returns the minimum number of different values of the key among the instance types, or nil if there is no minimum.
func (r Requirement) MinValues() *int {
	if r.minValues == 0 {
		return nil
	}
	n := r.minValues
	return &n
}

// WithMinValues returns the requirement with minValues set to n. If n is zero or less, it removes minValues.
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
