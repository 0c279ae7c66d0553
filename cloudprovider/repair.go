package cloudprovider

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// RepairPolicy names a node condition that means a broken machine once it has lasted long enough.
type RepairPolicy struct {
	// ConditionType is the node condition looked at.
	ConditionType corev1.NodeConditionType `json:"conditionType"`
	// ConditionStatus is the status that means trouble.
	ConditionStatus corev1.ConditionStatus `json:"conditionStatus"`
	// Toleration is how long the trouble may last before the machine is replaced; positive.
	Toleration time.Duration `json:"toleration"`
}

// Repairer is for providers that know which node conditions mean a machine beyond hope.
//
//   - CP-REPAIR-01: an empty list turns repair off. Why: an operator must be able to.
//   - CP-REPAIR-02: a pair of condition and status occurs once, and every toleration is positive. Why: a repetition
//     has no meaning, and without a toleration each new node would be replaced before it is ready.
//   - CP-REPAIR-03: the answer needs no I/O and never changes. Why: it is read for every node.
type Repairer interface {
	// RepairPolicies are the conditions to repair by (PRV-176). The slice is the caller's.
	RepairPolicies() []RepairPolicy
}
