package v1

import "fmt"

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
