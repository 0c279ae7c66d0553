package limits

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// ExceededError says that a pool's limit leaves no room for a node.
type ExceededError struct {
	// Pool is the pool with the limit.
	Pool v1.PoolKey
	// Resource that is limited; "nodes" is the number of nodes.
	Resource corev1.ResourceName
	// Limit as it is written in spec.limits.
	Limit resource.Quantity
	// Used is the total of the pool's planned, launching and live nodes.
	Used resource.Quantity
	// Asked is the amount that the refused node needs.
	Asked resource.Quantity
	// Reached means that the pool was created as v1alpha5, and launches nothing while the limit is reached.
	Reached bool
}

func (e *ExceededError) Error() string {
	if e.Reached {
		return fmt.Sprintf("nodepool %s: spec.limits[%s] is %s, of which %s is used: a pool created as %s launches nothing more while a limit is reached: raise the limit or remove nodes",
			e.Pool, e.Resource, e.Limit.String(), e.Used.String(), e.Pool.Generation)
	}
	return fmt.Sprintf("nodepool %s: spec.limits[%s] is %s, of which %s is used: no room for %s more: raise the limit or remove nodes",
		e.Pool, e.Resource, e.Limit.String(), e.Used.String(), e.Asked.String())
}

// EntryError is an invalid change of an entry.
type EntryError struct {
	// ID of the entry.
	ID string
	// Rule that is broken.
	Rule string
}

func (e *EntryError) Error() string { return fmt.Sprintf("limit entry %q: %s", e.ID, e.Rule) }

// LimitError is a negative limit.
type LimitError struct {
	Pool     v1.PoolKey
	Resource corev1.ResourceName
	Limit    resource.Quantity
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("nodepool %s: spec.limits[%s] is %s: a limit can't be negative", e.Pool, e.Resource, e.Limit.String())
}
