package placing

import (
	"slices"

	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// AllVaried reports whether the possible types of all new nodes meet their pools' minValues with the current domains.
func (t Growth) AllVaried() bool { return len(t.Unvaried(0, true)) == 0 }

// Unvaried lists the new nodes, beginning with the number from, whose possible types don't meet minValues. If first is set, it lists only
// the first of these nodes.
func (t Growth) Unvaried(from int, first bool) (out []int32) {
	if t.S.Topology == nil || !slices.ContainsFunc(t.M.Pools, t.StrictVariety) {
		return nil
	}
	for i, load := range t.S.Placed.Loads(from) {
		if len(load) > 0 && !t.StillVaried(int32(from+i), load) {
			if out = append(out, int32(from+i)); first {
				break
			}
		}
	}
	return out
}

// vacated reports whether, for some hard spread, one of the domains no longer has a node.
func (t Growth) vacated(domains []int32) bool {
	for g := range t.M.Topology {
		group := &t.M.Topology[g]
		if group.Kind != topology.Spread || !group.Hard || group.At == topology.Hostname {
			continue
		}
		if d := domains[group.At]; d != topology.NoDomain && topology.CountAt(t.S.Topology.Present[g], d) == 0 {
			return true
		}
	}
	return false
}

// exchangeVaried replaces new node i by other. It reports whether this node, with its load, and all other nodes still meet their pools'
// minValues.
func (t Growth) exchangeVaried(i int32, other state.Node, load []state.Binding) bool {
	var domains []int32
	if t.S.Topology != nil {
		domains = t.S.Topology.Hosts[int32(len(t.M.Nodes))+i].Domains
	}
	t.S.Exchange(i, other)
	return t.StillVaried(i, load) && (domains == nil || !t.vacated(domains) || t.AllVaried())
}
