package v1alpha5

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/drawknife/drawknife/api/conversion"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1beta1"
)

// ToV1 converts to v1beta1 and from there to v1, with the warnings of both steps.
func (p *Provisioner) ToV1(options ConvertOptions) (*v1.NodePool, conversion.Warnings) {
	beta, warnings := p.ToV1Beta1(options)
	if beta == nil {
		return nil, warnings
	}
	hub, more := beta.ToV1(options.beta())
	return hub, append(warnings, more...)
}

// beta returns the options for the conversion between v1beta1 and v1.
func (o ConvertOptions) beta() v1beta1.ConvertOptions {
	return v1beta1.ConvertOptions{
		NodeClass:        schema.GroupKind{Group: o.NodeClass.Group, Kind: o.NodeClass.Kind},
		OwnerExpireAfter: o.OwnerExpireAfter, ReferenceCompat: o.ReferenceCompat, Force: o.Force,
	}
}

// ToV1Beta1 converts the Provisioner to a NodePool, and reports all changes. The Provisioner should be valid (see Validate): its errors
// also appear in the result, and are reported as conversion.CodeResultInvalid. The result shares no memory with p. The result is nil if a
// warning has severity error and the options don't force a result. All such warnings are reported at once.
//
// If the provider's settings are inline, the pool refers to a node class with the pool's name, which this function does not make.
func (p *Provisioner) ToV1Beta1(options ConvertOptions) (*v1beta1.NodePool, conversion.Warnings) {
	warnings := conversion.NewRecorder(KindProvisioner, p.Name)
	in := p.DeepCopy()
	spec := field.NewPath("spec")
	out := &v1beta1.NodePool{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1beta1.APIVersion, Kind: v1beta1.KindNodePool},
		ObjectMeta: in.ObjectMeta,
		Spec: v1beta1.NodePoolSpec{
			Template: v1beta1.NodeClaimTemplate{
				ObjectMeta: v1.ObjectMeta{Labels: in.Spec.Labels, Annotations: in.Spec.Annotations},
				Spec: v1beta1.NodeClaimSpec{
					Taints:        in.Spec.Taints,
					StartupTaints: in.Spec.StartupTaints,
					Kubelet:       kubeletToBeta(in.Spec.KubeletConfiguration),
				},
			},
			Weight: in.Spec.Weight,
		},
		Status: v1beta1.NodePoolStatus{Resources: in.Status.Resources},
	}
	if in.Spec.Limits != nil {
		out.Spec.Limits = in.Spec.Limits.Resources
	}
	template := &out.Spec.Template
	if !options.ReferenceCompat {
		renameDoNot(template.Annotations, spec.Child("annotations"), warnings)
	}
	renamePoolLabel(template.Labels, spec.Child("labels"), warnings)
	template.Spec.Requirements = requirementsToBeta(in.Spec.Requirements, options, spec.Child("requirements"), warnings)
	template.Spec.Requirements = append(template.Spec.Requirements, addDefaults(in, options, warnings)...)
	if k := in.Spec.KubeletConfiguration; k != nil {
		noteContainerRuntime(k, spec.Child("kubeletConfiguration"), warnings)
	}
	template.Spec.NodeClassRef = referenceOfProvisioner(in, options, warnings)
	out.Spec.Disruption = disruptionToBeta(in, options, warnings)
	if in.Spec.Provider == nil && in.Spec.ProviderRef == nil {
		// This error was already reported: the result names no node class because the Provisioner has none.
		warnings.AddInvalid(without(out.Validate(), "spec.template.spec.nodeClassRef.name"))
	} else {
		warnings.AddInvalid(out.Validate())
	}
	if warnings.Failed() && !options.Force {
		return nil, warnings.Warnings()
	}
	return out, warnings.Warnings()
}

