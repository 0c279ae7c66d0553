package v1alpha1

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/drawknife/drawknife/api/conversion"
	v1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/api/v1beta1"
)

// beta returns the options for converting between v1beta1 and v1.
func (o ConvertOptions) beta() v1beta1.ConvertOptions {
	return v1beta1.ConvertOptions{ReferenceCompat: o.ReferenceCompat, Force: o.Force}
}

// ToV1 converts to v1beta1 and from there to v1, with the warnings of both steps. Terms that the API refuses are reported once.
func (n *AWSNodeTemplate) ToV1(options ConvertOptions) (*v1.EC2NodeClass, conversion.Warnings) {
	beta, warnings := n.ToV1Beta1(options)
	if beta == nil {
		return nil, warnings
	}
	hub, more := beta.ToV1(options.beta())
	told := func(w conversion.Warning) bool {
		return w.Code == conversion.CodeReferenceRefused && slices.ContainsFunc(warnings, func(o conversion.Warning) bool { return o.Code == w.Code && o.Path == w.Path })
	}
	return hub, append(warnings, slices.DeleteFunc(more, told)...)
}

// ToV1Beta1 converts the node template to a node class, and reports all changes. The node template should be valid (see Validate): its
// errors also appear in the result, and are reported as conversion.CodeResultInvalid. The result shares no memory with n. The result is nil
// if a warning has severity error and the options don't force a result. All such warnings are reported at once.
func (n *AWSNodeTemplate) ToV1Beta1(options ConvertOptions) (*v1beta1.EC2NodeClass, conversion.Warnings) {
	warnings := conversion.NewRecorder(KindAWSNodeTemplate, n.Name)
	in := n.DeepCopy()
	spec := field.NewPath("spec")
	out := &v1beta1.EC2NodeClass{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1beta1.APIVersion, Kind: v1beta1.KindEC2NodeClass},
		ObjectMeta: in.ObjectMeta,
		Spec: v1beta1.EC2NodeClassSpec{
			UserData:           in.Spec.UserData,
			DetailedMonitoring: in.Spec.DetailedMonitoring,
			Context:            in.Spec.Context,
		},
		Status: v1beta1.EC2NodeClassStatus{Subnets: in.Status.Subnets, SecurityGroups: in.Status.SecurityGroups},
	}
	for _, ami := range in.Status.AMIs {
		out.Status.AMIs = append(out.Status.AMIs, v1beta1.AMI{ID: ami.ID, Name: ami.Name, Requirements: ami.Requirements})
	}
	if in.Spec.LaunchTemplate != nil {
		warnings.Add(conversion.CodeLaunchTemplate, spec.Child("launchTemplate"), *in.Spec.LaunchTemplate)
	}
	out.Spec.AMIFamily = v1beta1.AMIFamilyAL2
	if in.Spec.AMIFamily != nil && *in.Spec.AMIFamily != "" {
		out.Spec.AMIFamily = *in.Spec.AMIFamily
	} else {
		warnings.Add(conversion.CodeFamilyDefaulted, spec.Child("amiFamily"))
	}
	identityToBeta(in, out, options, warnings)
	out.Spec.SubnetSelectorTerms = subnetTerms(expand(in.Spec.SubnetSelector, subnets, options, spec.Child("subnetSelector"), warnings))
	out.Spec.SecurityGroupSelectorTerms = groupTerms(expand(in.Spec.SecurityGroupSelector, groups, options, spec.Child("securityGroupSelector"), warnings))
	out.Spec.AMISelectorTerms = imageTerms(expand(in.Spec.AMISelector, images, options, spec.Child("amiSelector"), warnings))
	if len(in.Spec.AMISelector) > 0 {
		warnings.Add(conversion.CodeImageTags, spec.Child("amiSelector"))
	}
	out.Spec.Tags = tagsToBeta(in.Spec.Tags, options, spec.Child("tags"), warnings)
	out.Spec.MetadataOptions = metadataToBeta(in.Spec.MetadataOptions, options, spec.Child("metadataOptions"), warnings)
	out.Spec.BlockDeviceMappings = mappingsToBeta(in.Spec.BlockDeviceMappings, options, spec.Child("blockDeviceMappings"), warnings)
	if options.ReferenceCompat {
		warnings.AddReferenceInvalid(out.Validate())
	} else {
		warnings.AddInvalid(out.Validate())
	}
	if warnings.Failed() && !options.Force {
		return nil, warnings.Warnings()
	}
	return out, warnings.Warnings()
}

// identityToBeta keeps the instance profile if Identity is IdentityKeep, and otherwise writes the role of the options. This function can't
// find out the role of a profile.
func identityToBeta(in *AWSNodeTemplate, out *v1beta1.EC2NodeClass, options ConvertOptions, warnings *conversion.Recorder) {
	path := field.NewPath("spec", "instanceProfile")
	profile := options.DefaultInstanceProfile
	if in.Spec.InstanceProfile != nil && *in.Spec.InstanceProfile != "" {
		profile = *in.Spec.InstanceProfile
	}
	if options.Identity == IdentityKeep {
		if profile != "" {
			out.Spec.InstanceProfile = &profile
			warnings.Add(conversion.CodeProfileKept, path, profile)
		}
		return
	}
	role := options.role()
	out.Spec.Role = &role
	if strings.HasPrefix(role, "$") {
		if profile == "" {
			profile = "(that of the global settings)"
		}
		warnings.Add(conversion.CodeRolePlaceholder, path, role, profile)
	}
}

