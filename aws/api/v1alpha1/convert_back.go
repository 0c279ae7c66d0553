package v1alpha1

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/drawknife/drawknife/api/conversion"
	v1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/api/v1beta1"
)

// residueSpec is where the node template's whole spec is kept: nearly all of it is said otherwise in a node class.
const residueSpec = "spec"

// Provenance is what the node template was born as, with what of it has no place in a node class. FromV1Beta1 puts that
// back. A provider that launches by the user's own launch template finds it there: see LaunchTemplateOf.
func (n *AWSNodeTemplate) Provenance() conversion.Provenance {
	out := conversion.Provenance{Source: GroupVersion().WithKind(KindAWSNodeTemplate), Name: n.Name}
	out.Keep(residueSpec, n.Spec)
	return out
}

// LaunchTemplateOf is the launch template that the node template named; empty when it named none or was none.
func LaunchTemplateOf(born conversion.Provenance) string {
	var spec AWSNodeTemplateSpec
	if !born.FirstGeneration() || !born.Restore(residueSpec, &spec) || spec.LaunchTemplate == nil {
		return ""
	}
	return *spec.LaunchTemplate
}

// FromV1 is from v1 to v1beta1 and on to the node template, with the warnings of both steps.
func FromV1(c *v1.EC2NodeClass, born conversion.Provenance, options ConvertOptions) (*AWSNodeTemplate, conversion.Warnings) {
	if c == nil {
		return nil, nil
	}
	beta, warnings := v1beta1.FromV1(c, options.beta())
	if beta == nil {
		return nil, warnings
	}
	out, more := FromV1Beta1(beta, born, options)
	return out, append(warnings, more...)
}

// FromV1Beta1 returns the node class as the node template it was born as, with all that was lost on the way: what was not
// changed since is as it was written. born is AWSNodeTemplate.Provenance of that object, or the zero value for a node
// class that never was one; options are those it was converted with. The result shares nothing with c. It is nil when a
// warning has severity error, unless options force it.
func FromV1Beta1(c *v1beta1.EC2NodeClass, born conversion.Provenance, options ConvertOptions) (*AWSNodeTemplate, conversion.Warnings) {
	if c == nil {
		return nil, nil
	}
	warnings := conversion.NewRecorder(v1beta1.KindEC2NodeClass, c.Name)
	in := c.DeepCopy()
	in.Default()
	spec := field.NewPath("spec")
	family := in.Spec.AMIFamily
	out := &AWSNodeTemplate{
		TypeMeta:   metav1.TypeMeta{APIVersion: APIVersion, Kind: KindAWSNodeTemplate},
		ObjectMeta: in.ObjectMeta,
		Spec: AWSNodeTemplateSpec{
			AWS: AWS{
				AMIFamily: &family, Context: in.Spec.Context, InstanceProfile: in.Spec.InstanceProfile, Tags: in.Spec.Tags,
				MetadataOptions: &MetadataOptions{
					HTTPEndpoint: in.Spec.MetadataOptions.HTTPEndpoint, HTTPProtocolIPv6: in.Spec.MetadataOptions.HTTPProtocolIPv6,
					HTTPPutResponseHopLimit: in.Spec.MetadataOptions.HTTPPutResponseHopLimit, HTTPTokens: in.Spec.MetadataOptions.HTTPTokens,
				},
			},
			UserData: in.Spec.UserData, DetailedMonitoring: in.Spec.DetailedMonitoring,
		},
		Status: AWSNodeTemplateStatus{Subnets: in.Status.Subnets, SecurityGroups: in.Status.SecurityGroups},
	}
	for _, ami := range in.Status.AMIs {
		out.Status.AMIs = append(out.Status.AMIs, AMI{ID: ami.ID, Name: ami.Name, Requirements: ami.Requirements})
	}
	kept := before(c.Name, born, options)
	back(in, out, kept, spec, warnings)
	for _, later := range []struct {
		name  string
		given bool
	}{
		{"associatePublicIPAddress", in.Spec.AssociatePublicIPAddress != nil},
		{"instanceStorePolicy", in.Spec.InstanceStorePolicy != nil},
	} {
		if later.given {
			warnings.Add(conversion.CodeNoCounterpart, spec.Child(later.name), later.name)
		}
	}
	warnings.AddInvalid(out.Validate())
	if warnings.Failed() && !options.Force {
		return nil, warnings.Warnings()
	}
	return out, warnings.Warnings()
}

// earlier is what the node template said, and what that gave.
type earlier struct {
	said *AWSNodeTemplateSpec
	gave *v1beta1.EC2NodeClass
}

// before converts once more what the node template said; nil when nobody knows.
func before(name string, born conversion.Provenance, options ConvertOptions) *earlier {
	node := &AWSNodeTemplate{}
	if !born.FirstGeneration() || !born.Restore(residueSpec, &node.Spec) {
		return nil
	}
	node.Name = name
	options.Force = true
	gave, _ := node.ToV1Beta1(options)
	gave.Default()
	return &earlier{said: &node.Spec, gave: gave}
}

