package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	// Group is the API group of CapacityBuffer.
	Group = "autoscaling.x-k8s.io"
	// Version is the version of this package.
	Version = "v1beta1"
	// APIVersion is what apiVersion reads in a CapacityBuffer.
	APIVersion = Group + "/" + Version
	// KindCapacityBuffer is the kind of CapacityBuffer.
	KindCapacityBuffer = "CapacityBuffer"
)

// GroupVersion returns the group and version of CapacityBuffer.
func GroupVersion() schema.GroupVersion { return schema.GroupVersion{Group: Group, Version: Version} }

// AddToScheme makes a scheme know CapacityBuffer, so that clients and serialisers built on it can read and write it.
func AddToScheme(scheme *runtime.Scheme) error {
	if scheme == nil {
		return field.Required(field.NewPath("scheme"), "give one")
	}
	scheme.AddKnownTypes(GroupVersion(), &CapacityBuffer{}, &CapacityBufferList{})
	metav1.AddToGroupVersion(scheme, GroupVersion())
	return nil
}
