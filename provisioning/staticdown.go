package provisioning

import (
	"cmp"
	"slices"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/planning"
	"github.com/drawknife/drawknife/scheduling/pods"
)

// The order in which nodes of a static pool are removed: see staticUnit.
const (
	staticUnlaunched = iota
	staticEmpty
	staticBusy
	staticGang
	staticProtected
	staticProtectedGang
)

// staticUnit is a node of a static pool, or several that run members of the same gangs: once one of them goes, the others are of little use.
type staticUnit struct {
	rank  int
	cost  float64
	nodes []staticNode
}

// staticNode is a node of a static pool and what it costs to remove it.
type staticNode struct {
	claim *v1.NodeClaim
	rank  int
	cost  float64
	// gangs whose members run on it, by their places in StaticState.Gangs.
	gangs []int
}

// leastLoss returns n claims to delete. Of units of one rank those go first that can go whole, the largest before the others, so that few
// gangs lose members; at last a part of the cheapest.
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

// units returns the pool's nodes that could go: the largest units first, then the cheapest, and so are the nodes of each.
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

// sharesGang reports whether members of one gang run on both.
func (n staticNode) sharesGang(other staticNode) bool {
	return slices.ContainsFunc(n.gangs, func(gang int) bool { return slices.Contains(other.gangs, gang) })
}

// sum sorts the unit's nodes and sets what holds for all of them: what protects one protects the gang.
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

// nodes returns the nodes that could be removed.
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

// staticRank returns the node's rank without regard to gangs.
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
