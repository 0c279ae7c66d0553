package scheduling

import (
	"cmp"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/layout"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// site is a node that could be bought for pods at a stage, in one cell; only sites that no cheaper one of the cell
// can stand in for are kept.
type site struct {
	option
	stage int32
}

// sitesOf lists a stage's sites by price; made once per trial and stage.
func (t *Trial) sitesOf(c *layout.Cells, stage int32, cache map[int32][]site) []site {
	return t.listSites(c, stage, t.rules(), cache)
}

// listSites is sitesOf under the given rules; the cache is for these rules alone.
func (t *Trial) listSites(c *layout.Cells, stage int32, rules placeRules, cache map[int32][]site) []site {
	if list, ok := cache[stage]; ok {
		return list
	}
	p := &problem{dims: t.m.resources.Len(), assigned: map[int32][]nodepool.Assignment{}, cells: c, everyCell: true}
	places := []place{{stage: stage, cell: layout.AnyCell, rules: rules}}
	var all []option
	var pools []int32
	for _, u := range t.m.stages[stage].Uses {
		if !slices.Contains(pools, u.Pool) {
			pools = append(pools, u.Pool)
		}
	}
	slices.Sort(pools)
	var open []poolUsers
	for _, pool := range pools {
		p.assigned[pool] = t.m.pools[pool].Assignments(t.m.profilesInUse(pool, places), t.m.domains())
		users := poolUsers{pool, 0, places, []int{0}}
		if slices.ContainsFunc(open, func(other poolUsers) bool { return t.m.covers(p, &other, &users) }) {
			continue
		}
		for at := range p.assigned[pool] {
			users.assign = int32(at)
			all = t.m.poolOptions(all, p, users, make([]int64, p.dims))
		}
		if len(p.assigned[pool]) == 1 {
			open = append(open, users)
		}
	}
	var list []site
next:
	for _, o := range sortedOptions(all) {
		for i := range list {
			if k := &list[i]; k.cell == o.cell && resources.Fits(o.alloc, k.alloc) && t.m.standsIn(&k.option, o) && (k.pool == o.pool || !t.strictVariety(t.m.pools[k.pool])) {
				continue next
			}
		}
		list = append(list, site{option: *o, stage: stage})
	}
	cache[stage] = list
	t.assigned[stage] = p.assigned
	return list
}

// dealer deals the pods of classes under wide rules out to cells.
type dealer struct {
	t     *Trial
	c     *layout.Cells
	state *topology.State
	hands []hand
}

// hand is one class being dealt.
type hand struct {
	class int32
	left  int32
	// room is, by cell, how many would fit on nodes of the snapshot, or as many as there are; cost what one would cost on a new node,
	// nano-USD, or +Inf.
	room map[int32]int
	cost map[int32]float64
	// cells in which the class could go, ascending.
	cells []int32
	dealt map[int32]int32
	// OnNodes are the cells dealt for their room.
	onNodes map[int32]bool
}

// deal assigns cells to the waiting pods of the classes, one pod at a time: each to a cell that the rules allow as
// things stand, where it fits on a node of the snapshot if it can, else where it costs least; soft rules make a
// cell that breaks them dearer. Pods that have no cell now are tried again when others have found theirs.
func (t *Trial) deal(c *layout.Cells, classes []int32) []wish {
	d := &dealer{t: t, c: c, state: t.topology.CountsOnly()}
	for _, class := range classes {
		d.hands = append(d.hands, d.newHand(class))
	}
	slices.SortStableFunc(d.hands, func(a, b hand) int {
		ca, cb := t.m.classes[a.class], t.m.classes[b.class]
		return cmp.Or(boolCompare(ca.Placeholder, cb.Placeholder), cmp.Compare(cb.Priority, ca.Priority),
			boolCompare(t.m.follows(ca.Topology), t.m.follows(cb.Topology)),
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
	var out []wish
	for i := range d.hands {
		h := &d.hands[i]
		for _, cell := range h.cells {
			if n := h.dealt[cell]; n > 0 {
				out = append(out, wish{h.class, cell, n, h.onNodes[cell]})
			}
		}
	}
	return out
}

// follows reports whether the stake has a required pod affinity: such pods are dealt after those they may follow.
func (m *Model) follows(o *topology.Groups) bool {
	return slices.ContainsFunc(o.Owns, func(g int32) bool { return m.topology[g].Kind == topology.Affinity && m.topology[g].Hard })
}

func (d *dealer) newHand(class int32) hand {
	t, m := d.t, d.t.m
	c := m.classes[class]
	h := hand{class: class, left: t.waiting[class], room: map[int32]int{}, cost: map[int32]float64{}, dealt: map[int32]int32{}, onNodes: map[int32]bool{}}
	var rooms []int // by cell
	for i := range t.usable.Members {
		n := &m.nodes[i]
		if t.newOnly {
			break
		}
		if at := int(d.c.KnownHost(i)); at >= 0 && at < len(rooms) && rooms[at] >= int(h.left) {
			continue // the cell has room for all
		}
		if !m.fits.Accepts(n.Group, c.Shape) {
			continue
		}
		if k := resources.HowMany(c.Requests, t.freeOf(int32(i)), int(h.left)); k > 0 {
			if c.Topology != nil {
				k = min(k, topology.AdmitsHost(m.topology, c.Topology, t.topology.Hosts[i].Of))
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
	if !t.options.ExistingOnly {
		alone := 1 / float64(max(t.waitingPods(), 1)) // the pods that wait share a new node among them
		for _, st := range t.stagesFor(c) {
			for _, s := range t.sitesOf(d.c, st, t.sites) {
				share := resources.LargestShare(c.Requests, s.alloc)
				if share > 1 {
					continue
				}
				cost := float64(s.price) * max(share, alone)
				if have, ok := h.cost[s.cell]; !ok || (cost < have && st == t.stagesFor(c)[0]) {
					h.cost[s.cell] = cost
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

// dealOne deals one pod of the hand, or reports that there is no cell for it now.
func (d *dealer) dealOne(h *hand) bool {
	c := d.t.m.classes[h.class]
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
			score = [3]float64{1, cost * (1 + d.t.options.premium()*broken), float64(d.crowd(c, domains))}
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

// crowd is how many members the pod's own spread groups have in the cell's domains: the tie-breaker.
func (d *dealer) crowd(c *podclass.Class, domains []int32) int32 {
	n := int32(0)
	for _, g := range c.Topology.Owns {
		if gr := &d.t.m.topology[g]; gr.Kind == topology.Spread && gr.At != topology.Hostname {
			n += topology.CountAt(d.state.Members[g], domains[gr.At])
		}
	}
	return n
}
