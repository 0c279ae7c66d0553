package placing

import (
	"cmp"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/layout"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/topology"
	"github.com/drawknife/drawknife/internal/engine/trial"
)

// Wish is a number of pods of one class that need a place in one cell.
type Wish struct {
	Class, Cell, Count int32
	// OnNodes means that some of the pods were assigned to this cell because nodes of the snapshot have room in it.
	OnNodes bool
}

// dealer assigns to cells the pods of classes that have rules over domains larger than a node.
type dealer struct {
	t     *trial.Trial
	c     *layout.Cells
	state *topology.State
	hands []hand
}

// hand is a class whose pods are being assigned to cells.
type hand struct {
	class int32
	left  int32
	// room has, for each cell, the number of the class's pending pods that fit on nodes of the snapshot. cost has, for each cell, the cost
	// of one pod on a new node in nano-USD per hour. cost has no entry for a cell without suitable new nodes.
	room map[int32]int
	cost map[int32]float64
	// cells are the cells in which the pods could run, ascending.
	cells []int32
	dealt map[int32]int32
	// onNodes has the cells that were chosen because nodes of the snapshot have room in them.
	onNodes map[int32]bool
}

// Deal assigns cells to the pending pods of the classes, one pod at a time. Each pod gets a cell that the rules allow at that moment. Cells
// in which the pod fits on a node of the snapshot come first, then the cell in which the pod costs least. If a cell violates soft rules, it
// counts as more expensive. Pods that got no cell are tried again after other pods have been assigned.
func (t Sites) Deal(c *layout.Cells, classes []int32) []Wish {
	d := &dealer{t: t.Trial, c: c, state: t.S.Topology.CountsOnly()}
	for _, class := range classes {
		d.hands = append(d.hands, d.newHand(class))
	}
	slices.SortStableFunc(d.hands, func(a, b hand) int {
		ca, cb := t.M.Classes[a.class], t.M.Classes[b.class]
		return cmp.Or(model.BoolCompare(ca.Placeholder, cb.Placeholder), cmp.Compare(cb.Priority, ca.Priority),
			model.BoolCompare(Follows(t.M, ca.Topology), Follows(t.M, cb.Topology)),
			cmp.Compare(len(a.cells), len(b.cells)), cmp.Compare(a.class, b.class))
	})
	for progress := true; progress; {
		progress = false
		for i := range d.hands {
			for d.hands[i].left > 0 && d.dealOne(&d.hands[i]) {
				progress = true
			}
		}
	}
	var out []Wish
	for i := range d.hands {
		h := &d.hands[i]
		for _, cell := range h.cells {
			if n := h.dealt[cell]; n > 0 {
				out = append(out, Wish{h.class, cell, n, h.onNodes[cell]})
			}
		}
	}
	return out
}

// Follows reports whether the topology groups include a required pod affinity. Pods with such an affinity are assigned to cells after the
// pods that their affinity may select.
func Follows(m *model.Model, o *topology.Groups) bool {
	return slices.ContainsFunc(o.Owns, func(g int32) bool { return m.Topology[g].Kind == topology.Affinity && m.Topology[g].Hard })
}

func (d *dealer) newHand(class int32) hand {
	t, m := d.t, d.t.M
	c := m.Classes[class]
	h := hand{class: class, left: t.S.Waiting[class], room: map[int32]int{}, cost: map[int32]float64{}, dealt: map[int32]int32{}, onNodes: map[int32]bool{}}
	var rooms []int // by cell
	for i := range t.S.Room.Usable.Members {
		n := &m.Nodes[i]
		if t.NewOnly {
			break
		}
		if at := int(d.c.KnownHost(i)); at >= 0 && at < len(rooms) && rooms[at] >= int(h.left) {
			continue // the nodes examined so far in this cell have room for all pods of the class
		}
		if !m.Fits.Accepts(n.Group, c.Shape) {
			continue
		}
		if k := resources.HowMany(c.Requests, t.S.Room.Of(int32(i)), int(h.left)); k > 0 {
			if c.Topology != nil {
				k = min(k, topology.AdmitsHost(m.Topology, c.Topology, t.S.Topology.Hosts[i].Of))
			}
			if k > 0 {
				at := int(d.c.OfHost(i))
				for at >= len(rooms) {
					rooms = append(rooms, 0)
				}
				rooms[at] += k
			}
		}
	}
	for at, room := range rooms {
		if room > 0 {
			h.room[int32(at)] = room
		}
	}
	if !t.Options.ExistingOnly {
		alone := 1 / float64(max(t.S.Waiting.Pods(), 1)) // the part of a node's price for one pod, if all pending pods were on this node
		for _, st := range t.StagesFor(c) {
			for _, s := range t.SitesOf(d.c, st, t.Sites) {
				share := resources.LargestShare(c.Requests, s.Alloc)
				if share > 1 {
					continue
				}
				cost := float64(s.Price) * max(share, alone)
				if have, ok := h.cost[s.Cell]; !ok || (cost < have && st == t.StagesFor(c)[0]) {
					h.cost[s.Cell] = cost
				}
			}
		}
	}
	for cell := range h.room {
		h.cells = append(h.cells, cell)
	}
	for cell := range h.cost {
		if _, ok := h.room[cell]; !ok {
			h.cells = append(h.cells, cell)
		}
	}
	slices.Sort(h.cells)
	return h
}

// dealOne assigns one pod of the class to a cell. It returns false if no cell can take the pod now.
func (d *dealer) dealOne(h *hand) bool {
	c := d.t.M.Classes[h.class]
	best, bestScore := int32(-1), [3]float64{}
	for _, cell := range h.cells {
		domains := d.c.List[cell]
		if !d.state.AdmitsDomains(c.Topology, c.Shape, domains) || !d.state.AdmitsWideAffinity(c.Topology, domains) {
			continue
		}
		cost, sold := h.cost[cell]
		broken := d.state.SoftBroken(c.Topology, c.Shape, domains)
		var score [3]float64
		switch {
		case h.room[cell] > 0:
			score = [3]float64{0, broken, float64(d.crowd(c, domains))}
		case sold:
			score = [3]float64{1, cost * (1 + d.t.Options.Premium()*broken), float64(d.crowd(c, domains))}
		default:
			continue
		}
		if best < 0 || slices.Compare(score[:], bestScore[:]) < 0 {
			best, bestScore = cell, score
		}
	}
	if best < 0 {
		return false
	}
	if h.room[best] > 0 {
		h.room[best]--
		h.onNodes[best] = true
	}
	h.left--
	h.dealt[best]++
	d.state.PlaceInCell(c.Topology, d.c.List[best], 1)
	return true
}

// crowd returns the number of members that the pod's own spread groups have in the cell's domains. dealOne chooses the cell with the fewest
// members if cells are equal in all its other criteria.
func (d *dealer) crowd(c *podclass.Class, domains []int32) int32 {
	n := int32(0)
	for _, g := range c.Topology.Owns {
		if gr := &d.t.M.Topology[g]; gr.Kind == topology.Spread && gr.At != topology.Hostname {
			n += topology.CountAt(d.state.Members[g], domains[gr.At])
		}
	}
	return n
}
