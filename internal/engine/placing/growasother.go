package placing

import (
	"slices"

	"github.com/drawknife/drawknife/internal/engine/newnodes"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// growAsOther replaces a new node by a node that also holds a pod of the class, although some spreads count the two nodes differently. For
// example, a spread may ignore nodes of the new type. Only soft spreads and spreads that don't concern the node's pods may differ, because
// such spreads must not prevent a pod from being placed.
func (t Growth) growAsOther(class int32, loads [][]state.Binding) bool {
	if t.S.Topology == nil {
		return false
	}
	c := t.M.Classes[class]
	looked := 0
	for i := t.Fresh; i < len(t.S.Planned) && looked < maxMoved; i++ {
		mc := &t.S.Planned[i]
		if mc.Empty() || len(loads[i]) == 0 || t.AwaitsReservation(c) && mc.Reservation(t.M.Pools) == "" {
			continue
		}
		looked++
		before, host := t.Mark(), int32(len(t.M.Nodes)+i)
		known := t.neededBy(host)
		for _, st := range t.StagesFor(c) {
			if t.growWithin(0, class, int32(i), st, loads[i], newnodes.Of(t.Trial).Wider) && !t.missed(known) {
				return true
			}
			t.Undo(before)
		}
	}
	return false
}

// seenIn is a domain in which a spread with minDomains counts a node.
type seenIn struct{ group, domain int32 }

// neededBy lists the domains in which hard spreads with minDomains count the node.
func (t Growth) neededBy(host int32) (out []seenIn) {
	h := &t.S.Topology.Hosts[host]
	for g := range t.M.Topology {
		group := &t.M.Topology[g]
		if group.Kind == topology.Spread && group.Hard && group.MinDomains > 1 && group.At != topology.Hostname && !h.Ignored(int32(g)) {
			if d := h.Domains[group.At]; d != topology.NoDomain {
				out = append(out, seenIn{int32(g), d})
			}
		}
	}
	return out
}

// missed reports whether one of the given spreads no longer has a node in its domain.
func (t Growth) missed(domains []seenIn) bool {
	return slices.ContainsFunc(domains, func(s seenIn) bool { return topology.CountAt(t.S.Topology.Present[s.group], s.domain) == 0 })
}
