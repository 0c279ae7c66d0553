package customprovider

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/drawknife/drawknife/api/kinds"
)

// These constants name the kind of node class that NodePools refer to. It has no settings, so an object of this kind need not exist.
const (
	NodeClassGroup   = "inventory.example.com"
	NodeClassVersion = "v1"
	NodeClassKind    = "InventoryNodeClass"
)

// NodeClass is an InventoryNodeClass. It has no fields of its own: the inventory contains all settings.
type NodeClass struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
}

// DeepCopyObject returns a copy that shares nothing with the node class.
func (c *NodeClass) DeepCopyObject() runtime.Object {
	out := &NodeClass{TypeMeta: c.TypeMeta}
	c.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return out
}

// Default does nothing: the class has no fields.
func (c *NodeClass) Default() {}

// Validate returns no errors: the class has no fields.
func (c *NodeClass) Validate() field.ErrorList { return nil }

// Kinds returns the provider's kinds of node classes, for scheduling/manifests.Options.Kinds. A tool that plans for several clouds combines
// the kinds of each provider.
func Kinds() kinds.Set {
	return kinds.Set{NodeClasses: []kinds.NodeClassKind{{
		GroupVersionKind: schema.GroupVersionKind{Group: NodeClassGroup, Version: NodeClassVersion, Kind: NodeClassKind},
		New:              func() kinds.NodeClass { return &NodeClass{} },
	}}}
}
