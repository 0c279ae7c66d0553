package v1beta1

import (
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/drawknife/drawknife/api/conversion"
	v1 "github.com/drawknife/drawknife/aws/api/v1"
)

// ConvertOptions steer a conversion. The zero value asks for the meaning to be kept.
type ConvertOptions struct {
	// ReferenceCompat asks for what Karpenter's conversion webhook gives, where that is something else: see the package.
	ReferenceCompat bool
	// Force gives an object even though there are warnings of severity error. Without it the object is nil then.
	Force bool
}

// ToV1 returns the node class in v1 with all that changed on the way. It should be valid (see Validate): what is wrong with
// it is found wrong again in the result, as conversion.CodeResultInvalid. The result shares nothing with c. It is nil when
// a warning has severity error, unless options force it.
//
// The kubelet block, which v1 keeps here, comes from pools that refer to the node class, and is not this function's
// business.
func (c *EC2NodeClass) ToV1(options ConvertOptions) (*v1.EC2NodeClass, conversion.Warnings) {
	warnings := conversion.NewRecorder(KindEC2NodeClass, c.Name)
	in := c.DeepCopy()
	spec := field.NewPath("spec")
	out := &v1.EC2NodeClass{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1.APIVersion, Kind: v1.KindEC2NodeClass},
		ObjectMeta: in.ObjectMeta,
		Spec: v1.EC2NodeClassSpec{
			SubnetSelectorTerms:        in.Spec.SubnetSelectorTerms,
			SecurityGroupSelectorTerms: in.Spec.SecurityGroupSelectorTerms,
			UserData:                   in.Spec.UserData,
			Role:                       in.Spec.Role,
			InstanceProfile:            in.Spec.InstanceProfile,
			AssociatePublicIPAddress:   in.Spec.AssociatePublicIPAddress,
			Tags:                       withoutTags(in.Spec.Tags, reservedInV1, spec.Child("tags"), warnings),
			BlockDeviceMappings:        hubMappings(in.Spec.BlockDeviceMappings),
			InstanceStorePolicy:        in.Spec.InstanceStorePolicy,
			DetailedMonitoring:         in.Spec.DetailedMonitoring,
			MetadataOptions:            explicitMetadata(in.Spec.MetadataOptions, options, spec.Child("metadataOptions"), warnings),
			Context:                    in.Spec.Context,
		},
		Status: v1.EC2NodeClassStatus{
			Subnets: in.Status.Subnets, SecurityGroups: in.Status.SecurityGroups, InstanceProfile: in.Status.InstanceProfile,
			Conditions: in.Status.Conditions,
		},
	}
	if in.Status.AMIs != nil {
		out.Status.AMIs = make([]v1.AMI, len(in.Status.AMIs))
	}
	for i, ami := range in.Status.AMIs {
		out.Status.AMIs[i] = v1.AMI{ID: ami.ID, Name: ami.Name, Requirements: ami.Requirements}
	}
	hubImages(in, out, spec, warnings)
	if in.Spec.AssociatePublicIPAddress == nil {
		warnings.Add(conversion.CodePublicAddress, spec.Child("associatePublicIPAddress"))
	}
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

// explicitMetadata writes every member out, since v1's default of one of them is another.
func explicitMetadata(o *MetadataOptions, options ConvertOptions, path *field.Path, warnings *conversion.Recorder) *v1.MetadataOptions {
	if o == nil && options.ReferenceCompat {
		return v1.DefaultMetadataOptions()
	}
	if o == nil || o.HTTPPutResponseHopLimit == nil {
		warnings.Add(conversion.CodeHopLimitKept, path.Child("httpPutResponseHopLimit"))
	}
	class := EC2NodeClass{Spec: EC2NodeClassSpec{MetadataOptions: o.DeepCopy()}}
	class.Default()
	return hubMetadata(class.Spec.MetadataOptions)
}

// reservedInV1 reports whether v1 refuses the tag. An empty key is refused by both generations, and no tag to drop.
func reservedInV1(key string) bool {
	return strings.HasPrefix(key, strings.TrimSuffix(v1.TagClusterPrefix, "/")) ||
		slices.Contains([]string{v1.TagClusterName, v1.TagNodePool, v1.TagNodeClaim, v1.TagNodeClass}, key)
}

// withoutTags drops the tags that are reserved. The map given is changed.
func withoutTags(tags map[string]string, reserved func(string) bool, path *field.Path, warnings *conversion.Recorder) map[string]string {
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		if reserved(key) {
			delete(tags, key)
			warnings.Add(conversion.CodeTagReserved, path.Key(key), key)
		}
	}
	return tags
}

