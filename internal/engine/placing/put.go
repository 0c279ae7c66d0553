package placing

import (
	"errors"
	"fmt"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// ErrNoPlace is wrapped by errors of Put and PutNew if a pod may not go on the given node.
var ErrNoPlace = errors.New("the node has no place for it")

// Put places pending pods, of hidden nodes or of the snapshot, on a node of the snapshot. It places them in the given order, by the same
// rules as Place. The error wraps ErrNoPlace if a pod may not run on the node. All other errors name pods that are not pending, or unknown
// nodes. In case of an error, the pods before the failing pod stay placed. The caller must roll them back.
func (t Placing) Put(node string, pods []planning.PodKey) error {
	i, ok := t.M.NodeIndex[node]
	if !ok {
		return fmt.Errorf("putting pods on node %q: the snapshot has no node with this name", node)
	}
	host := int32(i)
	for _, key := range pods {
		class, err := t.WaitingClass(key)
		if err != nil {
			return fmt.Errorf("putting pods on node %q: %w", node, err)
		}
		c := t.M.Classes[class]
		if !t.S.Room.Usable.Has(i) || !resources.Fits(t.S.Volumes.NeedOn(c, host), t.S.Room.Of(host)) || !t.M.Fits.Accepts(t.M.Nodes[i].Group, c.Shape) || !t.admitsPut(c, host) {
			return fmt.Errorf("putting pod %s on node %q: %w", key, node, ErrNoPlace)
		}
		t.Add(state.Binding{Class: class, Host: host, Count: 1, Stage: -1})
	}
	return nil
}

// admitsPut reports whether rules allow a pod of the class on the host. Because the caller has chosen the host, it is sufficient that rules
// allow the pod if spreads count only existing domains.
func (t Placing) admitsPut(c *podclass.Class, host int32) bool {
	if t.S.Admits(c, host) || t.S.Topology == nil {
		return true
	}
	t.S.Topology.Binding = true
	defer func() { t.S.Topology.Binding = false }()
	return t.S.Admits(c, host)
}

// PutNew opens a planned node with the first of its instance types, and places the node's pods on it. It returns the same errors as Put.
func (t Placing) PutNew(n *planning.NewNode) error {
	pool, ok := t.M.PoolIndex[n.Pool]
	if !ok || len(n.InstanceTypes) == 0 || t.M.Pools[pool].Table == nil {
		return fmt.Errorf("putting pods on a new node of pool %s: the pool is unknown or launches no nodes, or the node has no instance type: %w", n.Pool, ErrNoPlace)
	}
	mc, ok := t.nodeFor(int32(pool), n)
	if !ok {
		return fmt.Errorf("putting pods on a new node of pool %s: %s is not available, or limits don't allow it: %w", n.Pool, n.InstanceTypes[0].Name, ErrNoPlace)
	}
	host := t.S.Open(mc)
	if SpreadsOf(t.Trial).Disturbs(host) {
		return fmt.Errorf("putting pods on a new node of pool %s: the new node would break topology spread constraints of other pods: %w", n.Pool, ErrNoPlace)
	}
	return t.PutMore(t.NewNodes()-1, n.Pods)
}

// PutMore places pods on the open new node with the given number. It returns the same errors as Put.
func (t Placing) PutMore(number int, pods []planning.PodKey) error {
	if number < 0 || number >= t.NewNodes() {
		return fmt.Errorf("putting pods on new node %d: the trial has no new node with this number", number)
	}
	host, mc := int32(len(t.M.Nodes)+number), &t.S.Planned[number]
	pool := t.M.Pools[mc.Pool].Key
	for _, key := range pods {
		class, err := t.WaitingClass(key)
		if err != nil {
			return fmt.Errorf("putting pods on a new node of pool %s: %w", pool, err)
		}
		c := t.M.Classes[class]
		stage := t.StageOn(c, mc)
		if stage < 0 || !resources.Fits(t.S.Volumes.NeedOn(c, host), t.S.RoomOf(host)) || !t.admitsPut(c, host) {
			return fmt.Errorf("putting pod %s on a new node of pool %s: %w", key, pool, ErrNoPlace)
		}
		t.Add(state.Binding{Class: class, Host: host, Count: 1, Stage: stage})
	}
	return nil
}

// nodeFor converts a planned node to a node of its first instance type.
func (t Placing) nodeFor(pool int32, n *planning.NewNode) (state.Node, bool) {
	p := t.M.Pools[pool]
	c := p.Table.Catalog
	want := n.InstanceTypes[0].Offering()
	for r := range p.Rows.Members {
		row := &p.Table.Rows[r]
		if c.Types[c.Variants[row.Variant].Type].Name != want.InstanceType {
			continue
		}
		for s := range row.Slots.Members {
			slot := &c.Slots[s]
			price := c.Price(row.Variant, s)
			if !p.Slots.Has(s) || price == market.NoPrice || slot.Zone != want.Zone || slot.CapacityType != want.CapacityType || slot.Others != want.Others {
				continue
			}
			if !t.S.Limits.Affordable(pool, int32(r)) || !t.S.Limits.Reservable(pool, int32(r), int32(s)) {
				continue
			}
			mc := state.Node{Pool: pool, Row: int32(r), Slot: int32(s), Price: price}
			for req := range n.Requirements.All {
				if p.LeftOpen(req.Key()) && (match.SingleValued(req) || p.MayStayOpen(req) && !slices.Contains(t.M.TopologyKeys, req.Key())) {
					mc.Labels = mc.Labels.With(req)
				}
			}
			return mc, true
		}
	}
	return state.Node{}, false
}
