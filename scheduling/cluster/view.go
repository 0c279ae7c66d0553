package cluster

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

// Query is what a snapshot is made of in addition to the objects that State knows. The zero value asks for those alone.
type Query struct {
	// Time is "now" in the snapshot: which nominations hold, and which pods of leaving nodes their annotations keep.
	Time time.Time
	// NodePools with their catalogs, as provisioning.ResolvePools finds them. Nil: all that State knows, without catalogs:
	// they own nodes and can't launch any.
	NodePools []scheduling.NodePool
	// Catalogs that NodePools name. Planning uses them for claims that have no instance yet; use the same slices while
	// the types are the same.
	Catalogs map[string][]*cloudprovider.InstanceType
	// Placeholders of capacity buffers, as buffers.Placeholders makes them. One that bears the name of a pod is left out.
	Placeholders []*corev1.Pod
}

// View is the cluster at one moment. It is immutable, apart from the fields of the Snapshot struct itself, which is the
// caller's: lists it points to are shared with other views.
type View struct {
	// Snapshot is what plans are made from. Its lists are the very same slices as in the snapshot before where nothing
	// has changed, and objects are the pointers that State was given, with these exceptions: pods of leaving nodes that
	// need a new place are copies without spec.nodeName; the claim of a machine that has no instance yet is a copy whose
	// status holds the capacity it is reckoned with; a Node without hostname label or allocatable is a copy that has them.
	Snapshot *scheduling.Snapshot
	// Machines are those of Snapshot.Nodes, at the same places.
	Machines []Machine
	// LeftOut are objects that play no part in the snapshot, with the reason; by kind and name.
	LeftOut []LeftOut
	// Unconfirmed are objects that were assumed and that the watch has not shown yet, by kind and name. One that stays
	// for more than 15 seconds should be read from the API and told as Upsert or Delete: if it was deleted while the
	// watch was interrupted, no event will come.
	Unconfirmed []ObjectKey
	// Revision grows when something changes that can make consolidation worth another look: a pod is bound or removed, a
	// machine appears, goes, is initialised or is marked, a NodePool's spec changes or an overlay. Views with equal
	// revisions of one State are equal in all that.
	Revision uint64
}

// Machine is what planning that empties machines needs to know of one, in addition to its scheduling.Node.
type Machine struct {
	// Name is that of its scheduling.Node.
	Name string
	// Pool that owns it; zero for none.
	Pool v1.PoolKey
	// Node and Claim as the API has them; at least one is set. Node is set while the view leaves it out of the snapshot too.
	Node  *corev1.Node
	Claim *v1.NodeClaim
	// Pods that are bound to it and have not ended, those included that the snapshot lists as waiting since the machine
	// is leaving; by namespace and name.
	Pods []*corev1.Pod
	// ProviderID of the instance; empty while there is none that is known.
	ProviderID string
	// Phase is how far it has come.
	Phase Phase
	// Marked says that State.Mark was called for it.
	Marked bool
	// Leaving says that it is marked or being deleted.
	Leaving bool
	// NominatedUntil is until when it is kept from disruption since pods were planned for it; a time that has passed
	// means nothing any more, see Nominated.
	NominatedUntil time.Time
	// LastPodEvent is when a pod that is no DaemonSet's was last bound to it, ended there or was told to go: the later of
	// the claim's status.lastPodEventTime and what events told since State is synced. Zero if neither is known.
	LastPodEvent time.Time
}

// Nominated reports whether pods were planned for the machine so lately that it must be left alone at the time now.
func (m *Machine) Nominated(now time.Time) bool { return m.NominatedUntil.After(now) }

// Phase is how far a machine has come.
type Phase int

// The phases, in their order.
const (
	// PhaseLaunching: there is a claim, and no instance that is known.
	PhaseLaunching Phase = iota
	// PhaseLaunched: there is an instance; its Node has not joined or is not registered.
	PhaseLaunched
	// PhaseRegistered: the Node is registered and not initialised.
	PhaseRegistered
	// PhaseInitialized: the Node is ready for pods; so are all nodes without a claim.
	PhaseInitialized
)

// String is the phase in lower case.
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

// LeftOutCode says why an object plays no part.
type LeftOutCode string

// Why objects play no part.
const (
	// LeftOutNoProviderID: the Node belongs to a pool and has no provider ID yet.
	LeftOutNoProviderID LeftOutCode = "NoProviderID"
	// LeftOutNoInstanceType: the Node belongs to a pool, is not initialised and lacks the label with its instance
	// type. Its claim, if there is one, speaks for the machine.
	LeftOutNoInstanceType LeftOutCode = "NoInstanceType"
	// LeftOutSameProviderID: another object of the kind, LeftOut.Other, has the same provider ID and speaks for the machine:
	// the one that is not being deleted, else the newer.
	LeftOutSameProviderID LeftOutCode = "SameProviderID"
	// LeftOutUnknownNode: the pod is bound to a Node, LeftOut.Other, that is not known or left out.
	LeftOutUnknownNode LeftOutCode = "UnknownNode"
	// LeftOutInvalid: the object can't be read, or planning can't compute with it; LeftOut.Other says why. No other object suffers: the pods of
	// such a machine are left out with it, those of such a pool's machines are not.
	LeftOutInvalid LeftOutCode = "Invalid"
)

// LeftOut is an object that plays no part in a view.
type LeftOut struct {
	Object ObjectKey
	Code   LeftOutCode
	// Other is the operand of the code.
	Other string
}

// String is a sentence.
func (l LeftOut) String() string {
	switch l.Code {
	case LeftOutNoProviderID:
		return fmt.Sprintf("%s is left out: it belongs to a pool and has no spec.providerID yet", l.Object)
	case LeftOutNoInstanceType:
		return fmt.Sprintf("%s is left out: it belongs to a pool, is not initialized and has no label %s", l.Object, corev1.LabelInstanceTypeStable)
	case LeftOutSameProviderID:
		return fmt.Sprintf("%s is left out: %s has the same provider ID; delete the one that is not the machine's", l.Object, l.Other)
	case LeftOutUnknownNode:
		return fmt.Sprintf("%s is left out: it is bound to node %s, which is not known or left out", l.Object, l.Other)
	case LeftOutInvalid:
		return fmt.Sprintf("%s is left out: %s", l.Object, l.Other)
	}
	return fmt.Sprintf("%s is left out: %s %s", l.Object, l.Code, l.Other)
}
