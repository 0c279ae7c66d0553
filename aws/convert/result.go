package convert

import (
	api "github.com/drawknife/drawknife/api/v1"

	"github.com/drawknife/drawknife/api/conversion"
	"github.com/drawknife/drawknife/api/v1alpha5"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
)

// Result contains the converted objects of the documents, and warnings.
type Result struct {
	// Objects in the order of the documents; an object created by a conversion follows its source.
	Objects []Converted
	// Warnings of all objects, including those left out, in the order of the documents.
	Warnings conversion.Warnings
	// ByDocument contains the same warnings by document, with the same indexes as the documents.
	ByDocument []conversion.Warnings
}

// Converted is one object of a result.
type Converted struct {
	// Object is a *NodePool, *NodeClaim or *EC2NodeClass of the target generation, or *unstructured.Unstructured if it is passed on.
	Object Object
	// Document is the index of the document that it came from.
	Document int
	// Position of the object that it came from.
	Position Position
	// Provenance describes the object as it was created. It is the zero value for objects that are passed on.
	Provenance conversion.Provenance
}

// name returns "Kind/name".
func (c Converted) name() string {
	return c.Object.GetObjectKind().GroupVersionKind().Kind + "/" + c.Object.GetName()
}

// Generation returns the generation in which the object was created; names are unique within it.
func (c Converted) Generation() api.Generation {
	if c.Provenance.FirstGeneration() {
		return api.GenerationV1Alpha5
	}
	return api.GenerationV1
}

// PoolKey returns the identity of a pool, or of the pool that owns a claim; the zero value for other objects and for claims that no pool
// owns.
func (c Converted) PoolKey() api.PoolKey {
	switch o := c.Object.(type) {
	case *api.NodePool:
		return api.PoolKey{Generation: c.Generation(), Name: o.Name}
	case *api.NodeClaim:
		return v1alpha5.PoolOf(o.Labels)
	}
	return api.PoolKey{}
}

// ClassOf returns the node class that a pool or claim of this result refers to. A v1alpha5 object refers only to node classes of its own
// generation, and a later object only to node classes of later generations. ok is false if the result has no such node class.
func (r Result) ClassOf(c Converted) (class Converted, ok bool) {
	var ref api.NodeClassReference
	switch o := c.Object.(type) {
	case *api.NodePool:
		ref = o.Spec.Template.Spec.NodeClassRef
	case *api.NodeClaim:
		ref = o.Spec.NodeClassRef
	default:
		return Converted{}, false
	}
	for _, candidate := range r.Objects {
		o, isClass := candidate.Object.(*awsv1.EC2NodeClass)
		if isClass && ref.Group == awsv1.Group && ref.Kind == awsv1.KindEC2NodeClass && o.Name == ref.Name && candidate.Generation() == c.Generation() {
			return candidate, true
		}
	}
	return Converted{}, false
}
