package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	// Group is the API group of AWS's kinds.
	Group = "karpenter.k8s.aws"
	// Version is the version of EC2NodeClass in this package.
	Version = "v1beta1"
	// APIVersion is the apiVersion of an EC2NodeClass in this package.
	APIVersion = Group + "/" + Version
	// KindEC2NodeClass is the kind of EC2NodeClass.
	KindEC2NodeClass = "EC2NodeClass"
)

// GroupVersion returns the group and version of EC2NodeClass.
func GroupVersion() schema.GroupVersion { return schema.GroupVersion{Group: Group, Version: Version} }

// AddToScheme adds the kinds of this package to a scheme, so that clients and serialisers can read and write them.
func AddToScheme(scheme *runtime.Scheme) error {
	if scheme == nil {
		return field.Required(field.NewPath("scheme"), "give one")
	}
	scheme.AddKnownTypes(GroupVersion(), &EC2NodeClass{}, &EC2NodeClassList{})
	metav1.AddToGroupVersion(scheme, GroupVersion())
	return nil
}
