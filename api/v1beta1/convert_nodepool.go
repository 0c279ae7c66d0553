package v1beta1

import (
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/drawknife/drawknife/api/conversion"
	v1 "github.com/drawknife/drawknife/api/v1"
)

// ToV1 converts the pool to v1 and reports all changes. The pool should be valid (see Validate): its errors also appear in the result, and
// are reported as conversion.CodeResultInvalid. The result shares no memory with p. The result is nil if a warning has severity error and
// the options don't force a result.
func (p *NodePool) ToV1(options ConvertOptions) (*v1.NodePool, conversion.Warnings) {
	warnings := conversion.NewRecorder(KindNodePool, p.Name)
	in := p.DeepCopy()
	spec := field.NewPath("spec")
	template := spec.Child("template")

	out := &v1.NodePool{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1.APIVersion, Kind: v1.KindNodePool},
		ObjectMeta: in.ObjectMeta,
		Spec: v1.NodePoolSpec{
			Template: v1.NodeClaimTemplate{
				ObjectMeta: in.Spec.Template.ObjectMeta,
				Spec: v1.NodeClaimTemplateSpec{
					Taints:        in.Spec.Template.Spec.Taints,
					StartupTaints: in.Spec.Template.Spec.StartupTaints,
					Requirements:  hubRequirements(in.Spec.Template.Spec.Requirements),
				},
			},
			Limits: in.Spec.Limits,
			Weight: in.Spec.Weight,
		},
		Status: v1.NodePoolStatus{Resources: in.Status.Resources},
	}
	renameDoNot(out.Spec.Template.Annotations, template.Child("metadata", "annotations"), warnings)
	out.Spec.Template.Spec.NodeClassRef = hubReference(in.Spec.Template.Spec.NodeClassRef, options, template.Child("spec", "nodeClassRef"), warnings)
	out.Spec.Disruption, out.Spec.Template.Spec.ExpireAfter = hubDisruption(in.Spec.Disruption, options, spec.Child("disruption"), warnings)
	if in.Spec.Template.Spec.Resources.Requests != nil {
		warnings.Add(conversion.CodeResourcesDropped, template.Child("spec", "resources"))
	}
	if in.Spec.Template.Spec.Kubelet != nil {
		warnings.Add(conversion.CodeKubeletAnnotated, template.Child("spec", "kubelet"), in.Spec.Template.Spec.NodeClassRef.Name)
	}
	annotations, err := annotate(out.Annotations, &in.Spec.Template.Spec, options)
	if err != nil {
		warnings.AddInvalid(field.ErrorList{field.InternalError(template.Child("spec"), err)})
	}
	out.Annotations = annotations
	warnings.AddInvalid(out.Validate())
	if warnings.Failed() && !options.Force {
		return nil, warnings.Warnings()
	}
	return out, warnings.Warnings()
}

// hubDisruption returns the disruption block in v1, and expireAfter, which is in the template in v1.
func hubDisruption(d Disruption, options ConvertOptions, path *field.Path, warnings *conversion.Recorder) (v1.Disruption, v1.NillableDuration) {
	defaultDisruption(&d)
	out := v1.Disruption{ConsolidateAfter: d.ConsolidateAfter, Budgets: hubBudgets(d.Budgets)}
	after := path.Child("consolidateAfter")
	switch d.ConsolidationPolicy {
	case ConsolidationPolicyWhenUnderutilized:
		out.ConsolidationPolicy = v1.ConsolidationPolicyWhenEmptyOrUnderutilized
		switch {
		case d.ConsolidateAfter.IsZero(), options.ReferenceCompat:
			out.ConsolidateAfter = noWait()
			warnings.Add(conversion.CodeWaitExplicit, after)
		case d.ConsolidateAfter.IsNever():
			warnings.Add(conversion.CodeConsolidationStaysOff, after)
		}
	case ConsolidationPolicyWhenEmpty:
		out.ConsolidationPolicy = v1.ConsolidationPolicyWhenEmpty
		if d.ConsolidateAfter.IsZero() {
			// In v1beta1, a pool without consolidateAfter never removed nodes.
			out.ConsolidateAfter = v1.Never()
			warnings.Add(conversion.CodeWaitMissing, after)
		}
	default:
		// v1 has no policy with this value: the validation of the result refuses it.
		out.ConsolidationPolicy = v1.ConsolidationPolicy(d.ConsolidationPolicy)
	}
	if !d.ExpireAfter.IsNever() {
		warnings.Add(conversion.CodeExpiryMoved, path.Child("expireAfter"))
	}
	return out, d.ExpireAfter
}

// noWait returns the duration 0s in the same form as v1's default.
func noWait() v1.NillableDuration { return v1.NewNillableDuration(0) }

