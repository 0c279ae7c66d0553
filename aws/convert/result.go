package convert

import (
	api "github.com/drawknife/drawknife/api/v1"

	"github.com/drawknife/drawknife/api/conversion"
	"github.com/drawknife/drawknife/api/v1alpha5"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
)

// Result has the objects that the documents hold, converted, with what was noticed.
type Result struct {
	// Objects in the order of the documents; what a conversion created follows the object it came from.
	Objects []Converted
	// Warnings of all objects, those that were left out among them, in the order of the documents.
	Warnings conversion.Warnings
	// ByDocument is Warnings again, those of the document with the same index; as many as there are documents.
	ByDocument []conversion.Warnings
}

// Converted is one object of a result.
type Converted struct {
	// Object is a *NodePool, *NodeClaim or *EC2NodeClass of the target generation, or *unstructured.Unstructured for what is
	// passed on.
	Object Object
	// Document is the index of the document it came from.
	Document int
	// Position is where the object it came from stands.
	Position Position
	// Provenance is what it was born as. It is the zero value for objects that are passed on.
	Provenance conversion.Provenance
}

// name is "Kind/name".
func (c Converted) name() string {
	return c.Object.GetObjectKind().GroupVersionKind().Kind + "/" + c.Object.GetName()
}

// Generation is the space of names the object was born in.
func (c Converted) Generation() api.Generation {
	if c.Provenance.FirstGeneration() {
		return api.GenerationV1Alpha5
	}
	return api.GenerationV1
}

// PoolKey is the identity of a pool, or of the pool that owns a claim; the zero value for other objects and for claims
// that no pool owns.
func (c Converted) PoolKey() api.PoolKey {
	switch o := c.Object.(type) {
	case *api.NodePool:
		return api.PoolKey{Generation: c.Generation(), Name: o.Name}
	case *api.NodeClaim:
		return v1alpha5.PoolOf(o.Labels)
	}
	return api.PoolKey{}
}

// ClassOf returns the node class that a pool or claim of this result refers to. One of v1alpha5 refers to node
// classes of that generation alone, one of a later to later ones; there is no falling back. ok is false when there is none.
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
