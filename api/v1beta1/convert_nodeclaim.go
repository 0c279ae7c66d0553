package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/drawknife/drawknife/api/conversion"
	v1 "github.com/drawknife/drawknife/api/v1"
)

// ToV1 converts the claim to v1 and reports all changes: see NodePool.ToV1. The options say how long the node may live, because a claim of
// v1beta1 does not contain this duration.
func (c *NodeClaim) ToV1(options ConvertOptions) (*v1.NodeClaim, conversion.Warnings) {
	warnings := conversion.NewRecorder(KindNodeClaim, c.Name)
	in := c.DeepCopy()
	spec := field.NewPath("spec")
	out := &v1.NodeClaim{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1.APIVersion, Kind: v1.KindNodeClaim},
		ObjectMeta: in.ObjectMeta,
		Spec: v1.NodeClaimSpec{
			Taints:        in.Spec.Taints,
			StartupTaints: in.Spec.StartupTaints,
			Requirements:  hubRequirements(in.Spec.Requirements),
			Resources:     in.Spec.Resources,
			NodeClassRef:  hubReference(in.Spec.NodeClassRef, options, spec.Child("nodeClassRef"), warnings),
			ExpireAfter:   options.OwnerExpireAfter,
		},
		Status: v1.NodeClaimStatus{
			NodeName: in.Status.NodeName, ProviderID: in.Status.ProviderID, ImageID: in.Status.ImageID,
			Capacity: in.Status.Capacity, Allocatable: in.Status.Allocatable,
			Conditions: hubConditions(in.Status.Conditions),
		},
	}
	if out.Spec.ExpireAfter.IsZero() {
		out.Spec.ExpireAfter = v1.Never()
	}
	if in.Spec.Kubelet != nil {
		warnings.Add(conversion.CodeKubeletAnnotated, spec.Child("kubelet"), in.Spec.NodeClassRef.Name)
	}
	annotations, err := annotate(out.Annotations, &in.Spec, options)
	if err != nil {
		warnings.AddInvalid(field.ErrorList{field.InternalError(spec, err)})
	}
	out.Annotations = annotations
	warnings.AddInvalid(out.Validate())
	if warnings.Failed() && !options.Force {
		return nil, warnings.Warnings()
	}
	return out, warnings.Warnings()
}

// hubConditions returns the conditions in v1, without the types Empty and Expired and without the fields that v1 does not have. It fills in
// the reason, which v1 requires and early releases left out.
func hubConditions(conditions []Condition) []metav1.Condition {
	if conditions == nil {
		return nil
	}
	out := make([]metav1.Condition, 0, len(conditions))
	for _, c := range conditions {
		if c.Type == ConditionEmpty || c.Type == ConditionExpired {
			continue
		}
		if c.Reason == "" {
			c.Reason = c.Type
		}
		out = append(out, metav1.Condition{
			Type: c.Type, Status: c.Status, ObservedGeneration: c.ObservedGeneration,
			LastTransitionTime: c.LastTransitionTime, Reason: c.Reason, Message: c.Message,
		})
	}
	return out
}

// NodeClaimFromV1 converts the claim to v1beta1 and reports all losses: see NodePoolFromV1.
func NodeClaimFromV1(c *v1.NodeClaim, options ConvertOptions) (*NodeClaim, conversion.Warnings) {
	if c == nil {
		return nil, nil
	}
	warnings := conversion.NewRecorder(v1.KindNodeClaim, c.Name)
	in := c.DeepCopy()
	spec := field.NewPath("spec")
	out := &NodeClaim{
		TypeMeta:   metav1.TypeMeta{APIVersion: APIVersion, Kind: KindNodeClaim},
		ObjectMeta: in.ObjectMeta,
		Spec: NodeClaimSpec{
			Taints:        in.Spec.Taints,
			StartupTaints: in.Spec.StartupTaints,
			Requirements:  requirementsFromHub(in.Spec.Requirements, spec.Child("requirements"), warnings),
			Resources:     in.Spec.Resources,
			Kubelet:       kubeletFromHub(in.Annotations, warnings),
			NodeClassRef:  referenceFromHub(in.Spec.NodeClassRef, in.Annotations, options, warnings),
		},
		Status: NodeClaimStatus{
			NodeName: in.Status.NodeName, ProviderID: in.Status.ProviderID, ImageID: in.Status.ImageID,
			Capacity: in.Status.Capacity, Allocatable: in.Status.Allocatable,
		},
	}
	if in.Status.Conditions != nil {
		out.Status.Conditions = make([]Condition, 0, len(in.Status.Conditions))
	}
	for _, c := range in.Status.Conditions {
		out.Status.Conditions = append(out.Status.Conditions, Condition{
			Type: c.Type, Status: c.Status, ObservedGeneration: c.ObservedGeneration,
			LastTransitionTime: c.LastTransitionTime, Reason: c.Reason, Message: c.Message,
		})
	}
	out.Annotations = withoutCompatibility(out.Annotations)
	if d := in.Spec.TerminationGracePeriod; d != nil {
		warnings.Add(conversion.CodeGracePeriodDropped, spec.Child("terminationGracePeriod"), d.String())
	}
	if d := in.Spec.ExpireAfter; !d.IsZero() {
		warnings.Add(conversion.CodeClaimExpiryDropped, spec.Child("expireAfter"), d.String())
	}
	warnings.AddInvalid(out.Validate())
	if warnings.Failed() && !options.Force {
		return nil, warnings.Warnings()
	}
	return out, warnings.Warnings()
}
