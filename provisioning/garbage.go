package provisioning

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// GarbageEvery is how often to collect garbage (PRV-081).
const GarbageEvery = 2 * time.Minute

// GarbageState is what is observed of all claims and machines. The machines must have been listed before the claims:
// otherwise a claim that was launched in between would look as if its machine were missing.
type GarbageState struct {
	// Machines is the provider's List, whole.
	Machines []*v1.NodeClaim
	// Claims are all of the cluster's.
	Claims []*v1.NodeClaim
	// Nodes are all of the cluster's.
	Nodes []*corev1.Node
	// Lag is how long the provider's List may lag behind (Capabilities.ConsistencyWindow).
	Lag time.Duration
}

// CollectGarbage compares claims and machines both ways. A claim whose machine has vanished is deleted, unless its
// node is there and ready, which says otherwise (PRV-081). A machine that bears a UID no claim has is ended, once it is
// older than the list may lag and than a launch whose claim may not have been seen yet can take: its claim was deleted
// before its launch was answered, or never stored. One whose node is of a pool of the first generation is not: early releases
// stored no claims.
func CollectGarbage(s GarbageState, now time.Time) Step {
	var step Step
	step.Again = GarbageEvery
	step.Effects = slices.Concat(claimsWithoutMachine(s, now), machinesWithoutClaim(s, now), nodesWithoutEither(s))
	return step
}

func claimsWithoutMachine(s GarbageState, now time.Time) []Effect {
	live := map[string]bool{}
	for _, m := range s.Machines {
		if m.DeletionTimestamp == nil {
			live[m.Status.ProviderID] = true
		}
	}
	ready := map[string]bool{}
	for _, n := range s.Nodes {
		if nodeCondition(n, corev1.NodeReady) == corev1.ConditionTrue {
			ready[n.Spec.ProviderID] = true
		}
	}
	var effects []Effect
	for _, c := range byName(s.Claims) {
		conditions := c.DeepCopy().Conditions()
		registered := conditions.Get(v1.ConditionRegistered)
		id := c.Status.ProviderID
		if c.DeletionTimestamp != nil || id == "" || registered.Status != "True" || live[id] || ready[id] ||
			now.Before(registered.LastTransitionTime.Add(s.Lag)) {
			continue
		}
		effects = append(effects, DeleteClaim{Name: c.Name, UID: c.UID, Reason: ReasonGarbageCollected})
	}
	return effects
}

// orphanAge is how old a machine without a claim has to be: claims are stored before their machines are launched, so
// that a cache of claims is the only thing that can be late.
const orphanAge = 30 * time.Second

func machinesWithoutClaim(s GarbageState, now time.Time) []Effect {
	uids, ids := map[types.UID]bool{}, map[string]bool{}
	for _, c := range s.Claims {
		uids[c.UID] = true
		if c.Status.ProviderID != "" {
			ids[c.Status.ProviderID] = true
		}
	}
	for _, n := range s.Nodes {
		// Releases before 0.28 stored no Machines: their nodes stand for themselves (API-337).
		if v1.PoolOf(n.Labels).Generation == v1.GenerationV1Alpha5 && n.Spec.ProviderID != "" {
			ids[n.Spec.ProviderID] = true
		}
	}
	var effects []Effect
	for _, m := range byName(s.Machines) {
		age := max(orphanAge, s.Lag)
		if m.DeletionTimestamp != nil || uids[m.UID] && m.UID != "" || ids[m.Status.ProviderID] || now.Before(m.CreationTimestamp.Add(age)) {
			continue
		}
		effects = append(effects, TerminateInstance{m.DeepCopy()})
	}
	return effects
}

func nodesWithoutEither(s GarbageState) []Effect {
	known := map[string]bool{}
	for _, list := range [][]*v1.NodeClaim{s.Claims, s.Machines} {
		for _, c := range list {
			known[c.Status.ProviderID] = true
		}
	}
	var effects []Effect
	for _, n := range s.Nodes {
		if n.DeletionTimestamp == nil && !v1.PoolOf(n.Labels).IsZero() && n.Spec.ProviderID != "" &&
			!known[n.Spec.ProviderID] && nodeCondition(n, corev1.NodeReady) != corev1.ConditionTrue {
			effects = append(effects, DeleteNode{Name: n.Name, UID: n.UID})
		}
	}
	slices.SortFunc(effects, func(a, b Effect) int { return cmp.Compare(a.String(), b.String()) })
	return effects
}

func byName(claims []*v1.NodeClaim) []*v1.NodeClaim {
	return slices.SortedFunc(slices.Values(claims), func(a, b *v1.NodeClaim) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Status.ProviderID, b.Status.ProviderID))
	})
}
