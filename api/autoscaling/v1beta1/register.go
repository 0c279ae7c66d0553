package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	// Group is the API group of the kinds.
	Group = "autoscaling.x-k8s.io"
	// Version is the version of this package.
	Version = "v1beta1"
	// APIVersion is the apiVersion of the kinds.
	APIVersion = Group + "/" + Version
	// KindCapacityBuffer is the kind of CapacityBuffer.
	KindCapacityBuffer = "CapacityBuffer"
)

// GroupVersion returns the group and version of the kinds.
func GroupVersion() schema.GroupVersion { return schema.GroupVersion{Group: Group, Version: Version} }

// AddToScheme makes a scheme know the kinds of this version, so that clients and serialisers built on it can read and write it.
func AddToScheme(scheme *runtime.Scheme) error {
	if scheme == nil {
		return field.Required(field.NewPath("scheme"), "give one")
	}
	scheme.AddKnownTypes(GroupVersion(), &CapacityBuffer{}, &CapacityBufferList{}, &ProvisioningRequest{}, &ProvisioningRequestList{})
	metav1.AddToGroupVersion(scheme, GroupVersion())
	return nil
}
