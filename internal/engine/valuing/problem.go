package valuing

import (
	"encoding/binary"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/layout"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/newnodes"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/offers"
	"github.com/drawknife/drawknife/internal/engine/pricing"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// NewProblem returns the problem of choosing nodes for the items. Rules about single nodes become caps. Only the part of the commitments
// that the trial's nodes don't use is offered.
func (t Valuing) NewProblem(items []pricing.Item, c *layout.Cells) *offers.Choice {
	s := t.M.Shop()
	if p := t.known(s, items, c); p != nil {
		return p
	}
	caps := s.Caps(items, false)
	return t.Complete(s.Choose(s.WithCaps(items, caps), c), caps)
}

// NewJoined is like NewProblem, but joins items that need not be distinguished.
func (t Valuing) NewJoined(items []pricing.Item, c *layout.Cells) *offers.Choice {
	s := t.M.Shop()
	if t.Remembers(items) {
		j := s.Join(items)
		p := t.known(s, j.Items, c)
		p.Alike = j
		return p
	}
	caps := s.Caps(items, false)
	join := s.Join
	if t.M.Costs != nil {
		join = offers.Apart
	}
	j := join(s.WithCaps(items, caps))
	p := t.Complete(s.Choose(j.Items, c), caps)
	p.Alike = j
	return p
}

// Remembers reports whether the choices of new nodes for the items, and the packing of the items, can be cached. With rules between pods or
// with commitments they can't be cached, because the choices then depend on earlier placements.
func (t Valuing) Remembers(items []pricing.Item) bool {
	return t.Packings != nil && t.M.Costs == nil && !slices.ContainsFunc(items, func(it pricing.Item) bool { return it.Topology != nil || it.Cell != layout.AnyCell })
}

// known returns the problem of choosing nodes for the items, with the help of a cache. It returns nil if the choices can't be cached (see
// Remembers).
func (t Valuing) known(s *offers.Market, items []pricing.Item, c *layout.Cells) *offers.Choice {
	if !t.Remembers(items) {
		return nil
	}
	places := pricing.PlacesInUse(items)
	key := make([]byte, 0, 5*len(places))
	for _, place := range places {
		key = append(binary.LittleEndian.AppendUint32(key, uint32(place.Stage)), byte(place.Rules))
	}
	all, ok := t.Packings.Choices[string(key)]
	if !ok {
		all = s.Anywhere(places)
		t.Packings.Choices[string(key)] = all
	}
	return all.Narrow(s, items, c)
}

// NewProof is like NewJoined, but the problem is used to compute a lower bound.
func (t Valuing) NewProof(items []pricing.Item) *offers.Choice {
	s := t.M.Shop()
	s.Most = true
	caps := s.Caps(items, true)
	given := s.WithCaps(items, caps)
	if t.S.Topology != nil {
		// Without rules between pods, resources are not counted in whole units here, because the certificates of such plans contain only
		// multipliers.
		given, caps = offers.CountWhole(given, caps, t.PlannedRooms(), t.M.Resources.Len())
	}
	j := s.Join(given)
	p := t.Complete(s.Choose(j.Items, nil), caps)
	p.Alike = j
	return p
}

// Complete adds the caps to a choice, and the part of the commitments that planned nodes don't use.
func (t Valuing) Complete(p *offers.Choice, caps []offers.Cap) *offers.Choice {
	p.Widen(caps)
	if len(p.Committed) > 0 {
		p.CommitmentLeft = newnodes.Of(t.Trial).CommitmentsLeft()
	}
	return p
}

// Provable returns the item of a class for a proof. The item's pods may be in any cell that the stage allows. Only the rules of the class
// itself limit how many of these pods share a node; rules between classes are ignored. Ignoring rules can only lower the bound.
func Provable(m *model.Model, class, stage int32, count int) pricing.Item {
	c := m.Classes[class]
	it := pricing.Item{Class: class, Place: pricing.Place{Stage: stage, Cell: layout.AnyCell}, Count: count, Need: c.Unshared(), PerNode: pricing.Unbounded, Topology: c.Topology}
	if c.Topology != nil {
		it.PerNode = topology.AdmitsHost(m.Topology, c.Topology, func(int32) topology.Tally { return topology.Tally{} })
	}
	if KeptApartByZone(m, c.Topology) {
		it.PerNode = min(it.PerNode, 1)
	}
	return it
}

// PlannedRooms returns the rooms of the planned nodes. Nodes of the same row of a pool's table are combined into one offers.Room with their
// number.
func (t Valuing) PlannedRooms() []offers.Room {
	type row struct{ pool, row int32 }
	var out []offers.Room
	at := map[row]int{}
	for _, planned := range t.S.Planned {
		k := row{planned.Pool, planned.Row}
		n, known := at[k]
		if !known {
			n = len(out)
			at[k] = n
			out = append(out, offers.Room{Alloc: t.M.Pools[k.pool].Table.AllocOf(int(k.row), t.M.Resources.Len())})
		}
		out[n].Nodes++
	}
	return out
}

// KeptApartByZone reports whether no two pods with the rules o can share a new node, because a required anti-affinity of these pods to each
// other keeps them in different zones. It is false if the zone of a new node can be unknown.
func KeptApartByZone(m *model.Model, o *topology.Groups) bool {
	return o != nil && slices.ContainsFunc(o.Owns, func(g int32) bool {
		group := &m.Topology[g]
		return group.Kind == topology.Anti && group.Hard && group.Key == corev1.LabelTopologyZone && topology.Contains(o.In, g)
	}) && !slices.ContainsFunc(m.Pools, func(p *nodepool.Pool) bool {
		return p.Table != nil && slices.ContainsFunc(p.Table.Catalog.Slots, func(s market.Slot) bool { return s.Zone == "" })
	})
}
