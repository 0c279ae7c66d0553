package provisioning

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/option"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/limits"
	"github.com/drawknife/drawknife/scheduling/nodeclaims"
	"github.com/drawknife/drawknife/scheduling/planning"
	"github.com/drawknife/drawknife/scheduling/pods"
)

// Periods of static pools.
const (
	staticEvery     = time.Minute
	staticLimitWait = 30 * time.Second
)

// StaticState is the observed state of a static pool: one with a fixed number of replicas. It is not changed.
type StaticState struct {
	// Pool as stored.
	Pool *v1.NodePool
	// Claims are all claims of the pool.
	Claims []StaticClaim
	// Gangs whose members may run on the pool's nodes; nil if there are none.
	Gangs []scheduling.Gang
	// Ordered is the number of the pool's claims that have been created but are not in Claims yet.
	Ordered int
}

// StaticClaim is a claim of a static pool with the pods of its node.
type StaticClaim struct {
	Claim *v1.NodeClaim
	Pods  []*corev1.Pod
	// Replaced is true if a replacement is planned or launched: the claim will be removed, but is not deleted yet.
	Replaced bool
}

// StaticStep is the next step of a static pool.
type StaticStep struct {
	// Launches are the claims to create.
	Launches []Launch
	// Deletions are the claims to delete.
	Deletions []DeleteClaim
	// Err is why not all missing nodes are launched: the pool's limit on nodes. It is nil if all of them are launched.
	Err error
	// Again is the time after which to call ScaleStatic again.
	Again time.Duration
}

// ScaleStatic returns the next step of a static pool towards its number of replicas. Claims that are being deleted or replaced don't count,
// but ordered claims do, so that nothing is launched twice. Scaling down first removes the nodes that cost least to remove: nodes without
// an instance, empty nodes, nodes without protected pods and members of gangs, nodes whose pods are cheap to move, and nodes near the end
// of their life. If members of gangs must be removed, as few gangs as possible lose members.
func ScaleStatic(s StaticState, o nodeclaims.Options, now time.Time) (StaticStep, error) {
	pool := s.Pool
	if pool == nil {
		return StaticStep{}, option.Missing("ScaleStatic", "the pool")
	}
	if pool.Spec.Replicas == nil {
		return StaticStep{}, nil
	}
	if pool.DeletionTimestamp != nil || !pool.DeepCopy().Conditions().IsTrue(v1.ConditionReady) {
		return StaticStep{Again: staticEvery}, nil
	}
	staying, all := 0, s.Ordered
	for _, c := range s.Claims {
		all++
		if c.Claim.DeletionTimestamp == nil && !c.Replaced {
			staying++
		}
	}
	want := int(*pool.Spec.Replicas)
	switch have := staying + s.Ordered; {
	case have < want:
		return s.scaleUp(want-have, all, o)
	case staying > want:
		return StaticStep{Deletions: s.leastLoss(staying-want, now), Again: staticEvery}, nil
	}
	return StaticStep{Again: staticEvery}, nil
}

// scaleUp orders as many of the missing nodes as the pool's limit on nodes allows. The parameter all is the number of existing nodes. It
// includes nodes that are being removed, because they also count against the limit.
func (s StaticState) scaleUp(missing, all int, o nodeclaims.Options) (StaticStep, error) {
	step := StaticStep{Again: staticEvery}
	if limit, ok := s.Pool.Spec.Limits[limits.ResourceNodes]; ok {
		if room := max(0, int(limit.Value())-all); room < missing {
			step.Err = fmt.Errorf("nodepool %s: %d nodes are missing, but spec.limits[nodes] %s allows only %d more: raise the limit", v1.QualifiedName(s.Pool), missing, limit.String(), room)
			step.Again = staticLimitWait
			missing = room
		}
	}
	pool := &scheduling.NodePool{Key: s.Pool.Key(), Object: s.Pool}
	for range missing {
		claim, err := nodeclaims.NewStatic(pool, o)
		if err != nil {
			return StaticStep{}, err
		}
		step.Launches = append(step.Launches, Launch{Claim: claim, Pool: pool.Key})
	}
	return step, nil
}

// The order in which nodes of a static pool are removed: see staticUnit.
const (
	staticUnlaunched = iota
	staticEmpty
	staticBusy
	staticGang
	staticProtected
	staticProtectedGang
)

// staticUnit is a node of a static pool, or all nodes that run members of the same gangs. If one node of a unit is removed, its other nodes
// are of little use.
type staticUnit struct {
	rank  int
	cost  float64
	nodes []staticNode
}

// staticNode is a node of a static pool, with the rank and cost of its removal.
type staticNode struct {
	claim *v1.NodeClaim
	rank  int
	cost  float64
	// gangs are the indexes, in StaticState.Gangs, of the gangs with members on the node.
	gangs []int
}

