package v1beta1

import (
	"math"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/drawknife/drawknife/api/conversion"
	v1 "github.com/drawknife/drawknife/api/v1"
)

// Operators that v1 has and v1beta1 does not have.
const (
	operatorGte corev1.NodeSelectorOperator = "Gte"
	operatorLte corev1.NodeSelectorOperator = "Lte"
)

// hubRequirements returns the requirements in v1, which have the same form. Nil stays nil.
func hubRequirements(requirements []NodeSelectorRequirementWithMinValues) []v1.NodeSelectorRequirementWithMinValues {
	if requirements == nil {
		return nil
	}
	out := make([]v1.NodeSelectorRequirementWithMinValues, len(requirements))
	for i, r := range requirements {
		copied := r.DeepCopy()
		out[i] = v1.NodeSelectorRequirementWithMinValues{Key: copied.Key, Operator: copied.Operator, Values: copied.Values, MinValues: copied.MinValues}
	}
	return out
}

// requirementsFromHub returns the requirements in v1beta1. It replaces Gte and Lte, which v1beta1 does not have.
func requirementsFromHub(requirements []v1.NodeSelectorRequirementWithMinValues, path *field.Path, warnings *conversion.Recorder) []NodeSelectorRequirementWithMinValues {
	if requirements == nil {
		return nil
	}
	out := make([]NodeSelectorRequirementWithMinValues, len(requirements))
	for i, r := range requirements {
		copied := r.DeepCopy()
		out[i] = NodeSelectorRequirementWithMinValues{Key: copied.Key, Operator: copied.Operator, Values: copied.Values, MinValues: copied.MinValues}
		operator, values := strictOperator(copied.Operator, copied.Values)
		if operator == copied.Operator {
			continue
		}
		out[i].Operator, out[i].Values = operator, values
		warnings.Add(conversion.CodeOperatorRewritten, path.Index(i), requirementText(copied.Operator, copied.Values), requirementText(operator, values))
	}
	return out
}

// strictOperator returns the operator and values of v1beta1 with the same meaning as its arguments. If v1beta1 has no such operator, it
// returns its arguments. Labels in comparisons have non-negative whole numbers as values, so "at least 0" allows all of them.
func strictOperator(operator corev1.NodeSelectorOperator, values []string) (corev1.NodeSelectorOperator, []string) {
	if (operator != operatorGte && operator != operatorLte) || !oneWholeNumber(values) {
		return operator, values
	}
	n, err := strconv.ParseInt(values[0], 10, 64)
	switch {
	case err != nil:
		return operator, values
	case operator == operatorGte && n == 0, operator == operatorLte && n == math.MaxInt64:
		return corev1.NodeSelectorOpExists, nil
	case operator == operatorGte:
		return corev1.NodeSelectorOpGt, []string{strconv.FormatInt(n-1, 10)}
	}
	return corev1.NodeSelectorOpLt, []string{strconv.FormatInt(n+1, 10)}
}

func requirementText(operator corev1.NodeSelectorOperator, values []string) string {
	if len(values) == 0 {
		return string(operator)
	}
	return string(operator) + " " + values[0]
}

// hubBudgets returns the budgets as budgets of v1, which apply to every reason. Nil stays nil.
func hubBudgets(budgets []Budget) []v1.Budget {
	if budgets == nil {
		return nil
	}
	out := make([]v1.Budget, len(budgets))
	for i := range budgets {
		b := budgets[i].DeepCopy()
		out[i] = v1.Budget{Nodes: b.Nodes, Schedule: b.Schedule, Duration: b.Duration}
	}
	return out
}

// budgetsFromHub returns the budgets as budgets of v1beta1, without their reasons. A budget without reasons applies to every reason, so it
// is at least as strict as before. A budget with an empty list of reasons has no effect and is dropped.
func budgetsFromHub(budgets []v1.Budget, path *field.Path, warnings *conversion.Recorder) []Budget {
	if budgets == nil {
		return nil
	}
	out := make([]Budget, 0, len(budgets))
	for i := range budgets {
		b := budgets[i].DeepCopy()
		switch {
		case b.Reasons != nil && len(b.Reasons) == 0:
			warnings.Add(conversion.CodeBudgetDropped, path.Index(i))
			continue
		case b.Reasons != nil && !everyReason(b.Reasons):
			warnings.Add(conversion.CodeBudgetReasonsDropped, path.Index(i).Child("reasons"), reasonsText(b.Reasons))
		}
		out = append(out, Budget{Nodes: b.Nodes, Schedule: b.Schedule, Duration: b.Duration})
	}
	return out
}

func everyReason(reasons []v1.DisruptionReason) bool {
	for _, reason := range []v1.DisruptionReason{v1.DisruptionReasonUnderutilized, v1.DisruptionReasonEmpty, v1.DisruptionReasonDrifted} {
		if !slices.Contains(reasons, reason) {
			return false
		}
	}
	return true
}

func reasonsText(reasons []v1.DisruptionReason) string {
	text := ""
	for i, reason := range reasons {
		if i > 0 {
			text += ", "
		}
		text += string(reason)
	}
	return text
}
