package provisioning

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// GarbageEvery is how often to collect garbage.
const GarbageEvery = 2 * time.Minute

// GarbageState is what is observed of claims, instances and nodes. They are read at three moments, and the cluster goes on
// meanwhile: read the instances first, then the claims, then the nodes, and hand in as now when the reading began. What is
// younger than that reading is not judged.
type GarbageState struct {
	// Instances is the provider's List, whole.
	Machines []*v1.NodeClaim
	// Claims are all of the cluster's.
	Claims []*v1.NodeClaim
	// Nodes are all of the cluster's.
	Nodes []*corev1.Node
	// Lag is how long the provider's List may lag behind (Capabilities.ConsistencyWindow).
	Lag time.Duration
	// Supports says of which node classes the provider's instances are (Capabilities.SupportsNodeClass). Claims of others are
	// another provider's, which alone knows their instances: they are never garbage. Nil is all.
	Supports func(v1.NodeClassReference) bool
}

// GarbageKind says what is left over.
type GarbageKind string

// The kinds of garbage; they are the values of a metric's label.
const (
	// GarbageClaim is a claim whose instance has vanished.
	GarbageClaim GarbageKind = "nodeclaim"
	// GarbageInstance is an instance whose claim has vanished.
	GarbageInstance GarbageKind = "instance"
	// GarbageNode is a Node that has neither.
	GarbageNode GarbageKind = "node"
)

// Garbage is one object that has lost what it belongs to.
type Garbage struct {
	Kind GarbageKind
	// ProviderID of the instance, whichever of the three is left.
	ProviderID string
	// Claim is the claim as stored, or the instance as the provider describes it; nil of a GarbageNode.
	Claim *v1.NodeClaim
	// Nodes are those with the provider ID, by name.
	Nodes []*corev1.Node
}

// String names what is left over.
func (g Garbage) String() string {
	switch {
	case g.Kind == GarbageClaim:
		return "nodeclaim " + g.Claim.Name
	case g.Kind == GarbageNode && len(g.Nodes) > 0:
		return "node " + g.Nodes[0].Name
	}
	return fmt.Sprintf("%s %s", g.Kind, g.ProviderID)
}

// ID tells pieces of garbage apart: equal in two lists for the same object.
func (g Garbage) ID() string {
	switch {
	case g.Kind == GarbageClaim:
		return fmt.Sprintf("%s/%s", g.Kind, g.Claim.UID)
	case g.Kind == GarbageNode && len(g.Nodes) > 0:
		return fmt.Sprintf("%s/%s", g.Kind, g.Nodes[0].UID)
	}
	return fmt.Sprintf("%s/%s", g.Kind, g.ProviderID)
}

// Labels are those of the object that is left: they name its pool.
func (g Garbage) Labels() map[string]string {
	switch {
	case g.Claim != nil:
		return g.Claim.Labels
	case len(g.Nodes) > 0 && g.Nodes[0] != nil:
		return g.Nodes[0].Labels
	}
	return nil
}

// CollectGarbage compares claims and instances both ways; now is when the reading of s began. A claim whose instance has
// vanished is garbage, unless its node is there and ready, which says otherwise. An instance that bears a UID no
// claim has is garbage: its claim was deleted before its launch was answered, or never stored. One whose node is of a
// pool of the first generation is not: early releases stored no claims. A Node of a pool that has neither claim nor
// instance is garbage once it is not ready. All of that holds only for what is older than the lists may lag and than a
// launch that was going on while they were read can take.
//
// Nothing is collected on one reading alone: ask each piece for its step with Garbage.Collect.
func CollectGarbage(s GarbageState, now time.Time) []Garbage {
	s.Lag = max(s.Lag, garbageAge)
	s.Nodes, s.Claims, s.Machines = present(s.Nodes), present(s.Claims), present(s.Machines)
	nodes := map[string][]*corev1.Node{}
	for _, n := range s.Nodes {
		if n.Spec.ProviderID != "" {
			nodes[n.Spec.ProviderID] = append(nodes[n.Spec.ProviderID], n)
		}
	}
	list := slices.Concat(claimsWithoutInstance(s, nodes, now), instancesWithoutClaim(s, now), nodesWithoutEither(s, now))
	for i := range list {
		if list[i].Kind == GarbageNode {
			continue
		}
		list[i].Nodes = slices.SortedFunc(slices.Values(nodes[list[i].ProviderID]), func(a, b *corev1.Node) int { return cmp.Compare(a.Name, b.Name) })
	}
	return list
}

// garbageAge is how old anything must be at least to be garbage. Claims are stored before their instances are launched
// and instances before their nodes join, but an answer may be on its way, and a cache late.
const garbageAge = 30 * time.Second

// Collect is what ends g, if a second reading that began at now says the same; an empty Step if it does not. again may be
// restricted to what concerns g: the instance with the provider ID (CloudProvider.Get; none if the provider does not know
// it), the claims with that ID or the instance's UID, and the nodes with that ID, each from where it is stored and not
// from a cache.
//
// Each piece has a step of its own: what one meets must not keep the others. Wait GarbageBackOff before one that failed
// is tried again.
func (g Garbage) Collect(again GarbageState, now time.Time) Step {
	list := CollectGarbage(again, now)
	at := slices.IndexFunc(list, func(other Garbage) bool { return other.ID() == g.ID() })
	if at < 0 {
		return Step{}
	}
	g = list[at]
	var step Step
	switch g.Kind {
	case GarbageClaim: // its nodes go with it, see TerminateClaim
		step.Effects = append(step.Effects, DeleteClaim{Name: g.Claim.Name, UID: g.Claim.UID, Reason: ReasonGarbageCollected})
	case GarbageInstance:
		step.Effects = append(step.Effects, TerminateInstance{g.Claim.DeepCopy()})
		step.Effects = append(step.Effects, deletionOf(g.Nodes)...)
	case GarbageNode:
		step.Effects = deletionOf(g.Nodes)
	}
	step.Events = g.events()
	return step
}

