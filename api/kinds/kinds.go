// Package kinds describes the kinds of objects that a cloud adds to those of Kubernetes and of node autoscaling itself: its node classes,
// and their forms in older generations. Packages that read objects get the kinds from their caller, so they depend on no cloud (for
// example the field Kinds of scheduling/manifests.Options).
//
// The smallest real use: a cloud with one kind of node class.
//
//	set := kinds.Set{NodeClasses: []kinds.NodeClassKind{{
//		GroupVersionKind: schema.GroupVersionKind{Group: "rack.example.com", Version: "v1", Kind: "RackNodeClass"},
//		New:              func() kinds.NodeClass { return &RackNodeClass{} },
//	}}}
//
// The kinds of AWS are in package aws/convert: Kinds and Conversion.
//
// Stability: beta.
package kinds

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/drawknife/drawknife/api/conversion"
	v1 "github.com/drawknife/drawknife/api/v1"
)

// Object is one Kubernetes object: a pointer to a struct with TypeMeta and ObjectMeta.
type Object interface {
	runtime.Object
	metav1.Object
}

// NodeClass is a cloud's object with settings for its instances, in its present form.
type NodeClass interface {
	Object
	// Default sets the defaults of unset fields, like an API server with the kind's definition.
	Default()
	// Validate returns the errors in the object, by field. The list is empty for a valid object.
	Validate() field.ErrorList
}

// NodeClassKind is a kind of node class in its present form.
type NodeClassKind struct {
	schema.GroupVersionKind
	// New makes an empty object for a decoder to fill. A kind without New is ignored.
	New func() NodeClass
}

// OlderKind is a kind of node class in the form of an older generation. A Conversion converts it to a present node class.
type OlderKind struct {
	schema.GroupVersionKind
	// New makes an empty object for a decoder to fill. A kind without New is ignored.
	New func() Object
}

// Set has the kinds of one cloud, or of several. The zero value is empty.
type Set struct {
	// NodeClasses are the present kinds of node classes. If several entries have the same group and kind, the last one is used.
	NodeClasses []NodeClassKind
	// Older are the kinds of node classes in older generations. Their names may be different from those in NodeClasses.
	Older []OlderKind
}

// Join returns the kinds of both sets. Neither is changed.
func (s Set) Join(other Set) Set {
	return Set{
		NodeClasses: slices.Concat(s.NodeClasses, other.NodeClasses),
		Older:       slices.Concat(s.Older, other.Older),
	}
}

// Conversion converts objects of older generations to objects of the present generation, all in one call. The objects have the kinds of
// node autoscaling itself (Provisioners, Machines, NodePools and NodeClaims of v1beta1) or those of Set.Older. Pools are the NodePools of
// v1 in the same input; their expireAfter applies to older NodeClaims. It returns as many results as there are objects, in their order, and
// changes none of its arguments.
type Conversion func(older []Object, pools []*v1.NodePool) []Converted

// Converted is the result for one object.
type Converted struct {
	// Objects contains a *v1.NodePool, a *v1.NodeClaim or a NodeClass, and another NodeClass if the original contained one inline. It is
	// empty if the object can't be converted; Warnings say why.
	Objects []Born
	// Warnings are the changes in meaning or form. A warning of severity error means that the object is refused.
	Warnings conversion.Warnings
}

// Born is a converted object, together with the generation in which it was created.
type Born struct {
	Object Object
	// Generation is the generation in which the object was created. Empty means v1.GenerationV1, which includes v1beta1.
	Generation v1.Generation
}
