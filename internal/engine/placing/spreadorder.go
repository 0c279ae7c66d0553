package placing

import (
	"context"
	"math"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/layout"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// A spread constraint is checked when a pod is bound: kube-scheduler compares the domains that exist at that moment. All planned nodes
// exist before the first pod is bound. So each further node may add an empty domain that was not counted when earlier pods were placed.

// PlaceTightly tries the remaining pods again, and counts spreads as kube-scheduler does. Earlier steps also count domains in which a node
// could be launched, as if there were an empty node, so that pods are placed in all domains. PlaceTightly places pods that would otherwise
// stay pending because they can't run in a domain that has no node yet.
func (t Spreads) PlaceTightly(ctx context.Context, c *layout.Cells, classes []int32) {
	if t.RoomOnly {
		return
	}
	spread := slices.DeleteFunc(slices.Clone(classes), func(class int32) bool {
		return t.S.Waiting[class] == 0 || !spreadHard(t.M, t.M.Classes[class].Topology)
	})
	if len(spread) == 0 {
		return
	}
	waiting := t.S.Waiting.Pods()
	t.S.Topology.Binding = true
	Of(t.Trial).PlaceSingly(ctx, c, spread)
	if t.S.Waiting.Pods() < waiting {
		Of(t.Trial).PlaceSingly(ctx, c, classes)
	}
	t.S.Topology.Binding = false
}

// spreadHard reports whether the pod states a hard spread constraint (DoNotSchedule): whether its topology groups include one.
func spreadHard(m *model.Model, o *topology.Groups) bool {
	return o != nil && slices.ContainsFunc(o.Owns, func(g int32) bool { return m.Topology[g].Kind == topology.Spread && m.Topology[g].Hard })
}

// Tightly reports whether placing a pod of the class now is valid only because no emptier domain has a node.
func (t Spreads) Tightly(class int32) bool {
	return t.S.Topology != nil && t.S.Topology.Binding && spreadHard(t.M, t.M.Classes[class].Topology)
}

// Disturbs reports whether the last planned node would keep a pod that was placed earlier from being bound, because the node adds a domain
// or because of its DaemonSet pods.
func (t Spreads) Disturbs(host int32) bool {
	if t.S.Topology == nil {
		return false
	}
	if t.residentsDisturb(host) {
		return true
	}
	h := &t.S.Topology.Hosts[host]
	for g := range t.M.Topology {
		group := &t.M.Topology[g]
		if group.Kind != topology.Spread || !group.Hard || h.Ignored(int32(g)) {
			continue
		}
		if group.At == topology.Hostname {
			if t.S.Tight > 0 && !t.replays(int32(g), t.countsBefore(int32(g))) { // the counts of countsBefore already have an entry for the new node
				return true
			}
			continue
		}
		d := h.Domains[group.At]
		if d != topology.NoDomain && topology.CountAt(t.S.Topology.Present[g], d) == 1 && t.Strained(int32(g), d) && !t.bindable(int32(g), d) {
			return true
		}
	}
	return false
}

// residentsDisturb reports whether DaemonSet pods on the last node opened would keep a pod that was placed earlier from being bound. Three
// rules can cause this: anti-affinity between the DaemonSet pods and the earlier pod, stated by either of them; a spread of the earlier pod
// that counts the DaemonSet pods; and pod affinity of the earlier pod. If its affinity selects the DaemonSet pods, the earlier pod is not
// the first pod of its group. Only the first pod may run in any domain.
func (t Spreads) residentsDisturb(host int32) bool {
	mc := &t.S.Planned[host-int32(len(t.M.Nodes))]
	for _, class := range t.M.Pools[mc.Pool].Table.Rows[mc.Row].Residents {
		o := t.M.Classes[class].Topology
		for _, g := range o.In {
			group := &t.M.Topology[g]
			if !group.Hard || (group.At == topology.Hostname && group.Kind != topology.Affinity) {
				continue
			}
			d := t.domainOf(g, host)
			switch group.Kind {
			case topology.Anti:
				if topology.CountAt(t.S.Topology.Owners[g], d) > 0 && t.AnyPlaced(func(o *topology.Groups, at int32) bool { return topology.Contains(o.Owns, g) && t.domainOf(g, at) == d }) {
					return true
				}
			case topology.Spread:
				if d != topology.NoDomain && t.spreads(g) && !t.bindable(g, d) {
					return true
				}
			case topology.Affinity:
				if t.spreads(g) && t.firstOf(g, host) {
					return true
				}
			}
		}
		for _, g := range o.Owns {
			if group := &t.M.Topology[g]; group.Kind == topology.Anti && group.Hard && group.At != topology.Hostname {
				d := t.domainOf(g, host)
				if topology.CountAt(t.S.Topology.Members[g], d) > 0 && t.AnyPlaced(func(o *topology.Groups, at int32) bool { return topology.Contains(o.In, g) && t.domainOf(g, at) == d }) {
					return true
				}
			}
		}
	}
	return false
}

// firstOf reports whether all members of the group are pods that the trial has placed or pods that came with the host.
func (t Spreads) firstOf(g, host int32) bool {
	n := t.S.Topology.Total[g]
	mc := &t.S.Planned[host-int32(len(t.M.Nodes))]
	for _, class := range t.M.Pools[mc.Pool].Table.Rows[mc.Row].Residents {
		if topology.Contains(t.M.Classes[class].Topology.In, g) {
			n--
		}
	}
	for _, b := range t.S.Placed.All {
		if o := t.M.Classes[b.Class].Topology; o != nil && topology.Contains(o.In, g) {
			n -= b.Count
		}
	}
	return n <= 0
}

// AnyPlaced reports whether is(groups, host) is true for one of the pods that the trial has placed.
func (t Spreads) AnyPlaced(is func(o *topology.Groups, host int32) bool) bool {
	return slices.ContainsFunc(t.S.Placed.All, func(b state.Binding) bool {
		o := t.M.Classes[b.Class].Topology
		return b.Count > 0 && o != nil && is(o, b.Host)
	})
}

// spreads reports whether the trial has placed a pod that states the rule.
func (t Spreads) spreads(g int32) bool {
	return t.AnyPlaced(func(o *topology.Groups, _ int32) bool { return topology.Contains(o.Owns, g) })
}

// domainOf returns the node's domain for the group. For rules over nodes this is the node itself. If the group ignores the node, the result
// is topology.NoDomain.
func (t Spreads) domainOf(g, host int32) int32 {
	h := &t.S.Topology.Hosts[host]
	switch {
	case h.Gone || h.Ignored(g):
		return topology.NoDomain
	case t.M.Topology[g].At == topology.Hostname:
		return host
	}
	return h.Domains[t.M.Topology[g].At]
}

// BreaksSpread reports whether a new node in these domains could add a domain that keeps a pod that was placed earlier from being bound.
func (t Spreads) BreaksSpread(domains []int32) bool {
	for g := range t.M.Topology {
		group := &t.M.Topology[g]
		if group.Kind != topology.Spread || !group.Hard {
			continue
		}
		if group.At == topology.Hostname {
			if t.S.Tight > 0 && !t.bindable(int32(g), topology.NoDomain) {
				return true
			}
			continue
		}
		d := domains[group.At]
		if d != topology.NoDomain && topology.CountAt(t.S.Topology.Present[g], d) == 0 && t.Strained(int32(g), d) && !t.bindable(int32(g), d) {
			return true
		}
	}
	return false
}

// Strained reports whether some domain has more members than the spread allows in comparison with domain d. If it returns false, the
// placements need not be replayed: see Spreads.bindable.
func (t Spreads) Strained(g, d int32) bool {
	own := topology.CountAt(t.S.Topology.Members[g], d)
	for other, n := range t.S.Topology.Present[g] {
		if n > 0 && topology.CountAt(t.S.Topology.Members[g], int32(other))-own > t.M.Topology[g].MaxSkew {
			return true
		}
	}
	return false
}

// bindable replays the placements of the trial in their order. It reports whether each pod with the spread g could still be bound at its
// turn if domain d also existed. For a spread over nodes, it assumes one more empty node.
func (t Spreads) bindable(g, d int32) bool {
	group := &t.M.Topology[g]
	counts := t.countsBefore(g)
	if group.At == topology.Hostname {
		d = int32(len(t.S.Topology.Hosts))
	}
	if _, there := counts[d]; !there {
		counts[d] = topology.CountAt(t.S.Topology.Members[g], d)
	}
	return t.replays(g, counts)
}

// replays does the same as bindable, with counts as the initial members of the domains.
func (t Spreads) replays(g int32, counts map[int32]int32) bool {
	group := &t.M.Topology[g]
	for _, b := range t.S.Placed.All {
		o := t.M.Classes[b.Class].Topology
		at := topology.NoDomain
		if b.Count > 0 && o != nil {
			at = int(t.domainOf(g, b.Host))
		}
		if at == topology.NoDomain {
			continue
		}
		member := topology.Contains(o.In, g)
		for range b.Count {
			after := counts[int32(at)]
			if member {
				after++
			}
			if topology.Contains(o.Owns, g) && after-leastOf(counts, group.MinDomains) > group.MaxSkew {
				return false
			}
			counts[int32(at)] = after
		}
	}
	return true
}

// countsBefore returns the group's members by domain before the trial placed any pod. It has an entry for each domain that exists now.
func (t Spreads) countsBefore(g int32) map[int32]int32 {
	counts := map[int32]int32{}
	for i := range t.S.Topology.Hosts {
		d := t.domainOf(g, int32(i))
		if d == topology.NoDomain {
			continue
		}
		if t.M.Topology[g].At == topology.Hostname {
			counts[d] = t.S.Topology.Hosts[i].Of(g).Members
		} else {
			counts[d] = topology.CountAt(t.S.Topology.Members[g], d)
		}
	}
	for _, b := range t.S.Placed.All {
		if o := t.M.Classes[b.Class].Topology; b.Count > 0 && o != nil && topology.Contains(o.In, g) {
			if d := t.domainOf(g, b.Host); d != topology.NoDomain {
				counts[d] -= b.Count
			}
		}
	}
	return counts
}

func leastOf(counts map[int32]int32, minDomains int32) int32 {
	if int32(len(counts)) < minDomains {
		return 0
	}
	least := int32(math.MaxInt32)
	for _, n := range counts {
		least = min(least, n)
	}
	return least
}
