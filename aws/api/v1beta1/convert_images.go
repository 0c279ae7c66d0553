package v1beta1

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/drawknife/drawknife/api/conversion"
	v1 "github.com/drawknife/drawknife/aws/api/v1"
)

// hubImages converts the images to v1: a class without terms gets an alias for the images that AWS publishes for the family.
func hubImages(in *EC2NodeClass, out *v1.EC2NodeClass, spec *field.Path, warnings *conversion.Recorder) {
	family := spec.Child("amiFamily")
	out.Spec.AMISelectorTerms = hubTerms(in.Spec.AMISelectorTerms)
	switch in.Spec.AMIFamily {
	case AMIFamilyUbuntu:
		hubUbuntu(out, family, warnings)
	case AMIFamilyCustom, "":
		out.Spec.AMIFamily = v1.AMIFamilyCustom
		warnings.Add(conversion.CodeCustomUserData, spec.Child("userData"))
	default:
		if len(in.Spec.AMISelectorTerms) > 0 || !slices.Contains(AMIFamilies(), in.Spec.AMIFamily) {
			out.Spec.AMIFamily = v1.AMIFamily(in.Spec.AMIFamily)
			return
		}
		alias := v1.Alias{Family: v1.AMIFamily(in.Spec.AMIFamily), Version: v1.AliasVersionLatest}
		if version, ok := out.Annotations[AliasVersionAnnotationKey]; ok {
			alias.Version = version
			out.Annotations = without(out.Annotations, AliasVersionAnnotationKey)
		}
		out.Spec.AMISelectorTerms = []v1.AMISelectorTerm{{Alias: alias.String()}}
		warnings.Add(conversion.CodeAlias, family, alias.String())
	}
}

// hubUbuntu converts Ubuntu to AL2, whose user data has the same format. It adds Ubuntu's default volume if the class has no volumes, and a
// placeholder image if it selects no images; an annotation records what was added.
func hubUbuntu(out *v1.EC2NodeClass, path *field.Path, warnings *conversion.Recorder) {
	out.Spec.AMIFamily = v1.AMIFamilyAL2
	made := []string{UbuntuCompatibilityAMIFamily}
	if len(out.Spec.BlockDeviceMappings) == 0 {
		out.Spec.BlockDeviceMappings = ubuntuMappings()
		made = append(made, UbuntuCompatibilityBlockDeviceMappings)
	}
	if len(out.Spec.AMISelectorTerms) == 0 {
		out.Spec.AMISelectorTerms = []v1.AMISelectorTerm{{ID: UbuntuPlaceholderAMI}}
		made = append(made, UbuntuCompatibilityIncompatible)
		warnings.Add(conversion.CodeUbuntuWithoutImages, path)
	} else {
		warnings.Add(conversion.CodeUbuntu, path)
	}
	if out.Annotations == nil {
		out.Annotations = make(map[string]string)
	}
	out.Annotations[UbuntuAnnotationKey] = strings.Join(made, ",")
}

func ubuntuMappings() []v1.BlockDeviceMapping {
	device, encrypted, kind, size := "/dev/sda1", true, v1.VolumeTypeGP3, resource.MustParse("20Gi")
	return []v1.BlockDeviceMapping{{
		DeviceName: &device, RootVolume: true,
		EBS: &v1.BlockDevice{Encrypted: &encrypted, VolumeType: &kind, VolumeSize: &size},
	}}
}

// imagesFromHub converts the images to v1beta1: an alias becomes its family, and an annotation restores Ubuntu.
func imagesFromHub(in *v1.EC2NodeClass, out *EC2NodeClass, spec *field.Path, warnings *conversion.Recorder) {
	terms := spec.Child("amiSelectorTerms")
	out.Spec.AMIFamily = AMIFamily(in.Spec.AMIFamily)
	if ubuntu, ok := in.Annotations[UbuntuAnnotationKey]; ok {
		made := strings.Split(ubuntu, ",")
		out.Annotations = without(out.Annotations, UbuntuAnnotationKey)
		if slices.Contains(made, UbuntuCompatibilityAMIFamily) && in.Spec.AMIFamily == v1.AMIFamilyAL2 {
			out.Spec.AMIFamily = AMIFamilyUbuntu
		}
		// Remove the default volume and the placeholder image only if they are unchanged.
		if slices.Contains(made, UbuntuCompatibilityBlockDeviceMappings) && equality.Semantic.DeepEqual(in.Spec.BlockDeviceMappings, ubuntuMappings()) {
			out.Spec.BlockDeviceMappings = nil
		}
		if slices.Contains(made, UbuntuCompatibilityIncompatible) && len(in.Spec.AMISelectorTerms) == 1 && in.Spec.AMISelectorTerms[0].ID == UbuntuPlaceholderAMI {
			return
		}
	}
	alias, ok := in.Spec.Alias()
	if ok && in.Spec.AMIFamily != v1.AMIFamilyCustom {
		out.Spec.AMIFamily = AMIFamily(alias.Family)
		if alias.Version != v1.AliasVersionLatest {
			if out.Annotations == nil {
				out.Annotations = make(map[string]string)
			}
			out.Annotations[AliasVersionAnnotationKey] = alias.Version
			warnings.Add(conversion.CodeAliasVersionKept, terms.Index(0).Child("alias"), alias.Version)
		}
		return
	}
	out.Spec.AMISelectorTerms = termsFromHub(in.Spec.AMISelectorTerms, terms, warnings)
}

