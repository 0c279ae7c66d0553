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

// GarbageState is the observed state of claims, instances and nodes. The three lists are read at different times while the cluster
// changes: read the instances first, then the claims, then the nodes, and pass as now the time before the first read. Objects
// younger than that are not checked.
type GarbageState struct {
	// Instances is the complete result of the provider's List.
	Instances []*v1.NodeClaim
	// Claims are all NodeClaims of the cluster.
	Claims []*v1.NodeClaim
	// Nodes are all Nodes of the cluster.
	Nodes []*corev1.Node
	// Lag is how long the provider's List may be out of date (Capabilities.ConsistencyWindow).
	Lag time.Duration
	// Supports reports whether the provider serves a kind of node class (Capabilities.SupportsNodeClass). Other claims belong to another
	// provider, which alone knows their instances: this provider never treats them as garbage. Nil means that it serves all kinds.
	Supports func(v1.NodeClassReference) bool
}

// GarbageKind says which object is orphaned.
type GarbageKind string

// The kinds of garbage; they are values of a metric label.
const (
	// GarbageClaim is a claim whose instance has vanished.
	GarbageClaim GarbageKind = "nodeclaim"
	// GarbageInstance is an instance whose claim has vanished.
	GarbageInstance GarbageKind = "instance"
	// GarbageNode is a Node without claim and instance.
	GarbageNode GarbageKind = "node"
)

// Garbage is one orphaned object.
type Garbage struct {
	Kind GarbageKind
	// ProviderID of the instance, for every kind.
	ProviderID string
	// Claim is the stored claim, or the provider's description of the instance; nil for a GarbageNode.
	Claim *v1.NodeClaim
	// Nodes lists the nodes with the provider ID, by name.
	Nodes []*corev1.Node
}

// String names the orphaned object.
func (g Garbage) String() string {
	switch {
	case g.Kind == GarbageClaim:
		return "nodeclaim " + g.Claim.Name
	case g.Kind == GarbageNode && len(g.Nodes) > 0:
		return "node " + g.Nodes[0].Name
	}
	return fmt.Sprintf("%s %s", g.Kind, g.ProviderID)
}

// ID identifies the object: the same object has the same ID in two lists.
func (g Garbage) ID() string {
	switch {
	case g.Kind == GarbageClaim:
		return fmt.Sprintf("%s/%s", g.Kind, g.Claim.UID)
	case g.Kind == GarbageNode && len(g.Nodes) > 0:
		return fmt.Sprintf("%s/%s", g.Kind, g.Nodes[0].UID)
	}
	return fmt.Sprintf("%s/%s", g.Kind, g.ProviderID)
}

// Labels of the orphaned object; they name its NodePool.
func (g Garbage) Labels() map[string]string {
	switch {
	case g.Claim != nil:
		return g.Claim.Labels
	case len(g.Nodes) > 0 && g.Nodes[0] != nil:
		return g.Nodes[0].Labels
	}
	return nil
}

// CollectGarbage compares claims and instances in both directions; now is the time before s was read. A claim whose instance is
// gone is garbage, unless its node exists and is ready. An instance with the UID of no existing claim is garbage: its claim was
// deleted before the launch ended, or never stored. An instance whose node belongs to a Provisioner is not garbage, because early releases
// stored no claims. A Node of a pool without claim and instance is garbage once it is not ready. An object is garbage only if it is older
// than Lag, and older than any launch that was in progress during the reads.
//
// Nothing is removed after a single read: Garbage.Collect checks each object again.
func CollectGarbage(s GarbageState, now time.Time) []Garbage {
	s.Lag = max(s.Lag, garbageAge)
	s.Nodes, s.Claims, s.Instances = present(s.Nodes), present(s.Claims), present(s.Instances)
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

// garbageAge is the smallest age of objects that count as garbage. Claims are stored before their instances are launched, and instances
// exist before their nodes join. Younger objects are not removed, because a response may still be on its way, or a cache may be out of
// date.
const garbageAge = 30 * time.Second

// Collect returns the step that removes g, if a second read that started at now confirms that g is garbage. Otherwise it returns an empty
// Step. again may contain only the objects related to g: the instance with its provider ID (CloudProvider.Get; none if the provider does
// not know it), the claims with this provider ID or with the instance's UID, and the nodes with this provider ID. Read them from the API
// and not from a cache.
//
// Each object has its own step, so that a failure does not affect the others. Wait GarbageBackOff before you retry a failed step.
func (g Garbage) Collect(again GarbageState, now time.Time) Step {
	list := CollectGarbage(again, now)
	at := slices.IndexFunc(list, func(other Garbage) bool { return other.ID() == g.ID() })
	if at < 0 {
		return Step{}
	}
	g = list[at]
	var step Step
	switch g.Kind {
	case GarbageClaim: // the claim's termination (TerminateClaim) also removes the claim's nodes
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

// events returns the events that report the removal of the garbage g. Each event is on an object that still exists: a node, the claim of
// GarbageClaim, or the NodePool of GarbageInstance. An orphaned instance has no claim, and its nodes are removed together with the
// instance.
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

// GarbageBackOff returns how long to wait after the given number of failed attempts in a row to remove an object: from GarbageEvery,
// doubling, to half an hour. It is 0 after 0 failures.
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
	for _, m := range s.Instances {
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
		// Karpenter before version 0.28 stored no Machines, so instances of nodes from that time have no claims. They are not garbage.
		if v1.PoolOf(n.Labels).Generation == v1.GenerationV1Alpha5 && n.Spec.ProviderID != "" {
			ids[n.Spec.ProviderID] = true
		}
	}
	var list []Garbage
	for _, m := range byName(s.Instances) {
		if m.DeletionTimestamp != nil || uids[m.UID] && m.UID != "" || ids[m.Status.ProviderID] || now.Before(m.CreationTimestamp.Add(s.Lag)) {
			continue
		}
		list = append(list, Garbage{Kind: GarbageInstance, ProviderID: m.Status.ProviderID, Claim: m})
	}
	return list
}

func nodesWithoutEither(s GarbageState, now time.Time) []Garbage {
	known := map[string]bool{}
	for _, list := range [][]*v1.NodeClaim{s.Claims, s.Instances} {
		for _, c := range list {
			known[c.Status.ProviderID] = true
		}
	}
	var list []Garbage
	for _, n := range s.Nodes {
		// Young nodes are skipped: their instances may have been launched after s.Instances was listed, and their claims may not have the
		// provider ID yet.
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

// present returns the list without nil entries.
func present[T any](list []*T) []*T {
	if !slices.Contains(list, nil) {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(o *T) bool { return o == nil })
}
