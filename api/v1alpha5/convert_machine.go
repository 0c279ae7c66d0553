package v1alpha5

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/drawknife/drawknife/api/conversion"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1beta1"
)

// groupOf returns the group of an apiVersion.
func groupOf(apiVersion string) string {
	group, _, _ := strings.Cut(apiVersion, "/")
	return group
}

// ToV1 converts to v1beta1 and from there to v1, with the warnings of both steps.
func (m *Machine) ToV1(options ConvertOptions) (*v1.NodeClaim, conversion.Warnings) {
	beta, warnings := m.ToV1Beta1(options)
	if beta == nil {
		return nil, warnings
	}
	hub, more := beta.ToV1(options.beta())
	return hub, append(warnings, more...)
}

// ToV1Beta1 converts the Machine to a NodeClaim: see Provisioner.ToV1Beta1. The labels do not change, not even the label with the
// Provisioner's name, from which PoolOf returns the owner. It is for live objects, because manifests contain no Machines.
func (m *Machine) ToV1Beta1(options ConvertOptions) (*v1beta1.NodeClaim, conversion.Warnings) {
	warnings := conversion.NewRecorder(KindMachine, m.Name)
	in := m.DeepCopy()
	spec := field.NewPath("spec")
	out := &v1beta1.NodeClaim{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1beta1.APIVersion, Kind: v1beta1.KindNodeClaim},
		ObjectMeta: in.ObjectMeta,
		Spec: v1beta1.NodeClaimSpec{
			Taints:        in.Spec.Taints,
			StartupTaints: in.Spec.StartupTaints,
			Requirements:  make([]v1beta1.NodeSelectorRequirementWithMinValues, 0, len(in.Spec.Requirements)),
			Resources:     in.Spec.Resources,
			Kubelet:       kubeletToBeta(in.Spec.Kubelet),
		},
		Status: v1beta1.NodeClaimStatus{
			NodeName: in.Status.NodeName, ProviderID: in.Status.ProviderID,
			Capacity: in.Status.Capacity, Allocatable: in.Status.Allocatable,
			Conditions: renameConditions(in.Status.Conditions, conditionToBeta),
		},
	}
	// A Machine's requirements were used when it was launched, so requirements on removed labels do no harm.
	for _, r := range in.Spec.Requirements {
		out.Spec.Requirements = append(out.Spec.Requirements, requirementToBeta(r))
	}
	if in.Spec.Kubelet != nil {
		noteContainerRuntime(in.Spec.Kubelet, spec.Child("kubelet"), warnings)
	}
	_, inline := in.Annotations[ProviderAnnotationKey]
	switch ref := in.Spec.MachineTemplateRef; {
	case ref != nil:
		out.Spec.NodeClassRef = referenceToBeta(*ref, options, spec.Child("machineTemplateRef"), warnings)
		warnings.AddInvalid(out.Validate())
	case inline && in.Labels[ProvisionerNameLabelKey] != "":
		out.Spec.NodeClassRef.Name = in.Labels[ProvisionerNameLabelKey]
		warnings.Add(conversion.CodeProviderMoved, field.NewPath("metadata", "annotations").Key(ProviderAnnotationKey), options.NodeClass.Kind, out.Spec.NodeClassRef.Name)
		warnings.AddInvalid(out.Validate())
	default:
		warnings.Add(conversion.CodeNoProvider, spec.Child("machineTemplateRef"))
		warnings.AddInvalid(without(out.Validate(), "spec.nodeClassRef.name"))
	}
	if warnings.Failed() && !options.Force {
		return nil, warnings.Warnings()
	}
	return out, warnings.Warnings()
}

// Provenance describes the Machine as it was created, including the fields that a NodeClaim can't contain. MachineFromV1Beta1 restores
// them.
func (m *Machine) Provenance() conversion.Provenance {
	out := conversion.Provenance{Source: GroupVersion().WithKind(KindMachine), Name: m.Name}
	if k := m.Spec.Kubelet; k != nil && k.ContainerRuntime != nil {
		out.Keep(residueMachineRuntime, *k.ContainerRuntime)
	}
	if m.Spec.Requirements == nil {
		out.Keep(residueRequirements, m.Spec.Requirements)
	}
	out.Keep(residueMachineRef, m.Spec.MachineTemplateRef)
	return out
}

// MachineFromV1 converts from v1 to v1beta1 and then to the Machine, with the warnings of both steps.
func MachineFromV1(c *v1.NodeClaim, born conversion.Provenance, options ConvertOptions) (*Machine, conversion.Warnings) {
	if c == nil {
		return nil, nil
	}
	beta, warnings := v1beta1.NodeClaimFromV1(c, options.beta())
	if beta == nil {
		return nil, warnings
	}
	out, more := MachineFromV1Beta1(beta, born, options)
	return out, append(warnings, more...)
}

