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

// Version is a generation that can be written.
type Version string

const (
	// V1 is the present generation.
	V1 Version = "v1"
	// V1Beta1 is that of releases 0.32 to 0.37.
	V1Beta1 Version = "v1beta1"
)

// Options steer Rewrite and Read. The zero value rewrites to v1 with a placeholder as the role.
type Options struct {
	// Target is the generation to write. Empty is V1. Read always gives V1.
	Target Version
	// IgnoreDefaults leaves out the requirements that a webhook used to add to Provisioners. Read always does: what an API
	// server returned has them.
	IgnoreDefaults bool
	// NodeRole is the role of node classes that come from node templates. Empty is awsv1alpha1.NodeRolePlaceholder.
	NodeRole string
	// KeepInstanceProfile keeps the instance profile of node templates instead of writing a role. Read always does.
	KeepInstanceProfile bool
	// Legacy are the global settings of v1alpha5. Nil: not known.
	Legacy *LegacySettings
	// Workloads are passed on with keys renamed; without it they are left out like every foreign object.
	Workloads bool
	// ReferenceCompat gives what Karpenter's tool and webhook give, where that is something else.
	ReferenceCompat bool
	// Unadmitted says of Read that not all objects come from an API server: one that has neither UID nor creation time gets
	// what a webhook would have given it, which are the default requirements of a Provisioner. A node template without an
	// instance profile, its own or that of Legacy, gets NodeRole.
	Unadmitted bool
	// ValidatePool says what else is wrong with a pool, such as label keys that the provider's vocabulary restricts; each is
	// an error of Rewrite. Nil asks nothing more than the rules of the kinds themselves. Neither Read nor ReferenceCompat
	// asks it.
	ValidatePool func(*api.NodePool) field.ErrorList
	// ValidateRequirements says what else is wrong with the requirements at a path of a NodeClaim of v1 or a NodeOverlay; each is
	// an error of Rewrite. Nil asks nothing more than the rules of the kinds themselves. Neither Read nor ReferenceCompat asks it.
	ValidateRequirements func([]api.NodeSelectorRequirementWithMinValues, *field.Path) field.ErrorList
	// Force gives objects even though they have warnings of severity error.
	Force bool
}

// LegacySettings are global settings of v1alpha5 that a node class or pool says itself later.
type LegacySettings struct {
	// DefaultInstanceProfile is that of node templates without one.
	DefaultInstanceProfile string
	// Tags are merged under those of node templates.
	Tags map[string]string
	// EnablePodENI is whether pods could have network interfaces of their own. It has no counterpart.
	EnablePodENI bool
	// ENILimitedPodDensity is whether a node takes as many pods as its interfaces have addresses. Nil is true.
	ENILimitedPodDensity *bool
}

// unlimitedDensity reports whether nodes took 110 pods whatever their interfaces.
func (s *LegacySettings) unlimitedDensity() bool {
	return s != nil && s.ENILimitedPodDensity != nil && !*s.ENILimitedPodDensity
}

// DefaultRequirements are what a webhook used to add to the requirements of a Provisioner on AWS, in its order. The slice
// is the caller's.
func DefaultRequirements() []v1alpha5.RequirementDefault {
	return append(v1alpha5.DefaultRequirements(), v1alpha5.RequirementDefault{
		Unless: []string{corev1.LabelInstanceTypeStable, awsv1.LabelInstanceFamily, awsv1.LabelInstanceCategory, awsv1.LabelInstanceGeneration},
		Add: []corev1.NodeSelectorRequirement{
			{Key: awsv1.LabelInstanceCategory, Operator: corev1.NodeSelectorOpIn, Values: []string{"c", "m", "r"}},
			{Key: awsv1.LabelInstanceGeneration, Operator: corev1.NodeSelectorOpGt, Values: []string{"2"}},
		},
	})
}

// ProvisionerOptions are the options of single Provisioners and Machines on AWS.
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

// NodeTemplateOptions are the options of single AWSNodeTemplates.
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

// NodePoolOptions are the options of single NodePools and NodeClaims on AWS.
func (o Options) NodePoolOptions() v1beta1.ConvertOptions {
	return v1beta1.ConvertOptions{
		NodeClass:       schema.GroupKind{Group: awsv1.Group, Kind: awsv1.KindEC2NodeClass},
		ReferenceCompat: o.ReferenceCompat, Force: o.Force,
	}
}

// NodeClassOptions are the options of single EC2NodeClasses.
func (o Options) NodeClassOptions() awsv1beta1.ConvertOptions {
	return awsv1beta1.ConvertOptions{ReferenceCompat: o.ReferenceCompat, Force: o.Force}
}
