package pods

import (
	"fmt"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// DisruptionsAllowed computes status.disruptionsAllowed of a PodDisruptionBudget as the disruption controller does, for objects that have
// no status yet, as in manifests. healthy is the number of ready pods that the budget selects, and expected is the number of pods that
// their controllers ask for. The budget requires that minAvailable pods stay, or all expected pods except maxUnavailable. Percentages are
// of expected and rounded up. If a budget has neither field, one pod must stay. Source: the PodDisruptionBudget API's field documentation
// and Kubernetes' disruption controller.
func DisruptionsAllowed(spec *policyv1.PodDisruptionBudgetSpec, expected, healthy int) (int, error) {
	if spec == nil {
		spec = &policyv1.PodDisruptionBudgetSpec{}
	}
	amount, field := spec.MinAvailable, "spec.minAvailable"
	if spec.MaxUnavailable != nil {
		amount, field = spec.MaxUnavailable, "spec.maxUnavailable"
	}
	stay := 1
	if amount != nil {
		n, err := intstr.GetScaledValueFromIntOrPercent(amount, expected, true)
		if err == nil && n < 0 {
			err = fmt.Errorf("%d is negative", n)
		}
		if err != nil {
			return 0, fmt.Errorf("%s: %w: write a number or a percentage such as \"30%%\"", field, err)
		}
		stay = n
		if spec.MaxUnavailable != nil {
			stay = max(0, expected-n)
		}
	}
	if expected <= 0 {
		return 0, nil
	}
	return max(0, healthy-stay), nil
}
