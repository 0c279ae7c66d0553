package requirements

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// Parse converts a requirement entry of a NodePool or NodeClaim. It refuses entries without a meaning: an unknown operator, In without
// values, a comparison without exactly one non-negative integer, minValues below 1. [ValidateRequirement] checks whether key and values
// are valid and allowed. Keys remain unchanged; [Lookup.Parse] replaces aliases.
//
// Gt with the largest int64 becomes DoesNotExist without minValues, because no value remains.
func Parse(entry v1.NodeSelectorRequirementWithMinValues) (Requirement, error) {
	if entry.MinValues != nil && *entry.MinValues < 1 {
		return Requirement{}, fmt.Errorf("key %q: minValues is %d: it must be at least 1, or be left out", entry.Key, *entry.MinValues)
	}
	r, err := parse(entry.Key, entry.Operator, entry.Values)
	if err != nil {
		return Requirement{}, err
	}
	if entry.MinValues == nil || entry.Operator == OpGt && r.Operator() == OpDoesNotExist {
		return r, nil
	}
	return r.WithMinValues(*entry.MinValues), nil
}

// ParseNodeSelectorRequirement converts an expression of a pod's node affinity. It refuses what Parse refuses, and the operators Gte and
// Lte, which Kubernetes does not allow in pods.
func ParseNodeSelectorRequirement(expression corev1.NodeSelectorRequirement) (Requirement, error) {
	if expression.Operator == OpGte || expression.Operator == OpLte {
		return Requirement{}, fmt.Errorf("key %q: pods may not use operator %s: write %s", expression.Key, expression.Operator, strictForm(expression.Operator))
	}
	return parse(expression.Key, expression.Operator, expression.Values)
}

// ParseSet converts a list of entries, and intersects entries with the same key. The error names the entry's index.
func ParseSet(entries []v1.NodeSelectorRequirementWithMinValues) (Set, error) {
	return parseEntries(entries, Parse)
}

// Parse is [Parse] with alias keys and values rewritten to the canonical ones.
func (l *Lookup) Parse(entry v1.NodeSelectorRequirementWithMinValues) (Requirement, error) {
	r, err := Parse(entry)
	if err != nil {
		return Requirement{}, err
	}
	return l.Rewrite(r), nil
}

// ParseNodeSelectorRequirement is [ParseNodeSelectorRequirement] with alias keys and values rewritten to the
// canonical ones.
func (l *Lookup) ParseNodeSelectorRequirement(expression corev1.NodeSelectorRequirement) (Requirement, error) {
	r, err := ParseNodeSelectorRequirement(expression)
	if err != nil {
		return Requirement{}, err
	}
	return l.Rewrite(r), nil
}

// ParseSet is [ParseSet] with alias keys and values rewritten to the canonical ones before intersecting.
func (l *Lookup) ParseSet(entries []v1.NodeSelectorRequirementWithMinValues) (Set, error) {
	return parseEntries(entries, l.Parse)
}

// FromLabels is [FromLabels] with alias keys and values rewritten to the canonical ones. If a node has a label under its alias and under
// its canonical key, with different values, the result allows no value.
func (l *Lookup) FromLabels(labels map[string]string) Set {
	return l.RewriteSet(FromLabels(labels))
}

func parseEntries(entries []v1.NodeSelectorRequirementWithMinValues, parse func(v1.NodeSelectorRequirementWithMinValues) (Requirement, error)) (Set, error) {
	reqs := make([]Requirement, len(entries))
	for i, entry := range entries {
		r, err := parse(entry)
		if err != nil {
			return Set{}, fmt.Errorf("requirements[%d]: %w", i, err)
		}
		reqs[i] = r
	}
	return NewSet(reqs...), nil
}

func parse(key string, op Operator, values []string) (Requirement, error) {
	if e := checkOperands(op, values); e != nil {
		return Requirement{}, fmt.Errorf("key %q: %s", key, e.rule)
	}
	switch op {
	case OpIn:
		return In(key, values...), nil
	case OpNotIn:
		return NotIn(key, values...), nil
	case OpExists:
		return Exists(key), nil
	case OpDoesNotExist:
		return DoesNotExist(key), nil
	default:
		n, _ := parseInteger(values[0])
		return compare(key, op, n), nil
	}
}

// The fields of an entry that an operandError can name.
const (
	fieldOperator = "operator"
	fieldValues   = "values"
)

// operandError is a broken rule about an entry's operator and values, and the field to correct.
type operandError struct{ field, rule string }

// checkOperands checks that the operator is known and has the operands that it needs.
func checkOperands(op Operator, values []string) *operandError {
	switch op {
	case OpNotIn, OpExists, OpDoesNotExist:
		return nil
	case OpIn:
		if len(values) == 0 {
			return &operandError{fieldValues, "operator In needs at least one value: list the allowed values, or use DoesNotExist"}
		}
		return nil
	case OpGt, OpLt, OpGte, OpLte:
		if len(values) != 1 {
			return &operandError{fieldValues, fmt.Sprintf("operator %s needs exactly one value, got %d: give one non-negative integer", op, len(values))}
		}
		if n, ok := parseInteger(values[0]); !ok || n < 0 {
			return &operandError{fieldValues, fmt.Sprintf("operator %s got %q: give a non-negative integer that fits 64 bits", op, values[0])}
		}
		return nil
	default:
		return &operandError{fieldOperator, fmt.Sprintf("unknown operator %q: use %s", op, "In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte or Lte")}
	}
}

// strictForm describes in words how a pod can express Gte or Lte.
func strictForm(op Operator) string {
	if op == OpGte {
		return "Gt with a value one less"
	}
	return "Lt with a value one more"
}
