package scheduling

import (
	"context"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// What a claim leaves open hangs on other nodes too: it may name a zone that a spread counts only where some node is in
// it. So a node that others leave, for a cheaper one elsewhere or for good, can cost a claim the variety that its pool asks
// for.

// allVaried reports whether the new nodes of pools with minValues leave the variety these ask for, with the domains that
// there are now.
func (t *Trial) allVaried() bool { return len(t.unvaried(0, true)) == 0 }

// unvaried lists the new nodes from the given one on that don't, or just the first of them.
func (t *Trial) unvaried(from int, first bool) (out []int32) {
	if t.s.Topology == nil || !slices.ContainsFunc(t.m.c.Pools, t.strictVariety) {
		return nil
	}
	for i, load := range t.s.Loads(from) {
		if len(load) > 0 && !t.stillVaried(int32(from+i), load) {
			if out = append(out, int32(from+i)); first {
				break
			}
		}
	}
	return out
}

// vacated reports whether a spread that must be kept counts a node fewer in one of the domains, and now none.
func (t *Trial) vacated(domains []int32) bool {
	for g := range t.m.c.Topology {
		group := &t.m.c.Topology[g]
		if group.Kind != topology.Spread || !group.Hard || group.At == topology.Hostname {
			continue
		}
		if d := domains[group.At]; d != topology.NoDomain && topology.CountAt(t.s.Topology.Present[g], d) == 0 {
			return true
		}
	}
	return false
}

// exchangeVaried is exchange; it reports whether that leaves the node, with the load, and the others as varied as their
// pools ask for.
func (t *Trial) exchangeVaried(i int32, other state.Node, load []state.Binding) bool {
	var domains []int32
	if t.s.Topology != nil {
		domains = t.s.Topology.Hosts[int32(len(t.m.c.Nodes))+i].Domains
	}
	t.s.Exchange(i, other)
	return t.stillVaried(i, load) && (domains == nil || !t.vacated(domains) || t.allVaried())
}

// keepVaried places the pods again that were placed since the mark on nodes which are not varied enough any more.
func (t *Trial) keepVaried(ctx context.Context, before Mark, classes []int32) {
	for round := 0; !t.allVaried(); round++ {
		w := t.s.Record(before.at)
		t.undo(before)
		t.restore(w) // without empty nodes: those there are bear the numbers of the record
		bad := t.unvaried(int(w.First)-len(t.m.c.Nodes), false)
		t.undo(before)
		t.restoreBut(w, func(host int32) bool { return slices.Contains(bad, host-int32(len(t.m.c.Nodes))) })
		if len(bad) == 0 {
			return
		}
		if round < maxBuys {
			t.placeLeft(ctx, classes)
		}
	}
}
