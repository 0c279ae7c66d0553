package scheduling

import (
	"errors"
	"fmt"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/existing"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/state"
)

// ErrNoPlace is what Put and PutNew wrap when a pod may not go where it is to be put.
var ErrNoPlace = errors.New("it has no place there")

// Ruled reports whether any pod states a rule about where others are: without one, places taken in one order can be taken in
// any.
func (t *Trial) Ruled() bool { return t.s.Topology != nil }

// Expect makes room for so many pods that will be hidden and put somewhere, so that room for them is not found bit by bit.
func (t *Trial) Expect(pods int) {
	t.s.Expect(pods)
}

// Put places pods that wait, of hidden nodes or the snapshot's own, on a node of the snapshot, in their order, by the rules
// that Place goes by. The error wraps ErrNoPlace for a pod that may not go there, and says of a pod that does not wait and of a
// node that the snapshot does not have; pods before it are then placed, so roll back.
func (t *Trial) Put(node string, pods []PodKey) error {
	i, ok := t.m.c.NodeIndex[node]
	if !ok {
		return fmt.Errorf("putting pods on node %q: the snapshot has none of that name", node)
	}
	host := int32(i)
	for _, key := range pods {
		class, err := t.waitingClass(key)
		if err != nil {
			return fmt.Errorf("putting pods on node %q: %w", node, err)
		}
		c := t.m.c.Classes[class]
		if !t.s.Usable.Has(i) || !resources.Fits(t.s.Volumes.NeedOn(c, host), t.s.FreeOf(host)) || !t.m.c.Fits.Accepts(t.m.c.Nodes[i].Group, c.Shape) || !t.admitsPut(c, host) {
			return fmt.Errorf("putting pod %s on node %q: %w", key, node, ErrNoPlace)
		}
		t.place(state.Binding{Class: class, Host: host, Count: 1, Stage: -1})
	}
	return nil
}

// admitsPut is admits for a pod whose domain is decided: spreads count the domains that there are.
func (t *Trial) admitsPut(c *podclass.Class, host int32) bool {
	if t.s.Admits(c, host) || t.s.Topology == nil {
		return true
	}
	t.s.Topology.Binding = true
	defer func() { t.s.Topology.Binding = false }()
	return t.s.Admits(c, host)
}

// PutNew opens a new node as planned, of its first instance type, and places its pods on it; errors are as for Put.
func (t *Trial) PutNew(n *NewNode) error {
	pool, ok := t.m.c.PoolIndex[n.Pool]
	if !ok || len(n.InstanceTypes) == 0 || t.m.c.Pools[pool].Table == nil {
		return fmt.Errorf("putting pods on a new node of pool %s: it launches none: %w", n.Pool, ErrNoPlace)
	}
	mc, ok := t.nodeFor(int32(pool), n)
	if !ok {
		return fmt.Errorf("putting pods on a new node of pool %s: %s is not to be had: %w", n.Pool, n.InstanceTypes[0].Name, ErrNoPlace)
	}
	host := t.s.Open(mc)
	if t.disturbs(host) {
		return fmt.Errorf("putting pods on a new node of pool %s: it would unsettle others: %w", n.Pool, ErrNoPlace)
	}
	return t.PutMore(t.NewNodes()-1, n.Pods)
}

// PutMore places pods on a new node that is open, by its number; errors are as for Put.
func (t *Trial) PutMore(number int, pods []PodKey) error {
	if number < 0 || number >= t.NewNodes() {
		return fmt.Errorf("putting pods on new node %d: the trial has none of that number", number)
	}
	host, mc := int32(len(t.m.c.Nodes)+number), &t.s.Planned[number]
	pool := t.m.c.Pools[mc.Pool].Key
	for _, key := range pods {
		class, err := t.waitingClass(key)
		if err != nil {
			return fmt.Errorf("putting pods on a new node of pool %s: %w", pool, err)
		}
		c := t.m.c.Classes[class]
		stage := t.stageOn(c, mc)
		if stage < 0 || !resources.Fits(t.s.Volumes.NeedOn(c, host), t.s.RoomOf(host)) || !t.admitsPut(c, host) {
			return fmt.Errorf("putting pod %s on a new node of pool %s: %w", key, pool, ErrNoPlace)
		}
		t.place(state.Binding{Class: class, Host: host, Count: 1, Stage: stage})
	}
	return nil
}

// nodeFor is the node to buy for a planned node's first type.
func (t *Trial) nodeFor(pool int32, n *NewNode) (state.Node, bool) {
	p := t.m.c.Pools[pool]
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
			if !t.s.Limits.Affordable(pool, int32(r)) || !t.s.Limits.Reservable(pool, int32(r), int32(s)) {
				continue
			}
			mc := state.Node{Pool: pool, Row: int32(r), Slot: int32(s), Price: price}
			for req := range n.Requirements.All {
				if p.LeftOpen(req.Key()) && (match.SingleValued(req) || p.MayStayOpen(req) && !slices.Contains(t.m.c.TopologyKeys, req.Key())) {
					mc.Labels = mc.Labels.With(req)
				}
			}
			return mc, true
		}
	}
	return state.Node{}, false
}

// waitingClass is the class of a pod of a hidden node, or of one that the snapshot has waiting, if pods of that class wait.
func (t *Trial) waitingClass(key PodKey) (int32, error) {
	if p := t.freedOfLate(key); p != nil {
		if t.s.Waiting[p.Class] == 0 {
			return 0, notWaiting(key)
		}
		return p.Class, nil
	}
	if t.freedClass == nil {
		pods := len(t.m.c.Pods)
		for i := range t.m.c.Nodes {
			pods += len(t.m.c.Nodes[i].Movable)
		}
		t.freedClass = make(map[PodKey]int32, pods) // whoever puts pods where a plan has them has most of them move
		for class, c := range t.m.c.Classes {
			if c.Invalid != nil {
				continue
			}
			for _, i := range c.Pending {
				p := t.m.c.Pods[i]
				t.freedClass[PodKey{Namespace: p.Namespace, Name: p.Name}] = int32(class)
			}
		}
	}
	for ; t.freedIndexed < len(t.s.Freed); t.freedIndexed++ {
		p := t.s.Freed[t.freedIndexed]
		t.freedClass[PodKey{Namespace: p.Pod.Namespace, Name: p.Pod.Name}] = p.Class
	}
	class, ok := t.freedClass[key]
	if !ok || t.s.Waiting[class] == 0 {
		return 0, notWaiting(key)
	}
	return class, nil
}

// mostOfLate is how many pods that were freed last are gone through before they are sought by name.
const mostOfLate = 256

// freedOfLate is the pod if it is one of those that were freed last: mostly pods are put somewhere right after their node was hidden, in the
// order in which they were on it.
func (t *Trial) freedOfLate(key PodKey) *existing.Pod {
	last := len(t.s.Freed) - 1
	for i, n := min(t.soughtLast+1, last), 0; i >= 0 && n < mostOfLate; n++ {
		if p := &t.s.Freed[i]; p.Pod.Name == key.Name && p.Pod.Namespace == key.Namespace {
			t.soughtLast = i
			return p
		}
		if i--; n == 0 {
			i = last
		}
	}
	return nil
}

func notWaiting(key PodKey) error {
	return fmt.Errorf("pod %s does not wait: it is of no hidden node and was not waiting, or is placed", key)
}