// without removes key from annotations. It changes the given map, and returns nil if the map is then empty.
func without(annotations map[string]string, key string) map[string]string {
	delete(annotations, key)
	if len(annotations) == 0 {
		return nil
	}
	return annotations
}

func hubTerms(terms []AMISelectorTerm) []v1.AMISelectorTerm {
	if terms == nil {
		return nil
	}
	out := make([]v1.AMISelectorTerm, len(terms))
	for i, t := range terms {
		out[i] = v1.AMISelectorTerm{Tags: t.Tags, ID: t.ID, Name: t.Name, Owner: t.Owner}
	}
	return out
}

// termsFromHub converts terms and leaves out their alias and ssmParameter, which v1beta1 lacks. Validation refuses terms that become empty.
func termsFromHub(terms []v1.AMISelectorTerm, path *field.Path, warnings *conversion.Recorder) []AMISelectorTerm {
	if terms == nil {
		return nil
	}
	out := make([]AMISelectorTerm, len(terms))
	for i, t := range terms {
		out[i] = AMISelectorTerm{Tags: t.Tags, ID: t.ID, Name: t.Name, Owner: t.Owner}
		if t.Alias != "" {
			warnings.Add(conversion.CodeLaterFieldDropped, path.Index(i).Child("alias"), "alias")
		}
		if t.SSMParameter != "" {
			warnings.Add(conversion.CodeLaterFieldDropped, path.Index(i).Child("ssmParameter"), "ssmParameter")
		}
	}
	return out
}

func hubMappings(mappings []BlockDeviceMapping) []v1.BlockDeviceMapping {
	if mappings == nil {
		return nil
	}
	out := make([]v1.BlockDeviceMapping, len(mappings))
	for i := range mappings {
		m := mappings[i].DeepCopy()
		out[i] = v1.BlockDeviceMapping{DeviceName: m.DeviceName, RootVolume: m.RootVolume}
		if m.EBS != nil {
			out[i].EBS = &v1.BlockDevice{
				DeleteOnTermination: m.EBS.DeleteOnTermination, Encrypted: m.EBS.Encrypted, IOPS: m.EBS.IOPS,
				KMSKeyID: m.EBS.KMSKeyID, SnapshotID: m.EBS.SnapshotID, Throughput: m.EBS.Throughput,
				VolumeSize: m.EBS.VolumeSize, VolumeType: m.EBS.VolumeType,
			}
		}
	}
	return out
}

func mappingsFromHub(mappings []v1.BlockDeviceMapping, path *field.Path, warnings *conversion.Recorder) []BlockDeviceMapping {
	if mappings == nil {
		return nil
	}
	out := make([]BlockDeviceMapping, len(mappings))
	for i := range mappings {
		m := mappings[i].DeepCopy()
		out[i] = BlockDeviceMapping{DeviceName: m.DeviceName, RootVolume: m.RootVolume}
		if m.EBS == nil {
			continue
		}
		out[i].EBS = &BlockDevice{
			DeleteOnTermination: m.EBS.DeleteOnTermination, Encrypted: m.EBS.Encrypted, IOPS: m.EBS.IOPS,
			KMSKeyID: m.EBS.KMSKeyID, SnapshotID: m.EBS.SnapshotID, Throughput: m.EBS.Throughput,
			VolumeSize: m.EBS.VolumeSize, VolumeType: m.EBS.VolumeType,
		}
		if m.EBS.VolumeInitializationRate != nil {
			warnings.Add(conversion.CodeLaterFieldDropped, path.Index(i).Child("ebs", "volumeInitializationRate"), "volumeInitializationRate")
		}
	}
	return out
}

func hubMetadata(o *MetadataOptions) *v1.MetadataOptions {
	if o == nil {
		return nil
	}
	copied := o.DeepCopy()
	return &v1.MetadataOptions{
		HTTPEndpoint: copied.HTTPEndpoint, HTTPProtocolIPv6: copied.HTTPProtocolIPv6,
		HTTPPutResponseHopLimit: copied.HTTPPutResponseHopLimit, HTTPTokens: copied.HTTPTokens,
	}
}