// leastLoss returns n claims to delete. Nodes with a lower rank come first. Within a rank, units that can be removed completely come first,
// with the largest unit first, so that few gangs lose members. If more nodes of this rank must be removed, a part of the unit with the
// lowest cost is removed.
func (s StaticState) leastLoss(n int, now time.Time) []DeleteClaim {
	var out []DeleteClaim
	take := func(nodes []staticNode) {
		for _, node := range nodes {
			out = append(out, DeleteClaim{Name: node.claim.Name, UID: node.claim.UID, Reason: ReasonScaledDown})
		}
	}
	units := s.units(now)
	for rank := staticUnlaunched; rank <= staticProtectedGang; rank++ {
		var part *staticUnit
		for i := range units {
			u := &units[i]
			switch {
			case u.rank != rank:
			case len(u.nodes) <= n-len(out):
				take(u.nodes)
			case part == nil || u.cost < part.cost:
				part = u
			}
		}
		if part != nil {
			take(part.nodes[:min(len(part.nodes), n-len(out))])
		}
	}
	return out
}

// units returns the pool's nodes that could be removed, as units. The largest units come first, and units of equal size are sorted by
// ascending cost. Within a unit, nodes are in the order in which the method sum sorts them.
func (s StaticState) units(now time.Time) []staticUnit {
	var out []staticUnit
	for _, node := range s.nodes(now) {
		u := staticUnit{nodes: []staticNode{node}}
		if len(node.gangs) == 0 {
			out = append(out, u)
			continue
		}
		out = slices.DeleteFunc(out, func(other staticUnit) bool {
			shares := slices.ContainsFunc(other.nodes, node.sharesGang)
			if shares {
				u.nodes = append(u.nodes, other.nodes...)
			}
			return shares
		})
		out = append(out, u)
	}
	for i := range out {
		out[i].sum()
	}
	slices.SortFunc(out, func(a, b staticUnit) int {
		return cmp.Or(cmp.Compare(len(b.nodes), len(a.nodes)), cmp.Compare(a.cost, b.cost), cmp.Compare(a.nodes[0].claim.Name, b.nodes[0].claim.Name))
	})
	return out
}

// sharesGang reports whether members of one gang run on both nodes.
func (n staticNode) sharesGang(other staticNode) bool {
	return slices.ContainsFunc(n.gangs, func(gang int) bool { return slices.Contains(other.gangs, gang) })
}

// sum sorts the unit's nodes by rank and cost, and computes the unit's rank and cost. The rank is the highest rank of the nodes, because
// the protection of one node protects the whole gang. The unit's rank is one higher if its nodes run members of gangs.
func (u *staticUnit) sum() {
	slices.SortFunc(u.nodes, func(a, b staticNode) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.cost, b.cost), cmp.Compare(a.claim.Name, b.claim.Name))
	})
	for _, node := range u.nodes {
		u.rank, u.cost = max(u.rank, node.rank), u.cost+node.cost
	}
	if len(u.nodes[0].gangs) > 0 {
		u.rank++ // to staticGang or staticProtectedGang
	}
}

// nodes returns the nodes that could be removed, with their ranks, costs and gangs.
func (s StaticState) nodes(now time.Time) []staticNode {
	gangOf := map[scheduling.PodKey]int{}
	for i := range s.Gangs {
		if s.Gangs[i].DisruptionMode == planning.GangDisruptedSingly {
			continue
		}
		for _, key := range s.Gangs[i].Members {
			gangOf[key] = i
		}
	}
	var out []staticNode
	for _, c := range s.Claims {
		if c.Claim.DeletionTimestamp != nil || c.Replaced {
			continue
		}
		node := staticNode{claim: c.Claim, rank: staticRank(c, now)}
		for _, pod := range c.Pods {
			node.cost += pods.EvictionCost(pod)
			gang, member := gangOf[scheduling.PodKey{Namespace: pod.Namespace, Name: pod.Name}]
			if member && node.rank >= staticBusy && pods.Active(pod) && !slices.Contains(node.gangs, gang) {
				node.gangs = append(node.gangs, gang)
			}
		}
		if life, expires := c.Claim.Spec.ExpireAfter.Duration(); expires {
			node.cost *= pods.RemainingLifetime(c.Claim.CreationTimestamp.Time, now, &life)
		}
		out = append(out, node)
	}
	return out
}

// staticRank returns the rank that the node has without regard to members of gangs.
func staticRank(c StaticClaim, now time.Time) int {
	if c.Claim.Status.ProviderID == "" {
		return staticUnlaunched
	}
	rank := staticEmpty
	for _, pod := range c.Pods {
		switch {
		case pods.Active(pod) && pods.Protected(pod, now):
			return staticProtected
		case pods.Reschedulable(pod):
			rank = staticBusy
		}
	}
	return rank
}
