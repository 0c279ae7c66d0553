package v1

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Generation is the group of API versions in which an object was created. A name is unique only within a generation. Objects of v1alpha5
// (Provisioner, Machine, AWSNodeTemplate) are separate kinds, so a Provisioner and a NodePool may have the same name. v1beta1 and v1 are
// two versions of the same stored object and share their names.
type Generation string

const (
	// GenerationV1 is for v1 and v1beta1 objects. An empty Generation also means GenerationV1.
	GenerationV1 Generation = "v1"
	// GenerationV1Alpha5 is for v1alpha5 objects (and v1alpha1 node templates).
	GenerationV1Alpha5 Generation = "v1alpha5"
)

// provisionerNameLabelKey names the Provisioner of a node or claim created as v1alpha5.
const provisionerNameLabelKey = "karpenter.sh/provisioner-name"

// GenerationOf returns the generation in which a NodePool or NodeClaim was created. In memory, metadata.namespace of an object converted
// from v1alpha5 is GenerationV1Alpha5. The kinds are cluster-scoped, so the field is otherwise empty and never stored. Therefore work
// queues and maps with namespace and name as key distinguish an object of v1alpha5 from a later object of the same name. All other objects
// have GenerationV1.
func GenerationOf(o metav1.Object) Generation {
	if o != nil && o.GetNamespace() == string(GenerationV1Alpha5) {
		return GenerationV1Alpha5
	}
	return GenerationV1
}

// SetGenerationOf records in memory in which generation the object was created: see GenerationOf.
func SetGenerationOf(o metav1.Object, g Generation) {
	if o == nil {
		return
	}
	if g == GenerationV1Alpha5 {
		o.SetNamespace(string(g))
		return
	}
	o.SetNamespace("")
}

// QualifiedName returns the object's name, with its generation as a prefix if it is an older one: "web", "v1alpha5/web". Names in the API
// contain no slash, so the result is unique where only a name can be stored.
func QualifiedName(o metav1.Object) string {
	if o == nil {
		return ""
	}
	return PoolKey{GenerationOf(o), o.GetName()}.String()
}

// PoolOf reads from the labels which pool of any generation owns a node or NodeClaim; the label of later generations takes
// precedence. It is the zero value if no label names a pool.
func PoolOf(labels map[string]string) PoolKey {
	if name := labels[NodePoolLabelKey]; name != "" {
		return NewPoolKey(name)
	}
	if name := labels[provisionerNameLabelKey]; name != "" {
		return PoolKey{GenerationV1Alpha5, name}
	}
	return PoolKey{}
}

// PoolKey identifies a NodePool inside the library, because pools of two generations may have the same name. It is comparable, for
// use as a map key; the zero value means "not managed by a pool".
type PoolKey struct {
	// Generation in which the pool was created. Empty means GenerationV1 only in decoded documents; inside the library it is always
	// set (see NewPoolKey).
	Generation Generation `json:"generation"`
	// Name is metadata.name of the pool, unchanged.
	Name string `json:"name"`
}

// NewPoolKey returns the key of a pool of the current generation.
func NewPoolKey(name string) PoolKey { return PoolKey{Generation: GenerationV1, Name: name} }

// LabelKey returns the key of the label with the pool's name on its nodes and claims: NodePoolLabelKey, or karpenter.sh/provisioner-name
// for v1alpha5.
func (k PoolKey) LabelKey() string {
	if k.Generation == GenerationV1Alpha5 {
		return provisionerNameLabelKey
	}
	return NodePoolLabelKey
}

// IsZero reports whether k names no pool.
func (k PoolKey) IsZero() bool { return k == PoolKey{} }

// String returns the name for pools of the current generation, and "v1alpha5/name" for older ones.
func (k PoolKey) String() string {
	if k.Generation == GenerationV1 || k.Generation == "" {
		return k.Name
	}
	return fmt.Sprintf("%s/%s", k.Generation, k.Name)
}

// Compare orders keys by name, then generation: the total order used wherever pools are listed.
func (k PoolKey) Compare(o PoolKey) int {
	switch {
	case k.Name < o.Name:
		return -1
	case k.Name > o.Name:
		return 1
	case k.Generation < o.Generation:
		return -1
	case k.Generation > o.Generation:
		return 1
	}
	return 0
}
