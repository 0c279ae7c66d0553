package convert

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	api "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1alpha5"
	"github.com/drawknife/drawknife/api/v1beta1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	awsv1alpha1 "github.com/drawknife/drawknife/aws/api/v1alpha1"
	awsv1beta1 "github.com/drawknife/drawknife/aws/api/v1beta1"
)

// Version is a generation to write.
type Version string

const (
	// V1 is the present generation.
	V1 Version = "v1"
	// V1Beta1 is the generation of releases 0.32 to 0.37.
	V1Beta1 Version = "v1beta1"
)

// Options are the options of Rewrite and Read. The zero value rewrites to v1 with a placeholder as the role.
type Options struct {
	// Target is the generation to write. Empty means V1. Read always returns V1.
	Target Version
	// IgnoreDefaults leaves out the requirements that a webhook used to add to Provisioners. Read always leaves them out, because objects
	// of an API server contain them.
	IgnoreDefaults bool
	// NodeRole is the role of node classes that come from node templates. Empty means awsv1alpha1.NodeRolePlaceholder.
	NodeRole string
	// KeepInstanceProfile keeps the instance profile of node templates instead of writing a role. Read always keeps it.
	KeepInstanceProfile bool
	// Legacy are the global settings of v1alpha5. Nil means that the settings are not known.
	Legacy *LegacySettings
	// Workloads includes workloads in the result, with renamed keys. Without it, workloads are left out like all other objects.
	Workloads bool
	// ReferenceCompat produces the output of Karpenter's tool and webhook where it differs.
	ReferenceCompat bool
	// Unadmitted means that not all objects come from an API server. Read then adds to a Provisioner without UID and creation time the
	// default requirements that a webhook would have added. A node template gets NodeRole if neither it nor Legacy names an instance
	// profile.
	Unadmitted bool
	// ValidatePool returns further errors in a pool, such as label keys that the provider's vocabulary restricts; Rewrite reports each as
	// an error. Nil applies only the rules of the kinds. Read and ReferenceCompat do not use it.
	ValidatePool func(*api.NodePool) field.ErrorList
	// ValidateRequirements returns further errors in the requirements at a path of a v1 NodeClaim or a NodeOverlay; Rewrite reports each as
	// an error. Nil applies only the rules of the kinds. Read and ReferenceCompat do not use it.
	ValidateRequirements func([]api.NodeSelectorRequirementWithMinValues, *field.Path) field.ErrorList
	// Force returns objects even if they have warnings of severity error.
	Force bool
}

// LegacySettings are global settings of v1alpha5 that later generations have in node classes or pools.
type LegacySettings struct {
	// DefaultInstanceProfile is the instance profile of node templates that name none.
	DefaultInstanceProfile string
	// Tags are added to those of node templates, which take precedence.
	Tags map[string]string
	// EnablePodENI says whether pods could have their own network interfaces. Later generations have no counterpart.
	EnablePodENI bool
	// ENILimitedPodDensity says whether the number of pods on a node is limited by the addresses of its interfaces. Nil means true.
	ENILimitedPodDensity *bool
}

// unlimitedDensity reports whether the settings allowed 110 pods per node, however many network interfaces the node had.
func (s *LegacySettings) unlimitedDensity() bool {
	return s != nil && s.ENILimitedPodDensity != nil && !*s.ENILimitedPodDensity
}

// DefaultRequirements returns the requirements that a webhook used to add to a Provisioner on AWS, in the order in which it added them. The
// caller owns the slice.
func DefaultRequirements() []v1alpha5.RequirementDefault {
	return append(v1alpha5.DefaultRequirements(), v1alpha5.RequirementDefault{
		Unless: []string{corev1.LabelInstanceTypeStable, awsv1.LabelInstanceFamily, awsv1.LabelInstanceCategory, awsv1.LabelInstanceGeneration},
		Add: []corev1.NodeSelectorRequirement{
			{Key: awsv1.LabelInstanceCategory, Operator: corev1.NodeSelectorOpIn, Values: []string{"c", "m", "r"}},
			{Key: awsv1.LabelInstanceGeneration, Operator: corev1.NodeSelectorOpGt, Values: []string{"2"}},
		},
	})
}

// ProvisionerOptions returns the options for single Provisioners and Machines on AWS.
func (o Options) ProvisionerOptions() v1alpha5.ConvertOptions {
	out := v1alpha5.ConvertOptions{
		RetiredLabels: awsv1alpha1.RetiredLabels(), NodeTemplate: nodeTemplate(), NodeClass: nodeClass(),
		ReferenceCompat: o.ReferenceCompat, Force: o.Force,
	}
	if !o.IgnoreDefaults {
		out.Defaults = DefaultRequirements()
	}
	return out
}

// NodeTemplateOptions returns the options for single AWSNodeTemplates.
func (o Options) NodeTemplateOptions() awsv1alpha1.ConvertOptions {
	out := awsv1alpha1.ConvertOptions{NodeRole: o.NodeRole, ReferenceCompat: o.ReferenceCompat, Force: o.Force}
	if o.KeepInstanceProfile {
		out.Identity = awsv1alpha1.IdentityKeep
	}
	if o.Legacy != nil {
		out.DefaultInstanceProfile, out.GlobalTags = o.Legacy.DefaultInstanceProfile, o.Legacy.Tags
	}
	return out
}

// NodePoolOptions returns the options for single NodePools and NodeClaims on AWS.
func (o Options) NodePoolOptions() v1beta1.ConvertOptions {
	return v1beta1.ConvertOptions{
		NodeClass:       schema.GroupKind{Group: awsv1.Group, Kind: awsv1.KindEC2NodeClass},
		ReferenceCompat: o.ReferenceCompat, Force: o.Force,
	}
}

// NodeClassOptions returns the options for single EC2NodeClasses.
func (o Options) NodeClassOptions() awsv1beta1.ConvertOptions {
	return awsv1beta1.ConvertOptions{ReferenceCompat: o.ReferenceCompat, Force: o.Force}
}
