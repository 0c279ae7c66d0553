package state

import (
	"slices"

	"github.com/drawknife/drawknife/internal/engine/layout"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// counting updates the counters of the rules between pods when nodes are added, removed and exchanged. It caches the domains of new nodes
// whose labels follow from pool, instance type and offering alone.
type counting struct {
	seen map[[3]int32]seenByRules
}

// seenByRules contains the domains of a new node and the topology groups that ignore the node.
type seenByRules struct{ domains, ignoredBy []int32 }

// bound adds an existing node and its bound pods to the counters (if n is 1), or removes them (if n is -1).
func (counting) bound(w *World, t *topology.State, node, n int32) {
	if n > 0 {
		t.SetGone(node, false)
	}
	for _, p := range w.Nodes[node].Bound {
		t.Place(layout.GroupsOfBound(w.Rules, p, w.Classes[p.Class].Topology), node, n)
	}
	if n < 0 {
		t.SetGone(node, true)
	}
}

// residents adds n times the DaemonSet pods of a new node to the counters.
func (counting) residents(w *World, t *topology.State, host int32, node *Node, n int32) {
	for _, class := range w.Pools[node.Pool].Table.Rows[node.Row].Residents {
		t.Place(w.Classes[class].Topology, host, n)
	}
}

// opened adds a new node to the counters. The node is the last host.
func (c *counting) opened(w *World, t *topology.State, host int32, node *Node) {
	seen := c.as(w, t, node)
	t.AddHostIn(seen.domains, seen.ignoredBy)
	c.residents(w, t, host, node, 1)
}

// unopened undoes the method opened.
func (c *counting) unopened(w *World, t *topology.State, host int32, node *Node) {
	c.residents(w, t, host, node, -1)
	t.DropHost()
}

// abandoned removes an empty new node from the counters (if n is -1), or adds it again (if n is 1).
func (c *counting) abandoned(w *World, t *topology.State, host int32, node *Node, n int32) {
	if n > 0 {
		t.SetGone(host, false)
	}
	c.residents(w, t, host, node, n)
	if n < 0 {
		t.SetGone(host, true)
	}
}

// relabelled updates the counters after the labels of a new node have changed. The node may be in other domains now, and other spreads may
// count or ignore it.
func (c *counting) relabelled(w *World, t *topology.State, host int32, node *Node, load *Placements) {
	seen := c.as(w, t, node)
	if h := &t.Hosts[host]; slices.Equal(seen.domains, h.Domains) && slices.Equal(seen.ignoredBy, h.IgnoredBy) {
		return
	}
	recount := func(n int32) {
		for b := range load.On(host) {
			t.Place(w.Classes[b.Class].Topology, host, n*b.Count)
		}
		c.residents(w, t, host, node, n)
	}
	recount(-1)
	t.Rejoin(host, seen.domains, seen.ignoredBy)
	recount(1)
}

// The method as returns the domains of a new node and the topology groups that ignore the node.
func (c *counting) as(w *World, t *topology.State, node *Node) seenByRules {
	at := [3]int32{node.Pool, node.Row, node.Slot}
	if known, has := c.seen[at]; has && node.Labels.Len() == 0 {
		return known
	}
	as := nodepool.Assignment{Labels: node.Labels}
	out := seenByRules{
		domains:   t.DomainsOf(func(key string) string { return w.Pools[node.Pool].Label(int(node.Row), int(node.Slot), &as, key) }),
		ignoredBy: t.IgnoredBy(KnownLabels(w.Pools, w.Asked, node, &as), w.Pools[node.Pool].Taints),
	}
	if node.Labels.Len() == 0 {
		if c.seen == nil {
			c.seen = map[[3]int32]seenByRules{}
		}
		c.seen[at] = out
	}
	return out
}
