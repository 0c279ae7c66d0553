package model

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// If one object is invalid, Compile refuses the whole snapshot. Use the following functions to check single objects that other programs or
// users have written, so that one invalid object does not stop planning.

// CheckNode returns the error that Compile would return for one node.
func CheckNode(n *planning.Node) error {
	if n == nil {
		return &planning.SnapshotError{Path: "nodes[]", Rule: "is null", Cure: "leave it out"}
	}
	var c quantityCheck
	c.node(n)
	return c.err
}

// CheckNodePool returns the error that Compile would return for one pool.
func CheckNodePool(np *planning.NodePool, lookup *requirements.Lookup) error {
	if np == nil {
		return &planning.SnapshotError{Path: "nodePools[]", Rule: "is null", Cure: "leave it out"}
	}
	if np.Object == nil {
		return &planning.SnapshotError{Path: "nodePools[" + np.Key.String() + "].object", Rule: "is missing", Cure: "give the NodePool in its v1 form"}
	}
	key := np.Identity()
	if _, err := poolRequirements(np.Object, key, lookup); err != nil {
		return err
	}
	var c quantityCheck
	c.list(corev1.ResourceList(np.Object.Spec.Limits), func() string { return fmt.Sprintf("nodePools[%s].object.spec.limits", key) })
	if c.err != nil {
		return c.err
	}
	_, err := poolLimits(np.Object, key)
	return err
}

// CheckNodeOverlay returns the error that Compile would return for one overlay.
func CheckNodeOverlay(o *v1.NodeOverlay) error {
	if o == nil {
		return &planning.SnapshotError{Path: "nodeOverlays[]", Rule: "is null", Cure: "leave it out"}
	}
	var c quantityCheck
	c.list(o.Spec.Capacity, func() string { return "nodeOverlays[" + o.Name + "].spec.capacity" })
	return c.err
}

func (c *quantityCheck) node(n *planning.Node) {
	at := func(field string) string { return "nodes[" + n.Name + "]" + field }
	if n.Object != nil {
		c.list(n.Object.Status.Capacity, func() string { return at(".object.status.capacity") })
		c.list(n.Object.Status.Allocatable, func() string { return at(".object.status.allocatable") })
	}
	if n.Claim != nil {
		c.list(n.Claim.Status.Capacity, func() string { return at(".claim.status.capacity") })
		c.list(n.Claim.Status.Allocatable, func() string { return at(".claim.status.allocatable") })
	}
}

func poolRequirements(pool *v1.NodePool, key v1.PoolKey, lookup *requirements.Lookup) (requirements.Set, error) {
	set, err := lookup.ParseSet(pool.Spec.Template.Spec.Requirements)
	if err != nil {
		return set, &planning.SnapshotError{Path: fmt.Sprintf("nodePools[%s].object.spec.template.spec.requirements", key), Rule: "can't be read: " + err.Error(), Cure: "see the rule"}
	}
	return set, nil
}

func poolLimits(pool *v1.NodePool, key v1.PoolKey) (*nodepool.Limits, error) {
	l, err := nodepool.NewLimits(pool.Spec.Limits)
	if err != nil {
		return nil, &planning.SnapshotError{Path: fmt.Sprintf("nodePools[%s].object.spec.limits", key), Rule: "has a bad entry: " + err.Error(), Cure: "leave the resource out to not limit it"}
	}
	if l != nil {
		l.Early = key.Generation == v1.GenerationV1Alpha5
	}
	return l, nil
}
