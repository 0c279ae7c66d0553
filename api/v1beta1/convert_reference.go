package v1beta1

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/drawknife/drawknife/api/conversion"
	v1 "github.com/drawknife/drawknife/api/v1"
)

// hubReference returns the complete reference in v1, with the group instead of the apiVersion.
func hubReference(ref NodeClassReference, options ConvertOptions, path *field.Path, warnings *conversion.Recorder) v1.NodeClassReference {
	group, version, _ := strings.Cut(ref.APIVersion, "/")
	out := v1.NodeClassReference{Group: group, Kind: ref.Kind, Name: ref.Name}
	if out.Group == "" {
		out.Group = options.NodeClass.Group
	}
	if out.Kind == "" {
		out.Kind = options.NodeClass.Kind
	}
	if out.Group != group || out.Kind != ref.Kind {
		warnings.Add(conversion.CodeReferenceCompleted, path, out.Group, out.Kind)
	}
	// The conversion back writes the version that versionOf returns. Any other version of the reference is lost, unless the object's
	// annotation contains it.
	if ref.APIVersion != "" && version != versionOf(group) && !options.ReferenceCompat {
		warnings.Add(conversion.CodeReferenceVersionDropped, path.Child("apiVersion"), ref.APIVersion)
	}
	return out
}

// referenceFromHub returns the reference in v1beta1: the reference in the annotation if it still names the same object, otherwise a
// reference made from ref.
func referenceFromHub(ref v1.NodeClassReference, annotations map[string]string, options ConvertOptions, warnings *conversion.Recorder) NodeClassReference {
	out := NodeClassReference{Kind: ref.Kind, Name: ref.Name}
	if !options.ReferenceCompat && ref.Group != "" {
		out.APIVersion = ref.Group + "/" + versionOf(ref.Group)
	}
	text, ok := annotations[NodeClassReferenceAnnotationKey]
	if !ok {
		return out
	}
	var kept NodeClassReference
	if err := json.Unmarshal([]byte(text), &kept); err != nil {
		warnings.Add(conversion.CodeAnnotationMalformed, annotationPath(NodeClassReferenceAnnotationKey), err.Error())
		return out
	}
	group, _, _ := strings.Cut(kept.APIVersion, "/")
	if kept.Name == ref.Name && (kept.Kind == "" || kept.Kind == ref.Kind) && (group == "" || group == ref.Group) {
		return kept
	}
	return out
}

// autoModeGroup is the API group of EKS Auto Mode's NodeClass, whose first version is v1.
const autoModeGroup = "eks.amazonaws.com"

// versionOf returns the version in which a pool of v1beta1 refers to node classes of the group.
func versionOf(group string) string {
	if group == autoModeGroup {
		return v1.Version
	}
	return Version
}

// annotate stores in annotations the fields that v1 does not have. It changes the given map, or makes one if it is nil.
func annotate(annotations map[string]string, spec *NodeClaimSpec, options ConvertOptions) (map[string]string, error) {
	kept := make(map[string]string)
	if spec.Kubelet != nil {
		text, err := json.Marshal(spec.Kubelet)
		if err != nil {
			return annotations, fmt.Errorf("kubelet: %w", err)
		}
		kept[KubeletAnnotationKey] = string(text)
	}
	if options.ReferenceCompat {
		text, err := json.Marshal(spec.NodeClassRef)
		if err != nil {
			return annotations, fmt.Errorf("nodeClassRef: %w", err)
		}
		kept[NodeClassReferenceAnnotationKey] = string(text)
	}
	if len(kept) == 0 {
		return annotations, nil
	}
	if annotations == nil {
		return kept, nil
	}
	maps.Copy(annotations, kept)
	return annotations, nil
}

// kubeletFromHub returns the kubelet block in the annotation, or nil if the annotation is missing.
func kubeletFromHub(annotations map[string]string, warnings *conversion.Recorder) *KubeletConfiguration {
	text, ok := annotations[KubeletAnnotationKey]
	if !ok {
		return nil
	}
	kubelet := &KubeletConfiguration{}
	if err := json.Unmarshal([]byte(text), kubelet); err != nil {
		warnings.Add(conversion.CodeAnnotationMalformed, annotationPath(KubeletAnnotationKey), err.Error())
		return nil
	}
	return kubelet
}

// withoutCompatibility removes the annotations with fields of v1beta1. It changes the given map, and returns nil if the map is then empty.
func withoutCompatibility(annotations map[string]string) map[string]string {
	before := len(annotations)
	delete(annotations, KubeletAnnotationKey)
	delete(annotations, NodeClassReferenceAnnotationKey)
	if len(annotations) == 0 && before > 0 {
		return nil
	}
	return annotations
}

func annotationPath(key string) *field.Path { return field.NewPath("metadata", "annotations").Key(key) }
