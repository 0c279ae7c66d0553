package v1alpha5

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	// Group is the API group of the kinds in this package.
	Group = "karpenter.sh"
	// Version is the version of the kinds.
	Version = "v1alpha5"
	// APIVersion is the apiVersion of the kinds.
	APIVersion = Group + "/" + Version

	// KindProvisioner is the kind of Provisioner.
	KindProvisioner = "Provisioner"
	// KindMachine is the kind of Machine.
	KindMachine = "Machine"
)

// GroupVersion returns the group and version of the kinds in this package.
func GroupVersion() schema.GroupVersion { return schema.GroupVersion{Group: Group, Version: Version} }

// AddToScheme adds the kinds of this package to a scheme, so that clients and serialisers can read and write them.
func AddToScheme(scheme *runtime.Scheme) error {
	if scheme == nil {
		return field.Required(field.NewPath("scheme"), "give one")
	}
	scheme.AddKnownTypes(GroupVersion(), &Provisioner{}, &ProvisionerList{}, &Machine{}, &MachineList{})
	metav1.AddToGroupVersion(scheme, GroupVersion())
	return nil
}
