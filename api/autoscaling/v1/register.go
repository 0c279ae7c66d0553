package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	// Group is the API group of ProvisioningRequest.
	Group = "autoscaling.x-k8s.io"
	// Version is the version of this package.
	Version = "v1"
	// APIVersion is the apiVersion of a ProvisioningRequest.
	APIVersion = Group + "/" + Version
	// KindProvisioningRequest is the kind of ProvisioningRequest.
	KindProvisioningRequest = "ProvisioningRequest"
)

// GroupVersion returns the group and version of ProvisioningRequest.
func GroupVersion() schema.GroupVersion { return schema.GroupVersion{Group: Group, Version: Version} }

// AddToScheme adds ProvisioningRequest to a scheme, so that clients and serialisers can read and write it.
func AddToScheme(scheme *runtime.Scheme) error {
	if scheme == nil {
		return field.Required(field.NewPath("scheme"), "give one")
	}
	scheme.AddKnownTypes(GroupVersion(), &ProvisioningRequest{}, &ProvisioningRequestList{})
	metav1.AddToGroupVersion(scheme, GroupVersion())
	return nil
}
