package cluster

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

// Query contains what a snapshot needs in addition to the objects that State knows. The zero value uses only those objects.
type Query struct {
	// Time is "now" in the snapshot: it decides which nominations are valid, and which pods of leaving nodes are kept by their annotations.
	Time time.Time
	// NodePools with their catalogs, as provisioning.ResolvePools finds them. nil means all pools that State knows, without catalogs; these
	// pools own nodes and can't launch any.
	NodePools []scheduling.NodePool
	// Catalogs named by NodePools. Planning uses them for claims without an instance; pass the same slices while the types are the same.
	Catalogs map[string][]*cloudprovider.InstanceType
	// Placeholders of capacity buffers, as buffers.Placeholders makes them. A placeholder with the name of a pod is left out.
	Placeholders []*corev1.Pod
}

// View is the cluster at one moment. It is immutable, except for the fields of the Snapshot struct, which belongs to the caller: lists that
// it points to are shared with other views.
type View struct {
	// Snapshot is the input of plans. A list that has not changed is the same slice as in the previous snapshot. Its objects are the
	// pointers that State was given, except for three kinds of copies: pods of leaving nodes that need a new place (without spec.nodeName),
	// the claim of a node without an instance (with the assumed capacity in its status), and a Node without hostname label or allocatable
	// (with both).
	Snapshot *scheduling.Snapshot
	// Nodes are the states of Snapshot.Nodes, with the same indexes.
	Nodes []NodeState
	// LeftOut are objects that are not part of the snapshot, with the reason; by kind and name.
	LeftOut []LeftOut
	// Unconfirmed are assumed objects that the watch has not shown yet, by kind and name. Read an object that stays for more than 15
	// seconds from the API, and report it with Upsert or Delete: if it was deleted while the watch was interrupted, no event will come.
	Unconfirmed []ObjectKey
	// Revision grows when something changes that makes it worthwhile to consolidate again: a pod is bound or removed; a node appears, goes,
	// is initialised or is marked; a NodePool's spec or an overlay changes. Two views of one State with the same Revision do not differ in
	// any of these.
	Revision uint64
}

// NodeState contains the facts about a node that disruption needs in addition to its scheduling.Node.
type NodeState struct {
	// Name is the name of the node's scheduling.Node.
	Name string
	// Pool is the pool that owns the node; zero if no pool does.
	Pool v1.PoolKey
	// Node and Claim as the API has them; at least one is set. Node is set even while the view leaves it out of the snapshot.
	Node  *corev1.Node
	Claim *v1.NodeClaim
	// Pods are the pods that are bound to the node and have not ended, by namespace and name. They include pods that the snapshot lists as
	// pending because the node is leaving.
	Pods []*corev1.Pod
	// ProviderID is the instance's provider ID; empty while it is unknown.
	ProviderID string
	// Phase is how far the node's start has come.
	Phase Phase
	// Marked means that State.Mark was called for the node.
	Marked bool
	// Leaving means that the node is marked or being deleted.
	Leaving bool
	// NominatedUntil is the time until which the node is protected from disruption because pods were planned for it; a time in the past has
	// no effect, see Nominated.
	NominatedUntil time.Time
	// LastPodEvent is when a pod that does not belong to a DaemonSet was last bound to it, ended there or was asked to end. It is the later
	// of the claim's status.lastPodEventTime and the events after State was synced. Zero if neither is known.
	LastPodEvent time.Time
}

// Nominated reports whether pods were planned for the node so recently that it must not be disrupted now.
func (m *NodeState) Nominated(now time.Time) bool { return m.NominatedUntil.After(now) }

// Phase is how far a node has come in its start.
type Phase int

// The phases, in their order.
const (
	// PhaseLaunching: there is a claim, but no known instance.
	PhaseLaunching Phase = iota
	// PhaseLaunched: there is an instance; its Node has not joined or is not registered.
	PhaseLaunched
	// PhaseRegistered: the Node is registered and not initialised.
	PhaseRegistered
	// PhaseInitialized: the Node is ready for pods. All nodes without a claim have this phase.
	PhaseInitialized
)

// String returns the phase in lower case.
func (p Phase) String() string {
	switch p {
	case PhaseLaunching:
		return "launching"
	case PhaseLaunched:
		return "launched"
	case PhaseRegistered:
		return "registered"
	case PhaseInitialized:
		return "initialized"
	}
	return fmt.Sprintf("Phase(%d)", int(p))
}

// LeftOutCode says why an object is not part of a view.
type LeftOutCode string

// Reasons why objects are left out.
const (
	// LeftOutNoProviderID: the Node belongs to a pool and has no provider ID yet.
	LeftOutNoProviderID LeftOutCode = "NoProviderID"
	// LeftOutNoInstanceType: the Node belongs to a pool, is not initialised and lacks the label with its instance
	// type. Its claim, if there is one, represents the node.
	LeftOutNoInstanceType LeftOutCode = "NoInstanceType"
	// LeftOutSameProviderID: another object of the kind, LeftOut.Other, has the same provider ID and represents the node: the object that
	// is not being deleted, or else the newer object.
	LeftOutSameProviderID LeftOutCode = "SameProviderID"
	// LeftOutUnknownNode: the pod is bound to a Node, LeftOut.Other, that is unknown or left out.
	LeftOutUnknownNode LeftOutCode = "UnknownNode"
	// LeftOutInvalid: the object can't be parsed, or planning can't compute with it; LeftOut.Other says why. Other objects are not
	// affected, with one exception: the pods of an invalid node are left out with the node. Pods on nodes of an invalid pool are not left
	// out.
	LeftOutInvalid LeftOutCode = "Invalid"
)

// LeftOut is an object that is not part of a view.
type LeftOut struct {
	Object ObjectKey
	Code   LeftOutCode
	// Other is the operand of the code.
	Other string
}

// String returns a sentence.
func (l LeftOut) String() string {
	switch l.Code {
	case LeftOutNoProviderID:
		return fmt.Sprintf("%s is left out: it belongs to a pool and has no spec.providerID yet", l.Object)
	case LeftOutNoInstanceType:
		return fmt.Sprintf("%s is left out: it belongs to a pool, is not initialized and has no label %s", l.Object, corev1.LabelInstanceTypeStable)
	case LeftOutSameProviderID:
		return fmt.Sprintf("%s is left out: %s has the same provider ID; delete the one that does not belong to the node", l.Object, l.Other)
	case LeftOutUnknownNode:
		return fmt.Sprintf("%s is left out: it is bound to node %s, which is unknown or left out", l.Object, l.Other)
	case LeftOutInvalid:
		return fmt.Sprintf("%s is left out: %s", l.Object, l.Other)
	}
	return fmt.Sprintf("%s is left out: %s %s", l.Object, l.Code, l.Other)
}