// renameDoNot renames the annotation that prevents the consolidation of a node. It changes the given map.
func renameDoNot(annotations map[string]string, path *field.Path, warnings *conversion.Recorder) {
	const old = v1beta1.DoNotConsolidateAnnotationKey
	value, ok := annotations[old]
	if !ok {
		return
	}
	delete(annotations, old)
	warnings.Add(conversion.CodeAnnotationRenamed, path.Key(old), old)
	if _, taken := annotations[v1.DoNotDisruptAnnotationKey]; !taken || value == "true" {
		annotations[v1.DoNotDisruptAnnotationKey] = value
	}
}

// renamePoolLabel renames the label with the pool's name. Users may not set this label in either generation, so the validation of the
// result refuses it.
func renamePoolLabel(labels map[string]string, path *field.Path, warnings *conversion.Recorder) {
	value, ok := labels[ProvisionerNameLabelKey]
	if !ok {
		return
	}
	delete(labels, ProvisionerNameLabelKey)
	labels[v1.NodePoolLabelKey] = value
	warnings.Add(conversion.CodePoolKeyRenamed, path.Key(ProvisionerNameLabelKey), ProvisionerNameLabelKey)
}

// requirementsToBeta converts the requirements in their order: it drops retired labels and renames the label with the pool's name. A
// missing list becomes an empty list.
func requirementsToBeta(requirements []corev1.NodeSelectorRequirement, options ConvertOptions, path *field.Path, warnings *conversion.Recorder) []v1beta1.NodeSelectorRequirementWithMinValues {
	out := make([]v1beta1.NodeSelectorRequirementWithMinValues, 0, len(requirements))
	for i, r := range requirements {
		at := path.Index(i).Child("key")
		if slices.Contains(options.RetiredLabels, r.Key) && !options.ReferenceCompat {
			warnings.Add(conversion.CodeRequirementKeyGone, at, r.Key)
			continue
		}
		if r.Key == ProvisionerNameLabelKey {
			warnings.Add(conversion.CodePoolKeyRenamed, at, r.Key)
			r.Key = v1.NodePoolLabelKey
		}
		out = append(out, requirementToBeta(r))
	}
	return out
}

func requirementToBeta(r corev1.NodeSelectorRequirement) v1beta1.NodeSelectorRequirementWithMinValues {
	return v1beta1.NodeSelectorRequirementWithMinValues{Key: r.Key, Operator: r.Operator, Values: slices.Clone(r.Values)}
}

// addDefaults adds the requirements that the webhook would have added, even if a label contradicts them.
func addDefaults(p *Provisioner, options ConvertOptions, warnings *conversion.Recorder) []v1beta1.NodeSelectorRequirementWithMinValues {
	added := missing(p.Spec.Requirements, options.Defaults)
	if len(added) == 0 {
		return nil
	}
	path := field.NewPath("spec", "requirements")
	texts := make([]string, len(added))
	out := make([]v1beta1.NodeSelectorRequirementWithMinValues, len(added))
	for i, r := range added {
		texts[i], out[i] = requirementText(r), requirementToBeta(r)
	}
	warnings.Add(conversion.CodeRequirementsAdded, path, strings.Join(texts, ", "))
	for _, r := range added {
		for _, key := range sortedKeys(p.Spec.Labels) {
			if value := p.Spec.Labels[key]; canonicalKey(key) == r.Key && !allows(r, value) {
				warnings.Add(conversion.CodeDefaultContradicts, path, requirementText(r), key+"="+value)
			}
		}
	}
	return out
}

func noteContainerRuntime(k *KubeletConfiguration, path *field.Path, warnings *conversion.Recorder) {
	if runtime := k.ContainerRuntime; runtime != nil && *runtime != ContainerRuntimeContainerd {
		warnings.Add(conversion.CodeContainerRuntime, path.Child("containerRuntime"), *runtime)
	}
}