func deletionOf(nodes []*corev1.Node) []Effect {
	var effects []Effect
	for _, n := range nodes {
		if n.DeletionTimestamp == nil {
			effects = append(effects, DeleteNode{Name: n.Name, UID: n.UID})
		}
	}
	return effects
}

// events tell of the end of g on what is left to read them: the claim, the nodes, and of an instance its pool as well, since
// its claim is gone and its nodes go.
func (g Garbage) events() []Event {
	var message string
	var events []Event
	switch g.Kind {
	case GarbageClaim:
		message = fmt.Sprintf("Deleting the NodeClaim: the provider does not know its instance %s any more", g.ProviderID)
		events = append(events, claimEvent(g.Claim, EventGarbageCollected, message))
	case GarbageInstance:
		message = fmt.Sprintf("Terminating instance %s: no NodeClaim has it", g.ProviderID)
		if pool := v1.PoolOf(g.Claim.Labels); !pool.IsZero() {
			events = append(events, Event{Kind: "NodePool", Name: pool.String(), Warning: true, Reason: EventGarbageCollected, Message: message})
		}
	case GarbageNode:
		message = fmt.Sprintf("Deleting the Node: it has no NodeClaim, and the provider does not know its instance %s", g.ProviderID)
	}
	for _, n := range g.Nodes {
		events = append(events, nodeEvent(n, EventGarbageCollected, true, message))
	}
	return events
}

const garbageBackOffLongest = 32 * time.Minute

// GarbageBackOff is how long to leave a piece of garbage alone that could not be collected so many times in a row: from
// GarbageEvery, doubling, to half an hour. Nothing is waited for after 0 failures.
func GarbageBackOff(failures int) time.Duration {
	if failures <= 0 {
		return 0
	}
	wait := GarbageEvery
	for range failures - 1 {
		if wait = 2 * wait; wait >= garbageBackOffLongest {
			return garbageBackOffLongest
		}
	}
	return wait
}

func claimsWithoutInstance(s GarbageState, nodes map[string][]*corev1.Node, now time.Time) []Garbage {
	live := map[string]bool{}
	for _, m := range s.Machines {
		if m.DeletionTimestamp == nil {
			live[m.Status.ProviderID] = true
		}
	}
	ready := func(n *corev1.Node) bool { return nodeCondition(n, corev1.NodeReady) == corev1.ConditionTrue }
	var list []Garbage
	for _, c := range byName(s.Claims) {
		registered := c.DeepCopy().Conditions().Get(v1.ConditionRegistered)
		id := c.Status.ProviderID
		if s.Supports != nil && !s.Supports(c.Spec.NodeClassRef) || c.DeletionTimestamp != nil || id == "" || registered.Status != "True" || live[id] || slices.ContainsFunc(nodes[id], ready) ||
			now.Before(registered.LastTransitionTime.Add(s.Lag)) {
			continue
		}
		list = append(list, Garbage{Kind: GarbageClaim, ProviderID: id, Claim: c})
	}
	return list
}

func instancesWithoutClaim(s GarbageState, now time.Time) []Garbage {
	uids, ids := map[types.UID]bool{}, map[string]bool{}
	for _, c := range s.Claims {
		uids[c.UID] = true
		if c.Status.ProviderID != "" {
			ids[c.Status.ProviderID] = true
		}
	}
	for _, n := range s.Nodes {
		// Releases before 0.28 stored no Machines: their nodes stand for themselves.
		if v1.PoolOf(n.Labels).Generation == v1.GenerationV1Alpha5 && n.Spec.ProviderID != "" {
			ids[n.Spec.ProviderID] = true
		}
	}
	var list []Garbage
	for _, m := range byName(s.Machines) {
		if m.DeletionTimestamp != nil || uids[m.UID] && m.UID != "" || ids[m.Status.ProviderID] || now.Before(m.CreationTimestamp.Add(s.Lag)) {
			continue
		}
		list = append(list, Garbage{Kind: GarbageInstance, ProviderID: m.Status.ProviderID, Claim: m})
	}
	return list
}

func nodesWithoutEither(s GarbageState, now time.Time) []Garbage {
	known := map[string]bool{}
	for _, list := range [][]*v1.NodeClaim{s.Claims, s.Machines} {
		for _, c := range list {
			known[c.Status.ProviderID] = true
		}
	}
	var list []Garbage
	for _, n := range s.Nodes {
		// A node may join before its claim says which instance it has: the instance was launched after the list of them.
		if n.DeletionTimestamp == nil && !v1.PoolOf(n.Labels).IsZero() && n.Spec.ProviderID != "" &&
			!known[n.Spec.ProviderID] && nodeCondition(n, corev1.NodeReady) != corev1.ConditionTrue && !now.Before(n.CreationTimestamp.Add(s.Lag)) {
			list = append(list, Garbage{Kind: GarbageNode, ProviderID: n.Spec.ProviderID, Nodes: []*corev1.Node{n}})
		}
	}
	slices.SortFunc(list, func(a, b Garbage) int { return cmp.Compare(a.Nodes[0].Name, b.Nodes[0].Name) })
	return list
}

func byName(claims []*v1.NodeClaim) []*v1.NodeClaim {
	return slices.SortedFunc(slices.Values(claims), func(a, b *v1.NodeClaim) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Status.ProviderID, b.Status.ProviderID))
	})
}

// present is the list without nil.
func present[T any](list []*T) []*T {
	if !slices.Contains(list, nil) {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(o *T) bool { return o == nil })
}
