package manifests

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
)

// joinedNode is a Node, a NodeClaim or both, from which a node of the snapshot is made.
type joinedNode struct {
	node  scheduling.Node
	entry origin
	kind  string
}

// joinedNodes joins Nodes with their NodeClaims, and returns them sorted by name. A Node and a NodeClaim belong together if they have the same
// provider ID, or if the claim's status names the node. If one of the two has no provider ID yet, equal names are sufficient.
func (l *loader) joinedNodes() []joinedNode {
	claims := l.indexClaims()
	list := make([]joinedNode, 0, len(l.objects.nodes)+len(l.objects.nodeClaims))
	names := make(map[string]bool, len(l.objects.nodes))
	for _, e := range l.objects.nodes {
		names[e.object.Name] = true
		list = append(list, joinedNode{scheduling.JoinNode(scheduling.CompleteNode(e.object), nil), e.origin, "Node"})
	}
	// The most reliable criterion is applied to all nodes before a less reliable one.
	for _, find := range []func(*corev1.Node) *v1.NodeClaim{claims.sameProviderID, claims.stated, claims.sameName} {
		for i := range list {
			if n := &list[i].node; n.Claim == nil {
				n.Claim = claims.take(find(n.Object))
			}
		}
	}
	for _, e := range l.objects.nodeClaims {
		switch {
		case claims.taken[e.object]:
		case names[e.object.Name]:
			l.problem(e.origin, ProblemInvalid, "NodeClaim "+e.object.Name, "status.providerID",
				fmt.Sprintf("is %q, but the Node of the same name runs on another instance; nodes must have different names", e.object.Status.ProviderID))
		default:
			// A Machine may have the name of a NodeClaim, so two nodes that have not joined can't be distinguished by name alone.
			names[e.object.Name] = true
			list = append(list, joinedNode{scheduling.JoinNode(nil, e.object), e.origin, "NodeClaim"})
		}
	}
	pools := make(map[v1.PoolKey]bool, len(l.objects.nodePools))
	for _, e := range l.objects.nodePools {
		pools[poolKeyOf(e)] = true
	}
	for i := range list {
		l.completeNode(&list[i], pools)
	}
	slices.SortFunc(list, func(a, b joinedNode) int { return strings.Compare(a.node.Name, b.node.Name) })
	return list
}

// claimIndex finds the claim of a node.
type claimIndex struct {
	byProvider, byNode, byName map[string]*v1.NodeClaim
	taken                      map[*v1.NodeClaim]bool
}

// indexClaims makes the index of the input's claims. If two Nodes or two NodeClaims have the same provider ID, it records a problem,
// because one instance would count twice.
func (l *loader) indexClaims() *claimIndex {
	index := &claimIndex{
		byProvider: make(map[string]*v1.NodeClaim), byNode: make(map[string]*v1.NodeClaim),
		byName: make(map[string]*v1.NodeClaim), taken: make(map[*v1.NodeClaim]bool),
	}
	for _, e := range l.objects.nodeClaims {
		claim := e.object
		index.byName[claim.Name] = claim
		if id := claim.Status.ProviderID; id != "" {
			if other := index.byProvider[id]; other != nil {
				l.problem(e.origin, ProblemInvalid, "NodeClaim "+claim.Name, "status.providerID",
					fmt.Sprintf("%q is also the provider ID of NodeClaim %s; an instance can have only one NodeClaim", id, other.Name))
			}
			index.byProvider[id] = claim
		}
		if name := claim.Status.NodeName; name != "" {
			index.byNode[name] = claim
		}
	}
	nodes := make(map[string]string, len(l.objects.nodes))
	for _, e := range l.objects.nodes {
		id := e.object.Spec.ProviderID
		if id == "" {
			continue
		}
		if other, exists := nodes[id]; exists {
			l.problem(e.origin, ProblemInvalid, "Node "+e.object.Name, "spec.providerID",
				fmt.Sprintf("%q is also the provider ID of Node %s; an instance can have only one Node", id, other))
		}
		nodes[id] = e.object.Name
	}
	return index
}

// take returns the claim and marks it as taken, so that it is joined with one node only. It returns nil if the claim was taken before.
func (c *claimIndex) take(claim *v1.NodeClaim) *v1.NodeClaim {
	if claim == nil || c.taken[claim] {
		return nil
	}
	c.taken[claim] = true
	return claim
}

func (c *claimIndex) sameProviderID(node *corev1.Node) *v1.NodeClaim {
	return c.byProvider[node.Spec.ProviderID] // no claim is indexed by the empty ID
}

// stated returns the claim whose status names the node.
func (c *claimIndex) stated(node *corev1.Node) *v1.NodeClaim {
	return unlessOther(c.byNode[node.Name], node)
}

func (c *claimIndex) sameName(node *corev1.Node) *v1.NodeClaim {
	return unlessOther(c.byName[node.Name], node)
}

// unlessOther returns the claim, or nil if both claim and node have provider IDs. These provider IDs differ, so claim and node belong to
// different instances.
func unlessOther(claim *v1.NodeClaim, node *corev1.Node) *v1.NodeClaim {
	if claim != nil && claim.Status.ProviderID != "" && node.Spec.ProviderID != "" {
		return nil
	}
	return claim
}

// completeNode determines the pool that owns a node, and whether the node is leaving.
func (l *loader) completeNode(m *joinedNode, pools map[v1.PoolKey]bool) {
	n := &m.node
	*n = scheduling.JoinNode(n.Object, n.Claim)
	if n.Pool.IsZero() {
		return
	}
	seedEmptiness(n)
	if !pools[n.Pool] {
		l.warn(m.entry, remark{
			code: WarningNodePool, kind: m.kind, name: n.Name, detail: n.Pool.String(),
			message: fmt.Sprintf("its pool %q is not in the input", n.Pool),
		})
	}
}
