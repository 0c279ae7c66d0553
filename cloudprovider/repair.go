package cloudprovider

import (
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// RepairPolicy names a node condition. If a node has this condition for longer than Toleration, its instance is broken.
type RepairPolicy struct {
	// ConditionType is the type of the node condition.
	ConditionType corev1.NodeConditionType `json:"conditionType"`
	// ConditionStatus is the status that marks the instance as broken.
	ConditionStatus corev1.ConditionStatus `json:"conditionStatus"`
	// Toleration is how long the condition may last before the instance is replaced. It must be positive.
	Toleration time.Duration `json:"toleration"`
}

// Repairer is for providers that know which node conditions mean a broken instance.
//
//   - CP-REPAIR-01: an empty list turns repair off. Why: an operator must be able to turn repair off.
//   - CP-REPAIR-02: a pair of condition and status occurs once, and every toleration is positive. Why: a repetition
//     has no meaning, and without a toleration each new node would be replaced before it is ready.
//   - CP-REPAIR-03: RepairPolicies does no I/O and always returns the same list. Why: it is called for every node.
type Repairer interface {
	// RepairPolicies returns the conditions that trigger a repair. The caller owns the slice.
	RepairPolicies() []RepairPolicy
}

// ValidateRepairPolicies checks a list against CP-REPAIR-02. The error joins one error for each fault. It returns nil if there are no
// faults.
func ValidateRepairPolicies(policies []RepairPolicy) error {
	type trigger struct {
		condition corev1.NodeConditionType
		status    corev1.ConditionStatus
	}
	var faults []error
	seen := make(map[trigger]struct{}, len(policies))
	for i, p := range policies {
		at := trigger{p.ConditionType, p.ConditionStatus}
		if at.condition == "" || at.status == "" {
			faults = append(faults, fmt.Errorf("repair policy %d: name a condition type and a status (CP-REPAIR-02)", i))
		}
		if _, twice := seen[at]; twice {
			faults = append(faults, fmt.Errorf("repair policy %d: %s=%s occurs twice; keep one (CP-REPAIR-02)", i, at.condition, at.status))
		}
		seen[at] = struct{}{}
		if p.Toleration <= 0 {
			faults = append(faults, fmt.Errorf("repair policy %d: toleration is %s; it must be positive (CP-REPAIR-02)", i, p.Toleration))
		}
	}
	return errors.Join(faults...)
}
