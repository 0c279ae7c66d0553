// Package kinds says which kinds of objects a cloud adds to those of Kubernetes and of node autoscaling itself: its node classes, and the
// forms that they had in older generations. What reads objects is given them by its caller, and so knows no cloud
// (scheduling/manifests.Options has a field Kinds).
//
// The smallest real use: a cloud with one kind of node class.
//
//	set := kinds.Set{NodeClasses: []kinds.NodeClassKind{{
//		GroupVersionKind: schema.GroupVersionKind{Group: "rack.example.com", Version: "v1", Kind: "RackNodeClass"},
//		New:              func() kinds.NodeClass { return &RackNodeClass{} },
//	}}}
//
// AWS's are in package aws/convert: Kinds and Conversion.
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

// NodeClass is an object that says how a cloud's machines are made, in its present form.
type NodeClass interface {
	Object
	// Default fills in what the object leaves out, as an API server does that has its definition.
	Default()
	// Validate says what is wrong with it, by field. Empty: nothing.
	Validate() field.ErrorList
}

// NodeClassKind is a kind of node class in its present form.
type NodeClassKind struct {
	schema.GroupVersionKind
	// New makes an empty object, which is then decoded into. A kind without New is left out.
	New func() NodeClass
}

// OlderKind is a kind of node class in the form of an older generation. A Conversion makes a node class of today from it.
type OlderKind struct {
	schema.GroupVersionKind
	// New makes an empty object, which is then decoded into. A kind without New is left out.
	New func() Object
}

// Set are the kinds of one cloud, or of several. The zero value has none.
type Set struct {
	// NodeClasses are the kinds of node classes of today. Of entries for one group and kind the last counts.
	NodeClasses []NodeClassKind
	// Older are forms of older generations, of these kinds or of kinds that had other names.
	Older []OlderKind
}

// Join returns the kinds of both. Neither is changed.
func (s Set) Join(other Set) Set {
	return Set{
		NodeClasses: slices.Concat(s.NodeClasses, other.NodeClasses),
		Older:       slices.Concat(s.Older, other.Older),
	}
}

// Conversion converts objects of older generations, all together, to those of today: the kinds of node autoscaling itself
// (Provisioners, Machines, NodePools and NodeClaims of v1beta1) and those of Set.Older. Pools are the NodePools of v1 in the same input, which
// say how long nodes of older NodeClaims live. It returns as many results as there are objects, in their order, and changes none of its
// arguments.
type Conversion func(older []Object, pools []*v1.NodePool) []Converted

// Converted is what has become of one object.
type Converted struct {
	// Objects are a *v1.NodePool, a *v1.NodeClaim or a NodeClass, and a further NodeClass where the object had one in it. Empty for what
	// can't be converted; Warnings say why.
	Objects []Born
	// Warnings are what has changed in meaning or form. One of severity error refuses the object.
	Warnings conversion.Warnings
}

// Born is an object of today and the generation it was born in.
type Born struct {
	Object Object
	// Generation is the space of names that it was born in. Empty is v1.GenerationV1, which v1beta1 shares.
	Generation v1.Generation
}