// FromV1 returns the node class in v1beta1 with all that was lost on the way. The family Ubuntu comes from the annotation
// that remembers it. The result shares nothing with c. It is nil when a warning has severity error, unless options force
// it.
func FromV1(c *v1.EC2NodeClass, options ConvertOptions) (*EC2NodeClass, conversion.Warnings) {
	if c == nil {
		return nil, nil
	}
	warnings := conversion.NewRecorder(v1.KindEC2NodeClass, c.Name)
	in := c.DeepCopy()
	spec := field.NewPath("spec")
	out := &EC2NodeClass{
		TypeMeta:   metav1.TypeMeta{APIVersion: APIVersion, Kind: KindEC2NodeClass},
		ObjectMeta: in.ObjectMeta,
		Spec: EC2NodeClassSpec{
			SubnetSelectorTerms:        in.Spec.SubnetSelectorTerms,
			SecurityGroupSelectorTerms: in.Spec.SecurityGroupSelectorTerms,
			UserData:                   in.Spec.UserData,
			Role:                       in.Spec.Role,
			InstanceProfile:            in.Spec.InstanceProfile,
			AssociatePublicIPAddress:   in.Spec.AssociatePublicIPAddress,
			Tags:                       withoutTags(in.Spec.Tags, reservedTag, spec.Child("tags"), warnings),
			BlockDeviceMappings:        mappingsFromHub(in.Spec.BlockDeviceMappings, spec.Child("blockDeviceMappings"), warnings),
			InstanceStorePolicy:        in.Spec.InstanceStorePolicy,
			DetailedMonitoring:         in.Spec.DetailedMonitoring,
			MetadataOptions:            metadataFromHub(in.Spec.MetadataOptions, spec.Child("metadataOptions"), warnings),
			Context:                    in.Spec.Context,
		},
		Status: EC2NodeClassStatus{
			Subnets: in.Status.Subnets, SecurityGroups: in.Status.SecurityGroups, InstanceProfile: in.Status.InstanceProfile,
			Conditions: in.Status.Conditions,
		},
	}
	if in.Status.AMIs != nil {
		out.Status.AMIs = make([]AMI, len(in.Status.AMIs))
	}
	for i, ami := range in.Status.AMIs {
		out.Status.AMIs[i] = AMI{ID: ami.ID, Name: ami.Name, Requirements: ami.Requirements}
	}
	imagesFromHub(in, out, spec, warnings)
	dropLaterFields(&in.Spec, spec, warnings)
	warnings.AddInvalid(out.Validate())
	if warnings.Failed() && !options.Force {
		return nil, warnings.Warnings()
	}
	return out, warnings.Warnings()
}

// dropLaterFields says which fields of v1 were given and have no place.
func dropLaterFields(s *v1.EC2NodeClassSpec, spec *field.Path, warnings *conversion.Recorder) {
	for _, later := range []struct {
		name  string
		given bool
	}{
		{"capacityReservationSelectorTerms", len(s.CapacityReservationSelectorTerms) > 0},
		{"placementGroupSelector", s.PlacementGroupSelector != nil},
		{"ipPrefixCount", s.IPPrefixCount != nil},
		{"networkInterfaces", len(s.NetworkInterfaces) > 0},
		{"connectionTracking", s.ConnectionTracking != nil},
		{"kubelet", s.Kubelet != nil},
		{"cpuOptions", s.CPUOptions != nil},
	} {
		if later.given {
			warnings.Add(conversion.CodeLaterFieldDropped, spec.Child(later.name), later.name)
		}
	}
}

// metadataFromHub writes every member out, since the default of one of them is another.
func metadataFromHub(o *v1.MetadataOptions, path *field.Path, warnings *conversion.Recorder) *MetadataOptions {
	if o == nil || o.HTTPPutResponseHopLimit == nil {
		warnings.Add(conversion.CodeShortHopLimitKept, path.Child("httpPutResponseHopLimit"))
	}
	class := v1.EC2NodeClass{Spec: v1.EC2NodeClassSpec{MetadataOptions: o.DeepCopy()}}
	class.Default()
	options := class.Spec.MetadataOptions
	return &MetadataOptions{
		HTTPEndpoint: options.HTTPEndpoint, HTTPProtocolIPv6: options.HTTPProtocolIPv6,
		HTTPPutResponseHopLimit: options.HTTPPutResponseHopLimit, HTTPTokens: options.HTTPTokens,
	}
}
