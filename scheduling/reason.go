package scheduling

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// ReasonCode says at which check a pod was refused. Codes are stable.
type ReasonCode string

const (
	// ReasonPodInvalid: the pod itself can't be planned; Detail says why.
	ReasonPodInvalid ReasonCode = "PodInvalid"
	// ReasonNoNodePools: the snapshot has no pool that could launch a machine.
	ReasonNoNodePools ReasonCode = "NoNodePools"
	// ReasonNodePoolNotReady: the pool may not launch machines; Detail says why.
	ReasonNodePoolNotReady ReasonCode = "NodePoolNotReady"
	// ReasonNoInstanceTypes: the pool's own requirements leave none of its instance types.
	ReasonNoInstanceTypes ReasonCode = "NoInstanceTypes"
	// ReasonTaint: the pod does not tolerate Taint.
	ReasonTaint ReasonCode = "TaintNotTolerated"
	// ReasonRequirements: the pod's requirements and the pool's exclude each other at Key.
	ReasonRequirements ReasonCode = "IncompatibleRequirements"
	// ReasonInstanceTypes: each instance type fails the pod's requirements, its resources or the offerings; Removed
	// tells how many by which.
	ReasonInstanceTypes ReasonCode = "NoInstanceTypeFits"
	// ReasonLimits: the pool's limits leave no room; Detail names the resource.
	ReasonLimits ReasonCode = "LimitsExceeded"
)

// Removed counts instance types of a pool by the first check that ruled them out for a pod.
type Removed struct {
	// Requirements: the type's labels don't meet the pod's and the pool's requirements.
	Requirements int `json:"requirements,omitempty"`
	// Resources: an empty machine of the type is too small.
	Resources int `json:"resources,omitempty"`
	// Offering: no available offering meets the requirements.
	Offering int `json:"offering,omitempty"`
	// Limits: launching the type would exceed the pool's limits.
	Limits int `json:"limits,omitempty"`
}

// Reason is why a pod has no place in one NodePool: a code and its operands. String makes the sentence.
type Reason struct {
	// Pool the reason is about; zero when it is about the pod alone.
	Pool v1.PoolKey `json:"pool,omitzero"`
	Code ReasonCode `json:"code"`
	// Taint that is not tolerated, with ReasonTaint.
	Taint *corev1.Taint `json:"taint,omitempty"`
	// Key of the label where the requirements exclude each other, with ReasonRequirements.
	Key string `json:"key,omitempty"`
	// Requests of the pod with the DaemonSets' overhead left out, with ReasonInstanceTypes.
	Requests corev1.ResourceList `json:"requests,omitempty"`
	// Removed counts the pool's types by check, with ReasonInstanceTypes and ReasonLimits.
	Removed Removed `json:"removed,omitzero"`
	// Detail is the rest of the sentence where operands don't make one.
	Detail string `json:"detail,omitempty"`
}

// String is a sentence for operators, without the pod's name.
func (r Reason) String() string {
	if r.Pool.IsZero() {
		return r.sentence()
	}
	return fmt.Sprintf("incompatible with nodepool %q, %s", r.Pool, r.sentence())
}

func (r Reason) sentence() string {
	switch r.Code {
	case ReasonTaint:
		return "did not tolerate " + TaintString(*r.Taint)
	case ReasonNoNodePools:
		return "there is no nodepool to launch machines from"
	case ReasonInstanceTypes:
		return r.instanceTypes()
	}
	return r.Detail
}

// TaintString writes a taint as "key=value:Effect", the value empty or not.
func TaintString(t corev1.Taint) string {
	return t.Key + "=" + t.Value + ":" + string(t.Effect)
}
