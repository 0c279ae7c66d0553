package launching

import (
	"slices"

	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// launchDemand is what pods of some classes alike ask of a kind of node in addition to room: which kinds they may go on, and which rules
// let them into its cell.
type launchDemand struct {
	suits    bitset.Set
	topology *topology.Groups
	shape    int32
	// admitted is what rules say of the cells of kinds.
	admitted []cellVerdict
}

// cellVerdict of rules on pods of a class in a cell.
type cellVerdict uint8

const (
	notAsked cellVerdict = iota
	admitted
	refused
)

// metDemands sorts kinds of nodes by whose demands they meet, and remembers by their room what those that meet the same hold
// at most, and what they do hold: the same node is sold by several pools and in several zones.
type metDemands struct {
	t       *Launching
	demands []launchDemand
	lots    [2][]lot
	known   []metDemand
}

// metDemand is what is known of kinds that meet the same demands.
type metDemand struct {
	among    uint64
	ceilings [2]ceiling
	// rooms are indexed by kind.room.
	rooms []heldInRoom
}

// heldInRoom is what kinds with so much room hold at most, and what they hold, both from 1 on; 0 where nobody has asked.
type heldInRoom struct{ most, value int64 }

// mostDemands is how many demands are told apart; all others have that number, and are asked about one by one.
const mostDemands = 63

// begin is for other loads, which it gives the numbers of their demands.
func (d *metDemands) begin(t *Launching, loads []waitingLoad) {
	d.t, d.demands, d.known = t, d.demands[:0], d.known[:0]
	for i := range loads {
		loads[i].demand = d.number(&loads[i])
	}
	for i, dim := range ceilingDims {
		d.lots[i] = lotsOf(dim, loads, d.lots[i])
	}
}

// ceilingDims are the resources that there are ceilings for.
var ceilingDims = [...]int{resources.CPU, resources.Memory}

// number is that of the demand.
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

// of is what is known of kinds that meet the same demands as the one of that number.
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
		d.known = d.known[:len(d.known)+1] // with its memory
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

// admits reports whether rules let pods of the demand into the cell.
func (d *metDemands) admits(x *launchDemand, cell int32) bool {
	if x.admitted[cell] == notAsked {
		x.admitted[cell] = refused
		if d.t.S.Topology.AdmitsDomains(x.topology, x.shape, d.t.placesOfKinds().List[cell]) {
			x.admitted[cell] = admitted
		}
	}
	return x.admitted[cell] == admitted
}

// room is what is known of kinds with that room.
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