// referenceOfProvisioner returns the node class of the pool: the one that the Provisioner refers to, or one with the pool's name if the
// settings are inline.
func referenceOfProvisioner(p *Provisioner, options ConvertOptions, warnings *conversion.Recorder) v1beta1.NodeClassReference {
	spec := field.NewPath("spec")
	ref, inline := p.Spec.ProviderRef, p.Spec.Provider
	switch {
	case ref == nil && inline == nil:
		warnings.Add(conversion.CodeNoProvider, spec.Child("providerRef"))
		return v1beta1.NodeClassReference{}
	case ref == nil:
		warnings.Add(conversion.CodeProviderMoved, spec.Child("provider"), options.NodeClass.Kind, p.Name)
		return v1beta1.NodeClassReference{Name: p.Name}
	case inline != nil:
		warnings.Add(conversion.CodeProviderTwice, spec.Child("provider"))
	}
	return referenceToBeta(*ref, options, spec.Child("providerRef"), warnings)
}

// referenceToBeta changes a reference to the provider's node template into one to its node class; references to other kinds do not
// change.
func referenceToBeta(ref MachineTemplateRef, options ConvertOptions, path *field.Path, warnings *conversion.Recorder) v1beta1.NodeClassReference {
	out := v1beta1.NodeClassReference{APIVersion: ref.APIVersion, Kind: ref.Kind, Name: ref.Name}
	if options.ReferenceCompat || options.NodeTemplate.Empty() {
		return out
	}
	if ref.Kind == options.NodeTemplate.Kind {
		out.Kind = options.NodeClass.Kind
	}
	if ref.APIVersion == options.NodeTemplate.GroupVersion().String() && (ref.Kind == "" || ref.Kind == options.NodeTemplate.Kind) {
		out.APIVersion = options.NodeClass.GroupVersion().String()
	}
	if out.Kind != ref.Kind || out.APIVersion != ref.APIVersion {
		warnings.Add(conversion.CodeReferenceRewritten, path, options.NodeClass.Kind, ref.Name)
	}
	return out
}

// disruptionToBeta converts the three fields of the Provisioner that say when nodes are removed.
func disruptionToBeta(p *Provisioner, options ConvertOptions, warnings *conversion.Recorder) v1beta1.Disruption {
	spec := field.NewPath("spec")
	out := v1beta1.Disruption{ExpireAfter: v1.Never()}
	ttl := p.Spec.TTLSecondsAfterEmpty
	switch {
	case p.Consolidates():
		out.ConsolidationPolicy = v1beta1.ConsolidationPolicyWhenUnderutilized
		if ttl != nil && !options.ReferenceCompat {
			warnings.Add(conversion.CodeConsolidationAndTTL, spec.Child("ttlSecondsAfterEmpty"))
		}
	case ttl != nil:
		out.ConsolidationPolicy = v1beta1.ConsolidationPolicyWhenEmpty
		out.ConsolidateAfter = seconds(*ttl)
	case !options.ReferenceCompat:
		out.ConsolidationPolicy, out.ConsolidateAfter = v1beta1.ConsolidationPolicyWhenEmpty, v1.Never()
		warnings.Add(conversion.CodeScaleDownOff, spec.Child("consolidation"))
	}
	if ttl := p.Spec.TTLSecondsUntilExpired; ttl != nil {
		out.ExpireAfter = seconds(*ttl)
	} else {
		warnings.Add(conversion.CodeNoExpiry, spec.Child("ttlSecondsUntilExpired"))
	}
	warnings.Add(conversion.CodeDefaultBudget, spec)
	return out
}

// mostSeconds is the longest duration that the API can express, in seconds.
const mostSeconds = int64(1<<63-1) / int64(time.Second)

// seconds returns n seconds as a duration. It replaces a number that is too large for a duration by the largest one, 292 years.
func seconds(n int64) v1.NillableDuration {
	n = min(n, mostSeconds)
	return v1.NewNillableDuration(time.Duration(max(n, -mostSeconds)) * time.Second)
}

// without returns the errors in the list errs, except those about the field at path.
func without(errs field.ErrorList, path string) field.ErrorList {
	return slices.DeleteFunc(errs, func(e *field.Error) bool { return e.Field == path })
}
