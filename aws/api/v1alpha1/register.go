package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	// Group is the API group of AWS's kinds.
	Group = "karpenter.k8s.aws"
	// Version is the version of AWSNodeTemplate in this package.
	Version = "v1alpha1"
	// APIVersion is the apiVersion of an AWSNodeTemplate.
	APIVersion = Group + "/" + Version
	// KindAWSNodeTemplate is the kind of AWSNodeTemplate.
	KindAWSNodeTemplate = "AWSNodeTemplate"
)

// GroupVersion returns the group and version of AWSNodeTemplate.
func GroupVersion() schema.GroupVersion { return schema.GroupVersion{Group: Group, Version: Version} }

// AddToScheme adds the kinds of this package to a scheme, so that clients and serialisers can read and write them.
func AddToScheme(scheme *runtime.Scheme) error {
	if scheme == nil {
		return field.Required(field.NewPath("scheme"), "give one")
	}
	scheme.AddKnownTypes(GroupVersion(), &AWSNodeTemplate{}, &AWSNodeTemplateList{})
	metav1.AddToGroupVersion(scheme, GroupVersion())
	return nil
}