// MachineFromV1Beta1 converts the claim back to a Machine, and reports all losses: see ProvisionerFromV1Beta1.
func MachineFromV1Beta1(c *v1beta1.NodeClaim, born conversion.Provenance, options ConvertOptions) (*Machine, conversion.Warnings) {
	if c == nil {
		return nil, nil
	}
	warnings := conversion.NewRecorder(v1beta1.KindNodeClaim, c.Name)
	in := c.DeepCopy()
	spec := field.NewPath("spec")
	out := &Machine{
		TypeMeta:   metav1.TypeMeta{APIVersion: APIVersion, Kind: KindMachine},
		ObjectMeta: in.ObjectMeta,
		Spec: MachineSpec{
			Taints:        in.Spec.Taints,
			StartupTaints: in.Spec.StartupTaints,
			Requirements:  requirementsFromBeta(in.Spec.Requirements, spec.Child("requirements"), warnings),
			Resources:     in.Spec.Resources,
			Kubelet:       kubeletBack(in.Spec.Kubelet, spec.Child("kubelet"), warnings),
		},
		Status: MachineStatus{
			NodeName: in.Status.NodeName, ProviderID: in.Status.ProviderID,
			Capacity: in.Status.Capacity, Allocatable: in.Status.Allocatable,
			Conditions: renameConditions(in.Status.Conditions, conditionFromBeta),
		},
	}
	if in.Status.ImageID != "" {
		warnings.Add(conversion.CodeNoCounterpart, field.NewPath("status", "imageID"), "imageID")
	}
	if k := out.Spec.Kubelet; k != nil {
		born.Restore(residueMachineRuntime, &k.ContainerRuntime)
	}
	if len(out.Spec.Requirements) == 0 {
		born.Restore(residueRequirements, &out.Spec.Requirements)
	}
	// A Machine with inline settings has no machineTemplateRef, so kept is nil.
	var kept *MachineTemplateRef
	if !born.Restore(residueMachineRef, &kept) || kept != nil || in.Spec.NodeClassRef.Name != in.Labels[ProvisionerNameLabelKey] {
		out.Spec.MachineTemplateRef = referenceFromBeta(&in.Spec.NodeClassRef, residueMachineRef, born, options)
	}
	warnings.AddInvalid(out.Validate())
	if warnings.Failed() && !options.Force {
		return nil, warnings.Warnings()
	}
	return out, warnings.Warnings()
}

func renameConditions(conditions []v1beta1.Condition, rename func(string) string) []v1beta1.Condition {
	if conditions == nil {
		return nil
	}
	out := make([]v1beta1.Condition, len(conditions))
	for i := range conditions {
		out[i] = *conditions[i].DeepCopy()
		out[i].Type = rename(out[i].Type)
	}
	return out
}

// conditionToBeta returns the name of a condition in v1beta1; the types of other controllers keep their names.
func conditionToBeta(name string) string {
	switch name {
	case ConditionMachineCreated, ConditionMachineLaunched:
		return v1beta1.ConditionLaunched
	case ConditionMachineRegistered, ConditionMachineInitialized, ConditionMachineEmpty, ConditionMachineExpired, ConditionMachineDrifted:
		return strings.TrimPrefix(name, KindMachine)
	}
	return name
}

func conditionFromBeta(name string) string {
	switch name {
	case v1beta1.ConditionLaunched, v1beta1.ConditionRegistered, v1beta1.ConditionInitialized, v1beta1.ConditionEmpty, v1beta1.ConditionExpired, v1beta1.ConditionDrifted:
		return KindMachine + name
	}
	return name
}

// MachineFromNode makes the Machine of a node that was launched before Machines were stored. The node's labels become requirements,
// except for the host name. The Machine is launched and registered, and it is initialized if the node's label says so. Its node template
// is not known.
func MachineFromNode(node *corev1.Node) *Machine {
	if node == nil {
		return nil
	}
	in := node.DeepCopy()
	out := &Machine{
		TypeMeta: metav1.TypeMeta{APIVersion: APIVersion, Kind: KindMachine},
		ObjectMeta: metav1.ObjectMeta{
			Name: in.Name, Labels: in.Labels, Annotations: in.Annotations, CreationTimestamp: in.CreationTimestamp,
			DeletionTimestamp: in.DeletionTimestamp,
		},
		Spec: MachineSpec{Taints: in.Spec.Taints, Resources: v1.ResourceRequirements{Requests: in.Status.Allocatable.DeepCopy()}},
		Status: MachineStatus{
			NodeName: in.Name, ProviderID: in.Spec.ProviderID, Capacity: in.Status.Capacity, Allocatable: in.Status.Allocatable,
		},
	}
	for _, key := range sortedKeys(in.Labels) {
		if key != corev1.LabelHostname {
			out.Spec.Requirements = append(out.Spec.Requirements, corev1.NodeSelectorRequirement{
				Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{in.Labels[key]},
			})
		}
	}
	is := func(condition string, holds bool) {
		status := metav1.ConditionFalse
		if holds {
			status = metav1.ConditionTrue
		}
		out.Status.Conditions = append(out.Status.Conditions, v1beta1.Condition{
			Type: condition, Status: status, LastTransitionTime: in.CreationTimestamp,
		})
	}
	is(ConditionMachineLaunched, true)
	is(ConditionMachineRegistered, true)
	is(ConditionMachineInitialized, in.Labels[v1.NodeInitializedLabelKey] == "true")
	return out
}