// back puts in what a node class says otherwise: as it was written if it is still the same, else as well as can be.
func back(in *v1beta1.EC2NodeClass, out *AWSNodeTemplate, kept *earlier, spec *field.Path, warnings *conversion.Recorder) {
	same := func(part func(*v1beta1.EC2NodeClassSpec) any) bool {
		return kept != nil && equality.Semantic.DeepEqual(part(&in.Spec), part(&kept.gave.Spec))
	}
	if kept != nil {
		out.Spec.LaunchTemplate = kept.said.LaunchTemplate
	}
	if same(func(s *v1beta1.EC2NodeClassSpec) any { return s.AMIFamily }) {
		out.Spec.AMIFamily = kept.said.AMIFamily
	}
	if same(func(s *v1beta1.EC2NodeClassSpec) any { return []*string{s.Role, s.InstanceProfile} }) {
		out.Spec.InstanceProfile = kept.said.InstanceProfile
	} else if in.Spec.Role != nil {
		warnings.Add(conversion.CodeNoCounterpart, spec.Child("role"), "role")
	}
	if same(func(s *v1beta1.EC2NodeClassSpec) any { return s.Tags }) {
		out.Spec.Tags = kept.said.Tags
	}
	if same(func(s *v1beta1.EC2NodeClassSpec) any { return s.MetadataOptions }) {
		out.Spec.MetadataOptions = kept.said.MetadataOptions
	}
	if same(func(s *v1beta1.EC2NodeClassSpec) any { return s.BlockDeviceMappings }) {
		out.Spec.BlockDeviceMappings = kept.said.BlockDeviceMappings
	} else {
		out.Spec.BlockDeviceMappings = mappingsFromBeta(in.Spec.BlockDeviceMappings, spec.Child("blockDeviceMappings"), warnings)
	}
	if same(func(s *v1beta1.EC2NodeClassSpec) any { return s.SubnetSelectorTerms }) {
		out.Spec.SubnetSelector = kept.said.SubnetSelector
	} else {
		terms := make([]term, len(in.Spec.SubnetSelectorTerms))
		for i, t := range in.Spec.SubnetSelectorTerms {
			terms[i] = term{id: t.ID, tags: t.Tags}
		}
		out.Spec.SubnetSelector = collapse(terms, spec.Child("subnetSelectorTerms"), warnings)
	}
	if same(func(s *v1beta1.EC2NodeClassSpec) any { return s.SecurityGroupSelectorTerms }) {
		out.Spec.SecurityGroupSelector = kept.said.SecurityGroupSelector
	} else {
		terms := make([]term, len(in.Spec.SecurityGroupSelectorTerms))
		for i, t := range in.Spec.SecurityGroupSelectorTerms {
			if t.Name != "" {
				warnings.Add(conversion.CodeNotExpressible, spec.Child("securityGroupSelectorTerms").Index(i).Child("name"), "the name of a security group")
			}
			terms[i] = term{id: t.ID, tags: t.Tags}
		}
		out.Spec.SecurityGroupSelector = collapse(terms, spec.Child("securityGroupSelectorTerms"), warnings)
	}
	if same(func(s *v1beta1.EC2NodeClassSpec) any { return s.AMISelectorTerms }) {
		out.Spec.AMISelector = kept.said.AMISelector
	} else {
		terms := make([]term, len(in.Spec.AMISelectorTerms))
		for i, t := range in.Spec.AMISelectorTerms {
			terms[i] = term{id: t.ID, name: t.Name, owner: t.Owner, tags: t.Tags}
		}
		out.Spec.AMISelector = collapse(terms, spec.Child("amiSelectorTerms"), warnings)
	}
}

// collapse writes terms as one selector map: any number of ids, or one term of other things. A map can't say more.
func collapse(terms []term, path *field.Path, warnings *conversion.Recorder) map[string]string {
	if len(terms) == 0 {
		return nil
	}
	var ids []string
	for _, t := range terms {
		if t.id != "" {
			ids = append(ids, t.id)
		}
	}
	if len(ids) == len(terms) {
		return map[string]string{SelectorIDs: strings.Join(ids, ",")}
	}
	out := maps.Clone(terms[0].tags)
	if out == nil {
		out = make(map[string]string)
	}
	// A value with a comma in it means another thing there.
	comma := slices.ContainsFunc(slices.Collect(maps.Values(out)), func(v string) bool { return strings.Contains(v, ",") }) || strings.Contains(terms[0].name, ",")
	if len(terms) > 1 || comma {
		warnings.Add(conversion.CodeNotExpressible, path, "this list of terms")
	}
	if terms[0].name != "" {
		out[SelectorName] = terms[0].name
	}
	if terms[0].owner != "" {
		out[SelectorOwners] = terms[0].owner
	}
	return out
}

func mappingsFromBeta(mappings []v1beta1.BlockDeviceMapping, path *field.Path, warnings *conversion.Recorder) []BlockDeviceMapping {
	if mappings == nil {
		return nil
	}
	out := make([]BlockDeviceMapping, len(mappings))
	for i, m := range mappings {
		out[i] = BlockDeviceMapping{DeviceName: m.DeviceName, EBS: m.EBS.DeepCopy()}
		if m.RootVolume {
			warnings.Add(conversion.CodeNoCounterpart, path.Index(i).Child("rootVolume"), "rootVolume")
		}
	}
	return out
}