// tagsToBeta returns the tags in own and the tags of options.GlobalTags whose keys own lacks. It leaves out tags that some release of
// v1beta1 refuses.
func tagsToBeta(own map[string]string, options ConvertOptions, path *field.Path, warnings *conversion.Recorder) map[string]string {
	out := maps.Clone(own)
	var merged []string
	for _, key := range slices.Sorted(maps.Keys(options.GlobalTags)) {
		if _, taken := own[key]; taken {
			continue
		}
		if out == nil {
			out = make(map[string]string)
		}
		out[key] = options.GlobalTags[key]
		merged = append(merged, key)
	}
	if len(merged) > 0 {
		warnings.Add(conversion.CodeGlobalTags, path, strings.Join(merged, ", "))
	}
	for _, key := range slices.Sorted(maps.Keys(out)) {
		if reservedInBeta(key) {
			delete(out, key)
			warnings.Add(conversion.CodeTagReserved, path.Key(key), key)
		}
	}
	return out
}

// reservedInBeta reports whether some release of v1beta1 refuses the tag.
func reservedInBeta(key string) bool {
	return strings.HasPrefix(key, strings.TrimSuffix(v1.TagClusterPrefix, "/")) ||
		slices.Contains([]string{v1.TagNodePool, v1.TagNodeClaim, v1.TagNodeClass, tagManagedBy, tagProvisioner}, key)
}

// metadataToBeta writes explicitly the members that a block leaves to EC2, because the defaults of later schemas differ. With
// options.ReferenceCompat it leaves them out.
func metadataToBeta(o *MetadataOptions, options ConvertOptions, path *field.Path, warnings *conversion.Recorder) *v1beta1.MetadataOptions {
	if o == nil {
		return nil
	}
	o = o.DeepCopy()
	out := &v1beta1.MetadataOptions{
		HTTPEndpoint: o.HTTPEndpoint, HTTPProtocolIPv6: o.HTTPProtocolIPv6, HTTPPutResponseHopLimit: o.HTTPPutResponseHopLimit,
		HTTPTokens: o.HTTPTokens,
	}
	if options.ReferenceCompat {
		return out
	}
	endpoint, ipv6, hops, tokens := v1.Enabled, v1.Disabled, int64(1), v1.HTTPTokensOptional
	explicit := func(member, value string) {
		warnings.Add(conversion.CodeMetadataExplicit, path.Child(member), member, value)
	}
	if out.HTTPEndpoint == nil {
		out.HTTPEndpoint = &endpoint
		explicit("httpEndpoint", string(endpoint))
	}
	if out.HTTPProtocolIPv6 == nil {
		out.HTTPProtocolIPv6 = &ipv6
		explicit("httpProtocolIPv6", string(ipv6))
	}
	if out.HTTPPutResponseHopLimit == nil {
		out.HTTPPutResponseHopLimit = &hops
		explicit("httpPutResponseHopLimit", strconv.FormatInt(hops, 10))
	}
	if out.HTTPTokens == nil {
		out.HTTPTokens = &tokens
		explicit("httpTokens", string(tokens))
	}
	return out
}

func mappingsToBeta(mappings []BlockDeviceMapping, options ConvertOptions, path *field.Path, warnings *conversion.Recorder) []v1beta1.BlockDeviceMapping {
	if mappings == nil {
		return nil
	}
	out := make([]v1beta1.BlockDeviceMapping, len(mappings))
	for i := range mappings {
		m := mappings[i].DeepCopy()
		out[i] = v1beta1.BlockDeviceMapping{DeviceName: m.DeviceName, EBS: m.EBS}
		if m.EBS == nil || m.EBS.VolumeSize == nil || options.ReferenceCompat {
			continue
		}
		before := m.EBS.VolumeSize.String()
		size, ok := volumeSize(before, *m.EBS.VolumeSize)
		if !ok || size.String() == before {
			continue
		}
		out[i].EBS.VolumeSize = &size
		warnings.Add(conversion.CodeVolumeSize, path.Index(i).Child("ebs", "volumeSize"), before, size.String())
	}
	return out
}

// sizeForm is the form of a size that every release accepts.
var sizeForm = regexp.MustCompile(`^[0-9]+(Gi|G|Ti|T)$`)

// volumeSize converts the size to a unit that the API accepts: to G if the size is a whole number of G but not of Gi, otherwise to Gi,
// rounded up. It returns false for invalid sizes, which validation refuses.
func volumeSize(text string, size apiresource.Quantity) (apiresource.Quantity, bool) {
	if sizeForm.MatchString(text) {
		return size, true
	}
	const largest = 1 << 50
	// A size with a huge exponent is invalid, and comparing it would write out its digits.
	const mostExponent = 30
	scaled := size.DeepCopy()
	if scale := scaled.AsDec().Scale(); scale < -mostExponent || scale > mostExponent {
		return size, false
	}
	limit := *apiresource.NewQuantity(largest, apiresource.BinarySI)
	if size.Sign() <= 0 || size.Cmp(limit) > 0 {
		return size, false
	}
	const gi, g = int64(1 << 30), int64(1_000_000_000)
	bytes := size.Value()
	exact := size.Cmp(*apiresource.NewQuantity(bytes, apiresource.BinarySI)) == 0
	unit, name := gi, "Gi"
	if exact && bytes%gi != 0 && bytes%g == 0 {
		unit, name = g, "G"
	}
	out, err := apiresource.ParseQuantity(strconv.FormatInt((bytes+unit-1)/unit, 10) + name)
	return out, err == nil
}
