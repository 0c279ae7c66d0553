package customprovider

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/drawknife/drawknife/api/kinds"
)

// The kind of node class that NodePools name. There is nothing to set: an object of the kind need not exist.
const (
	NodeClassGroup   = "inventory.example.com"
	NodeClassVersion = "v1"
	NodeClassKind    = "InventoryNodeClass"
)

// NodeClass is an InventoryNodeClass. It has no fields of its own: the inventory says all there is to know.
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

// Default has nothing to fill in.
func (c *NodeClass) Default() {}

// Validate finds nothing wrong: there is no field to get wrong.
func (c *NodeClass) Validate() field.ErrorList { return nil }

// Kinds are the provider's kinds of node classes, for what reads manifests: scheduling/manifests.Options.Kinds. A tool that plans for
// several clouds joins those of each.
func Kinds() kinds.Set {
	return kinds.Set{NodeClasses: []kinds.NodeClassKind{{
		GroupVersionKind: schema.GroupVersionKind{Group: NodeClassGroup, Version: NodeClassVersion, Kind: NodeClassKind},
		New:              func() kinds.NodeClass { return &NodeClass{} },
	}}}
}
