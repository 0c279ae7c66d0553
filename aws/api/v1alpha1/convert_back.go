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

// residueSpec is the key under which the node template's whole spec is kept, because nearly all of it has another form in a node class.
const residueSpec = "spec"

// Provenance describes the node template as it was created, including the parts that a node class can't represent. FromV1Beta1 restores
// them. It contains the name of the user's own launch template, which a provider may launch with: see LaunchTemplateOf.
func (n *AWSNodeTemplate) Provenance() conversion.Provenance {
	out := conversion.Provenance{Source: GroupVersion().WithKind(KindAWSNodeTemplate), Name: n.Name}
	out.Keep(residueSpec, n.Spec)
	return out
}

// LaunchTemplateOf returns the launch template that the node template named; empty if it named none, or if there was no node template.
func LaunchTemplateOf(born conversion.Provenance) string {
	var spec AWSNodeTemplateSpec
	if !born.FirstGeneration() || !born.Restore(residueSpec, &spec) || spec.LaunchTemplate == nil {
		return ""
	}
	return *spec.LaunchTemplate
}

// FromV1 converts from v1 to v1beta1 and then to the node template, with the warnings of both steps.
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

// FromV1Beta1 converts the node class back to the node template from which it was created, and reports all losses. Parts that have not
// changed are as they were written. born is AWSNodeTemplate.Provenance of that node template, or the zero value if there was none; options
// are those of the original conversion. The result shares no memory with c. The result is nil if a warning has severity error and the
// options don't force a result.
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

// earlier contains the original node template in the field said. The field gave is the node class that the template was converted to.
type earlier struct {
	said *AWSNodeTemplateSpec
	gave *v1beta1.EC2NodeClass
}

// before repeats the conversion of the original node template. It returns nil if the object was not converted from a node template.
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

// back restores the parts that have another form in a node class. Parts that have not changed are restored as they were written, changed
// parts as exactly as possible.
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

// collapse converts terms to one selector map: any number of ids, or one term with other conditions. A selector map can't express any other
// list of terms.
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
	// In a selector map, a comma separates values, so a single value that contains a comma can't be written.
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