// renameDoNot replaces the old do-not-evict and do-not-consolidate annotations by the new annotation, which is "true" if one of the old
// annotations is. It changes the given map.
func renameDoNot(annotations map[string]string, path *field.Path, warnings *conversion.Recorder) {
	for _, old := range []string{DoNotConsolidateAnnotationKey, DoNotEvictAnnotationKey} {
		value, ok := annotations[old]
		if !ok {
			continue
		}
		delete(annotations, old)
		warnings.Add(conversion.CodeAnnotationRenamed, path.Key(old), old)
		if _, taken := annotations[v1.DoNotDisruptAnnotationKey]; !taken || value == "true" {
			annotations[v1.DoNotDisruptAnnotationKey] = value
		}
	}
}

// NodePoolFromV1 converts the pool to v1beta1 and reports all losses. The kubelet block and the node class reference are restored from
// annotations of p. The result shares no memory with p. The result is nil if a warning has severity error and the options don't force a
// result.
func NodePoolFromV1(p *v1.NodePool, options ConvertOptions) (*NodePool, conversion.Warnings) {
	if p == nil {
		return nil, nil
	}
	warnings := conversion.NewRecorder(v1.KindNodePool, p.Name)
	in := p.DeepCopy()
	spec := field.NewPath("spec")
	template := spec.Child("template", "spec")

	out := &NodePool{
		TypeMeta:   metav1.TypeMeta{APIVersion: APIVersion, Kind: KindNodePool},
		ObjectMeta: in.ObjectMeta,
		Spec: NodePoolSpec{
			Template: NodeClaimTemplate{
				ObjectMeta: in.Spec.Template.ObjectMeta,
				Spec: NodeClaimSpec{
					Taints:        in.Spec.Template.Spec.Taints,
					StartupTaints: in.Spec.Template.Spec.StartupTaints,
					Requirements:  requirementsFromHub(in.Spec.Template.Spec.Requirements, template.Child("requirements"), warnings),
					Kubelet:       kubeletFromHub(in.Annotations, warnings),
					NodeClassRef:  referenceFromHub(in.Spec.Template.Spec.NodeClassRef, in.Annotations, options, warnings),
				},
			},
			Disruption: disruptionFromHub(in, options, warnings),
			Limits:     in.Spec.Limits,
			Weight:     in.Spec.Weight,
		},
		Status: NodePoolStatus{Resources: in.Status.Resources},
	}
	out.Annotations = withoutCompatibility(out.Annotations)
	if d := in.Spec.Template.Spec.TerminationGracePeriod; d != nil {
		warnings.Add(conversion.CodeGracePeriodDropped, template.Child("terminationGracePeriod"), d.String())
	}
	if r := in.Spec.Replicas; r != nil {
		warnings.Add(conversion.CodeReplicasDropped, spec.Child("replicas"), strconv.FormatInt(*r, 10))
	}
	if nodes, ok := in.Spec.Limits[v1.ResourceNodes]; ok {
		warnings.Add(conversion.CodeNodeLimit, spec.Child("limits").Key(v1.ResourceNodes), nodes.String())
	}
	warnings.AddInvalid(out.Validate())
	if warnings.Failed() && !options.Force {
		return nil, warnings.Warnings()
	}
	return out, warnings.Warnings()
}

func disruptionFromHub(p *v1.NodePool, options ConvertOptions, warnings *conversion.Recorder) Disruption {
	d, path := p.Spec.Disruption, field.NewPath("spec", "disruption")
	out := Disruption{
		ExpireAfter: p.Spec.Template.Spec.ExpireAfter,
		Budgets:     budgetsFromHub(d.Budgets, path.Child("budgets"), warnings),
	}
	if !out.ExpireAfter.IsNever() {
		warnings.Add(conversion.CodeExpiryMovedBack, field.NewPath("spec", "template", "spec", "expireAfter"))
	}
	wait := d.ConsolidateAfter
	if wait.IsZero() {
		wait = noWait()
	}
	switch d.ConsolidationPolicy {
	case v1.ConsolidationPolicyWhenEmpty:
		out.ConsolidationPolicy, out.ConsolidateAfter = ConsolidationPolicyWhenEmpty, wait
		return out
	case v1.ConsolidationPolicyBalanced:
		warnings.Add(conversion.CodeBalancedDropped, path.Child("consolidationPolicy"))
		out.ConsolidationPolicy = ConsolidationPolicyWhenUnderutilized
	case v1.ConsolidationPolicyWhenEmptyOrUnderutilized, "":
		out.ConsolidationPolicy = ConsolidationPolicyWhenUnderutilized
	default:
		// v1beta1 has no policy with this value: the validation of the result refuses it.
		out.ConsolidationPolicy = ConsolidationPolicy(d.ConsolidationPolicy)
	}
	if wait.IsNever() && !options.ReferenceCompat {
		out.ConsolidateAfter = wait
		return out
	}
	if span, ok := wait.Duration(); ok && span == 0*time.Second {
		warnings.Add(conversion.CodeZeroWaitDropped, path.Child("consolidateAfter"))
	} else {
		warnings.Add(conversion.CodeWaitDropped, path.Child("consolidateAfter"), wait.String())
	}
	return out
}
