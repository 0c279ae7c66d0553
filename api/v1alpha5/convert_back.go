package v1alpha5

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/drawknife/drawknife/api/conversion"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1beta1"
)

// The paths of fields that v1beta1 does not have.
const (
	residueRuntime        = "spec.kubeletConfiguration.containerRuntime"
	residueProvider       = "spec.provider"
	residueConsolidation  = "spec.consolidation"
	residueLimits         = "spec.limits"
	residueRequirements   = "spec.requirements"
	residueReference      = "spec.providerRef"
	residueEmpty          = "spec.ttlSecondsAfterEmpty"
	residueExpired        = "spec.ttlSecondsUntilExpired"
	residueScaled         = "status.lastScaleTime"
	residueConditions     = "status.conditions"
	residueMachineRuntime = "spec.kubelet.containerRuntime"
	residueMachineRef     = "spec.machineTemplateRef"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// Provenance describes the Provisioner as it was created, including the fields that a NodePool can't contain. ProvisionerFromV1Beta1
// restores them.
func (p *Provisioner) Provenance() conversion.Provenance {
	out := conversion.Provenance{Source: GroupVersion().WithKind(KindProvisioner), Name: p.Name}
	if k := p.Spec.KubeletConfiguration; k != nil && k.ContainerRuntime != nil {
		out.Keep(residueRuntime, *k.ContainerRuntime)
	}
	if p.Spec.Provider != nil {
		out.Keep(residueProvider, p.Spec.Provider)
	}
	if c := p.Spec.Consolidation; c != nil && !p.Consolidates() {
		out.Keep(residueConsolidation, c)
	}
	if l := p.Spec.Limits; l != nil && l.Resources == nil {
		out.Keep(residueLimits, l)
	}
	if p.Spec.Requirements == nil {
		out.Keep(residueRequirements, p.Spec.Requirements)
	}
	if p.Spec.ProviderRef != nil {
		out.Keep(residueReference, p.Spec.ProviderRef)
	}
	keepSeconds(&out, residueEmpty, p.Spec.TTLSecondsAfterEmpty)
	keepSeconds(&out, residueExpired, p.Spec.TTLSecondsUntilExpired)
	if p.Status.LastScaleTime != nil {
		out.Keep(residueScaled, p.Status.LastScaleTime)
	}
	if p.Status.Conditions != nil {
		out.Keep(residueConditions, p.Status.Conditions)
	}
	return out
}

// keepSeconds stores in p a number of seconds that is too large for a duration.
func keepSeconds(p *conversion.Provenance, path string, n *int64) {
	if n != nil && *n > mostSeconds {
		p.Keep(path, *n)
	}
}

func restoreSeconds(p conversion.Provenance, path string, n **int64) {
	if *n != nil && **n == mostSeconds {
		p.Restore(path, n)
	}
}

// ProvisionerFromV1 converts from v1 to v1beta1 and then to the Provisioner, with the warnings of both steps.
func ProvisionerFromV1(p *v1.NodePool, born conversion.Provenance, options ConvertOptions) (*Provisioner, conversion.Warnings) {
	if p == nil {
		return nil, nil
	}
	beta, warnings := v1beta1.NodePoolFromV1(p, options.beta())
	if beta == nil {
		return nil, warnings
	}
	out, more := ProvisionerFromV1Beta1(beta, born, options)
	return out, append(warnings, more...)
}

// ProvisionerFromV1Beta1 converts the pool back to a Provisioner, and reports all losses. A controller uses it to write its changes of a
// pool to the original object. born is Provisioner.Provenance of that object, or the zero value for a pool that never was a Provisioner.
// The result shares no memory with p. The result is nil if a warning has severity error and the options don't force a result.
func ProvisionerFromV1Beta1(p *v1beta1.NodePool, born conversion.Provenance, options ConvertOptions) (*Provisioner, conversion.Warnings) {
	if p == nil {
		return nil, nil
	}
	warnings := conversion.NewRecorder(v1beta1.KindNodePool, p.Name)
	in := p.DeepCopy()
	template := field.NewPath("spec", "template", "spec")
	out := &Provisioner{
		TypeMeta:   metav1.TypeMeta{APIVersion: APIVersion, Kind: KindProvisioner},
		ObjectMeta: in.ObjectMeta,
		Spec: ProvisionerSpec{
			Annotations:          in.Spec.Template.Annotations,
			Labels:               in.Spec.Template.Labels,
			Taints:               in.Spec.Template.Spec.Taints,
			StartupTaints:        in.Spec.Template.Spec.StartupTaints,
			Requirements:         requirementsFromBeta(in.Spec.Template.Spec.Requirements, template.Child("requirements"), warnings),
			KubeletConfiguration: kubeletBack(in.Spec.Template.Spec.Kubelet, template.Child("kubelet"), warnings),
			Weight:               in.Spec.Weight,
		},
		Status: ProvisionerStatus{Resources: in.Status.Resources},
	}
	if in.Spec.Limits != nil {
		out.Spec.Limits = &Limits{Resources: in.Spec.Limits}
	}
	if in.Spec.Template.Spec.Resources.Requests != nil {
		warnings.Add(conversion.CodeResourcesDropped, template.Child("resources"))
	}
	disruptionFromBeta(in, out, warnings)
	restoreProvisioner(out, &in.Spec.Template.Spec.NodeClassRef, born, options)
	warnings.AddInvalid(out.Validate())
	if warnings.Failed() && !options.Force {
		return nil, warnings.Warnings()
	}
	return out, warnings.Warnings()
}

// restoreProvisioner restores the fields that v1beta1 lacks from the parameter born, except for fields that were changed in the pool since
// the conversion.
func restoreProvisioner(out *Provisioner, ref *v1beta1.NodeClassReference, born conversion.Provenance, options ConvertOptions) {
	if k := out.Spec.KubeletConfiguration; k != nil {
		born.Restore(residueRuntime, &k.ContainerRuntime)
	}
	var inline *runtime.RawExtension
	if ref.Name == out.Name && born.Restore(residueProvider, &inline) {
		out.Spec.Provider = inline
	} else {
		out.Spec.ProviderRef = referenceFromBeta(ref, residueReference, born, options)
	}
	if out.Spec.Consolidation == nil {
		born.Restore(residueConsolidation, &out.Spec.Consolidation)
	}
	if out.Spec.Limits == nil {
		born.Restore(residueLimits, &out.Spec.Limits)
	}
	if len(out.Spec.Requirements) == 0 {
		born.Restore(residueRequirements, &out.Spec.Requirements)
	}
	restoreSeconds(born, residueEmpty, &out.Spec.TTLSecondsAfterEmpty)
	restoreSeconds(born, residueExpired, &out.Spec.TTLSecondsUntilExpired)
	born.Restore(residueScaled, &out.Status.LastScaleTime)
	born.Restore(residueConditions, &out.Status.Conditions)
}

// referenceFromBeta returns the original reference if it still names the same object, otherwise a reference to the provider's own kind.
func referenceFromBeta(ref *v1beta1.NodeClassReference, path string, born conversion.Provenance, options ConvertOptions) *MachineTemplateRef {
	var kept *MachineTemplateRef
	if born.Restore(path, &kept) && kept != nil && samePlace(referenceToBeta(*kept, options, nil, &conversion.Recorder{}), ref, options) {
		return kept
	}
	out := &MachineTemplateRef{APIVersion: ref.APIVersion, Kind: ref.Kind, Name: ref.Name}
	if options.NodeTemplate.Empty() {
		return out
	}
	if ref.Kind == options.NodeClass.Kind {
		out.Kind = options.NodeTemplate.Kind
	}
	if ref.APIVersion == options.NodeClass.GroupVersion().String() {
		out.APIVersion = options.NodeTemplate.GroupVersion().String()
	}
	return out
}

// samePlace reports whether both references name the same object after they are completed with the provider's own kind. It ignores the
// version.
func samePlace(a v1beta1.NodeClassReference, b *v1beta1.NodeClassReference, options ConvertOptions) bool {
	group := func(r v1beta1.NodeClassReference) string {
		if g := groupOf(r.APIVersion); g != "" {
			return g
		}
		return options.NodeClass.Group
	}
	kind := func(r v1beta1.NodeClassReference) string {
		if r.Kind != "" {
			return r.Kind
		}
		return options.NodeClass.Kind
	}
	return a.Name == b.Name && group(a) == group(*b) && kind(a) == kind(*b)
}

func requirementsFromBeta(requirements []v1beta1.NodeSelectorRequirementWithMinValues, path *field.Path, warnings *conversion.Recorder) []corev1.NodeSelectorRequirement {
	if requirements == nil {
		return nil
	}
	out := make([]corev1.NodeSelectorRequirement, len(requirements))
	for i, r := range requirements {
		out[i] = corev1.NodeSelectorRequirement{Key: r.Key, Operator: r.Operator, Values: slices.Clone(r.Values)}
		if r.MinValues != nil {
			warnings.Add(conversion.CodeMinValuesDropped, path.Index(i).Child("minValues"), r.Key)
		}
	}
	return out
}

func kubeletBack(k *v1beta1.KubeletConfiguration, path *field.Path, warnings *conversion.Recorder) *KubeletConfiguration {
	out, malformed := kubeletFromBeta(k)
	for _, name := range malformed {
		warnings.Add(conversion.CodeNotExpressible, path.Child(name), name)
	}
	return out
}

// disruptionFromBeta sets the three fields of the Provisioner that say when nodes are removed.
func disruptionFromBeta(in *v1beta1.NodePool, out *Provisioner, warnings *conversion.Recorder) {
	path := field.NewPath("spec", "disruption")
	in = in.DeepCopy()
	if in.Spec.Disruption.Budgets != nil {
		warnings.Add(conversion.CodeBudgetsDropped, path.Child("budgets"))
	}
	in.Default()
	d := in.Spec.Disruption
	switch wait, waits := d.ConsolidateAfter.Duration(); {
	case d.ConsolidateAfter.IsNever():
	case d.ConsolidationPolicy == v1beta1.ConsolidationPolicyWhenUnderutilized:
		on := true
		out.Spec.Consolidation = &Consolidation{Enabled: &on}
	case d.ConsolidationPolicy == v1beta1.ConsolidationPolicyWhenEmpty && waits:
		out.Spec.TTLSecondsAfterEmpty = wholeSeconds(wait, path.Child("consolidateAfter"), warnings)
	case d.ConsolidationPolicy != v1beta1.ConsolidationPolicyWhenEmpty:
		warnings.Add(conversion.CodeNotExpressible, path.Child("consolidationPolicy"), string(d.ConsolidationPolicy))
	}
	if span, ok := d.ExpireAfter.Duration(); ok {
		out.Spec.TTLSecondsUntilExpired = wholeSeconds(span, path.Child("expireAfter"), warnings)
	}
}

func wholeSeconds(d time.Duration, path *field.Path, warnings *conversion.Recorder) *int64 {
	if d%time.Second != 0 {
		warnings.Add(conversion.CodeNotExpressible, path, d.String())
	}
	n := int64(d / time.Second)
	return &n
}
