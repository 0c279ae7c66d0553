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

// ConvertOptions are the options of a conversion. The zero value keeps the meaning.
type ConvertOptions struct {
	// ReferenceCompat produces the result of Karpenter's conversion webhook where it differs: see the package comment.
	ReferenceCompat bool
	// Force returns an object even if there are warnings of severity error. Without Force the object is nil in this case.
	Force bool
}

// ToV1 converts the node class to v1, and reports all changes. The node class should be valid (see Validate): its errors also appear in the
// result, and are reported as conversion.CodeResultInvalid. The result shares no memory with c. The result is nil if a warning has severity
// error and the options don't force a result.
//
// The kubelet block, which is part of the node class in v1, comes from the pools of the node class. This function does not convert the
// kubelet block.
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

// explicitMetadata writes every member explicitly, because the default hop limit differs in v1. With options.ReferenceCompat, a missing
// block becomes the defaults of v1.
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

// reservedInV1 reports whether v1 refuses the tag. Both generations refuse an empty key, so it is not dropped.
func reservedInV1(key string) bool {
	return strings.HasPrefix(key, strings.TrimSuffix(v1.TagClusterPrefix, "/")) ||
		slices.Contains([]string{v1.TagClusterName, v1.TagNodePool, v1.TagNodeClaim, v1.TagNodeClass}, key)
}

// withoutTags drops the tags that are reserved. It changes the given map.
func withoutTags(tags map[string]string, reserved func(string) bool, path *field.Path, warnings *conversion.Recorder) map[string]string {
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		if reserved(key) {
			delete(tags, key)
			warnings.Add(conversion.CodeTagReserved, path.Key(key), key)
		}
	}
	return tags
}

// FromV1 converts the node class to v1beta1, and reports all losses. The family Ubuntu is restored from the annotation. The result shares
// no memory with c. The result is nil if a warning has severity error and the options don't force a result.
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

// dropLaterFields reports the fields of v1 that are set and that v1beta1 does not have.
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
		{"creditSpecification", s.CreditSpecification != nil},
		{"networkPerformanceOptions", s.NetworkPerformanceOptions != nil},
		{"licenseSpecifications", len(s.LicenseSpecifications) > 0},
		{"placement", s.Placement != nil},
	} {
		if later.given {
			warnings.Add(conversion.CodeLaterFieldDropped, spec.Child(later.name), later.name)
		}
	}
}

// metadataFromHub writes every member explicitly, because the default hop limit differs in v1beta1.
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
