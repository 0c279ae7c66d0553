package v1

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Generation names the identity space an object's name lives in. Objects of the first API generation
// (Provisioner, Machine, AWSNodeTemplate) are kinds of their own, so a Provisioner and a NodePool may bear one
// name at the same time. v1beta1 and v1 are two versions of one stored object and share a space.
type Generation string

const (
	// GenerationV1 is the space of v1 and v1beta1 objects. It is what an empty Generation means.
	GenerationV1 Generation = "v1"
	// GenerationV1Alpha5 is the space of v1alpha5 objects (and v1alpha1 node templates).
	GenerationV1Alpha5 Generation = "v1alpha5"
)

// provisionerNameLabelKey names the pool of a node or claim that was born in the first generation.
const provisionerNameLabelKey = "karpenter.sh/provisioner-name"

// GenerationOf is the space that the name of a NodePool or NodeClaim lives in. An object that was read from one of
// the first generation says so by its otherwise empty metadata.namespace, which is GenerationV1Alpha5 then: in memory alone,
// for the kinds are cluster-scoped and no API takes it. So names, work queues and maps by namespace and name tell it
// from a later object of its name without knowing of generations. All other objects are of GenerationV1.
func GenerationOf(o metav1.Object) Generation {
	if o != nil && o.GetNamespace() == string(GenerationV1Alpha5) {
		return GenerationV1Alpha5
	}
	return GenerationV1
}

// SetGenerationOf says in memory in which generation the object was born: see GenerationOf.
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

// QualifiedName is the object's name, with the generation before it if that is an older one: "web", "v1alpha5/web". No name in
// an API has a slash, so that it is as good as namespace and name where only a name fits.
func QualifiedName(o metav1.Object) string {
	if o == nil {
		return ""
	}
	return PoolKey{GenerationOf(o), o.GetName()}.String()
}

// PoolOf reads which pool owns a node or NodeClaim from its labels, whatever its generation: the label of later generations
// counts first. It is the zero value when no label names one.
func PoolOf(labels map[string]string) PoolKey {
	if name := labels[NodePoolLabelKey]; name != "" {
		return NewPoolKey(name)
	}
	if name := labels[provisionerNameLabelKey]; name != "" {
		return PoolKey{GenerationV1Alpha5, name}
	}
	return PoolKey{}
}

// PoolKey is the identity of a NodePool inside the library: pools of two generations may share a name.
// It is comparable and made for map keys; the zero value names no pool ("not managed by a pool").
type PoolKey struct {
	// Generation the pool was born in. Empty reads as GenerationV1 only where a document is decoded; inside the
	// library it is always set (see NewPoolKey).
	Generation Generation `json:"generation"`
	// Name is metadata.name of the pool, unchanged.
	Name string `json:"name"`
}

// NewPoolKey returns the key of a pool of the current generation.
func NewPoolKey(name string) PoolKey { return PoolKey{Generation: GenerationV1, Name: name} }

// LabelKey is the key of the label that names the pool on its nodes and claims, whose value is the pool's name: that of later
// generations is NodePoolLabelKey, that of the first karpenter.sh/provisioner-name.
func (k PoolKey) LabelKey() string {
	if k.Generation == GenerationV1Alpha5 {
		return provisionerNameLabelKey
	}
	return NodePoolLabelKey
}

// IsZero reports whether k names no pool.
func (k PoolKey) IsZero() bool { return k == PoolKey{} }

// String is the bare name for pools of the current generation and "v1alpha5/name" for older ones.
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
