package launching

import (
	"slices"

	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// launchDemand contains the requirements of pods of one or more classes, apart from room: the kinds of nodes that they may run on, and the
// rules that admit them to a cell.
type launchDemand struct {
	suits    bitset.Set
	topology *topology.Groups
	shape    int32
	// admitted caches, for each cell, whether the rules admit the pods.
	admitted []cellVerdict
}

// cellVerdict says whether rules admit pods of a class to a cell.
type cellVerdict uint8

const (
	notAsked cellVerdict = iota
	admitted
	refused
)

// metDemands groups kinds of nodes by the demands that they meet. For each group and room it caches two values of the pods on a node of
// such a kind: the upper bound, and the actual value. This saves time because several pools and zones offer the same node.
type metDemands struct {
	t       *Launching
	demands []launchDemand
	lots    [2][]lot
	known   []metDemand
}

// metDemand contains cached facts about kinds that meet the same demands.
type metDemand struct {
	among    uint64
	ceilings [2]ceiling
	// rooms is indexed by kind.room.
	rooms []heldInRoom
}

// heldInRoom contains cached facts about all kinds with the same room. The field most is the upper bound of the value of the pods that they
// can hold; value is the value that they hold. Both fields contain the value plus 1; 0 means not computed yet.
type heldInRoom struct{ most, value int64 }

// mostDemands is the number of demands that are distinguished. All further demands have the number mostDemands, and are checked one by one.
const mostDemands = 63

// begin prepares d for the loads: it numbers their demands and computes lots from them.
func (d *metDemands) begin(t *Launching, loads []waitingLoad) {
	d.t, d.demands, d.known = t, d.demands[:0], d.known[:0]
	for i := range loads {
		loads[i].demand = d.number(&loads[i])
	}
	for i, dim := range ceilingDims {
		d.lots[i] = lotsOf(dim, loads, d.lots[i])
	}
}

// ceilingDims lists the resources for which ceilings are computed.
var ceilingDims = [...]int{resources.CPU, resources.Memory}

// number returns the number of the load's demand.
func (d *metDemands) number(l *waitingLoad) int32 {
	at := slices.IndexFunc(d.demands, func(x launchDemand) bool {
		return &x.suits[0] == &l.suits[0] && x.topology == l.class.Topology && x.shape == l.class.Shape
	})
	switch {
	case at >= 0:
		return int32(at)
	case len(d.demands) == mostDemands:
		return mostDemands
	}
	x := launchDemand{suits: l.suits, topology: l.class.Topology, shape: l.class.Shape}
	if x.topology != nil {
		x.admitted = make([]cellVerdict, len(d.t.placesOfKinds().List))
	}
	d.demands = append(d.demands, x)
	return int32(len(d.demands) - 1)
}

// of returns the cached facts about the kinds that meet the same demands as the kind with the given number.
func (d *metDemands) of(number int, k *kind) *metDemand {
	among := uint64(1) << mostDemands
	for i := range d.demands {
		if x := &d.demands[i]; x.suits.Has(number) && (x.topology == nil || d.admits(x, k.cell)) {
			among |= 1 << i
		}
	}
	for i := range d.known {
		if d.known[i].among == among {
			return &d.known[i]
		}
	}
	if len(d.known) < cap(d.known) {
		d.known = d.known[:len(d.known)+1] // reuses the memory of the old element
	} else {
		d.known = append(d.known, metDemand{})
	}
	met := &d.known[len(d.known)-1]
	met.among, met.rooms = among, met.rooms[:0]
	for i, dim := range ceilingDims {
		met.ceilings[i].fill(dim, d.lots[i], among)
	}
	return met
}

// admits reports whether rules admit pods of the demand to the cell.
func (d *metDemands) admits(x *launchDemand, cell int32) bool {
	if x.admitted[cell] == notAsked {
		x.admitted[cell] = refused
		if d.t.S.Topology.AdmitsDomains(x.topology, x.shape, d.t.placesOfKinds().List[cell]) {
			x.admitted[cell] = admitted
		}
	}
	return x.admitted[cell] == admitted
}

// room returns the cached facts about all kinds that have the same room for pods as the kind k.
func (m *metDemand) room(k *kind) *heldInRoom {
	for int(k.room) >= len(m.rooms) {
		m.rooms = append(m.rooms, heldInRoom{})
	}
	r := &m.rooms[k.room]
	if r.most == 0 {
		r.most = 1 + min(m.ceilings[0].of(k.alloc), m.ceilings[1].of(k.alloc))
	}
	return r
}
