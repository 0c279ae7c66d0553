package scheduling

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/existing"
	"github.com/drawknife/drawknife/internal/engine/layout"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/offers"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// Trial is a what-if on a Model: nodes can be hidden, their pods placed elsewhere, and all of it undone. It is the
// one engine of the library: Solve is a trial that places the waiting pods, disruption asks a trial what would happen
// if a node went. A new trial starts with the snapshot's nodes, nothing hidden, and the waiting pods not placed.
//
// A Trial is not safe for concurrent use; a Model may have any number of them.
type Trial struct {
	m *Model
	// free is indexed [node*resources+resource].
	free []int64
	// usable says which nodes may take pods now.
	usable bitset.Set
	// closed are those that Close was called for; empty as long as it was not.
	closed bitset.Set
	// waiting counts, by class, the pods that need a place.
	waiting []int32
	// freed are pods of hidden nodes, in the order they were hidden.
	freed []existing.Pod
	// placed lists what was put where, in an order in which it can be bound; nodes are the new ones. Both only grow
	// at the end.
	placed   []binding
	machines []machine
	// hidden are nodes of the snapshot in the order they were hidden, hiddenSet the same as a set.
	hidden    []int32
	hiddenSet bitset.Set
	// firstFreed is, for each of hidden, where its pods begin in freed.
	firstFreed []int32
	// before are nodes as they were when settle changed them.
	before []machine
	// sealed are the devices that hosts had left when sealDevices took them.
	sealed [][]int64
	// usage is indexed by pool, then like the pool's limits: capacity of its nodes, hidden and new ones considered.
	usage [][]int64
	// standing is likewise, without new nodes; nil for pools that don't ask (see limits.reached).
	standing [][]int64
	// topology counts who is where; nil when no pod states a topology rule.
	topology *topology.State
	// reserved counts, by reservation, the instances bought of it.
	reserved map[string]int
	log      []change
	// epoch counts commits: marks of an earlier one are void.
	epoch int
	// cut numbers rollbacks; cuts are those of this epoch that no later one went beyond, ascending.
	cut  int
	cuts []cut
	// volumesPlaced counts, by host, the placed pods that use a shared volume.
	volumesPlaced map[volumeOn]int32
	// tight counts the pods of tight bindings.
	tight   int32
	options PlaceOptions
	// lenient trials do without the variety that pools ask for: see placeTogether.
	lenient bool
	// newOnly keeps Place off the nodes of the snapshot and off the new ones before fresh: see PlaceNew.
	newOnly bool
	fresh   int
	// roomOnly keeps Place from relying on domains staying empty that pools can reach: see roomFirst.
	roomOnly bool
	// rooms finds nodes with room in the order given to Rank; nil without one.
	rooms *roomIndex
	// kinds are the nodes that LaunchSome chooses from, by stage; kindCells number where rules see them.
	kinds     map[int32][]kind
	kindCells *layout.Cells
	// kindsSuiting are those of one stage, by number, that pods at another may go on.
	kindsSuiting map[[2]int32]bitset.Set
	kindRooms    map[string]int32 // numbers of kind.alloc, by content
	// loadsAhead and demands are what newLoading works with.
	loadsAhead []waitingLoad
	demands    metDemands
	// leeways remember which nodes would do in place of new ones.
	leeways knownLeeways
	// described remembers for Planned what nodes of the same demands could be.
	described *descriptions
	// freedClass finds the class of the snapshot's waiting pods and of those of hidden nodes, for the first freedIndexed of freed;
	// see waitingClass. soughtLast is which of freed was last found.
	freedClass   map[PodKey]int32
	freedIndexed int
	soughtLast   int
	// received counts, by node of the snapshot, the pods that the trial has put there, and last is the number of the last
	// binding on it, from 1 on; 0 for none.
	received, last []int32
	onHost         []int32 // scratch of takeOff
	roomLeft       []int64 // scratch of Room
	// cells, sites and assigned are remembered while classes are placed.
	cells    *layout.Cells
	sites    map[int32][]offers.Site
	varied   map[int32][]offers.Site // sites that are too lean to fill: see findVariedSite
	assigned map[int32]map[int32][]nodepool.Assignment
	// proof is the problem behind the nodes, if one packing made them all.
	proof *proof
	// answers remember which new nodes were found; nil for none.
	answers *Answers
	// seen is where rules see nodes whose labels are decided, by pool, row and slot.
	seen map[[3]int32]seenByRules
}

// binding is count pods of a class put on a host: a node of the snapshot, or beyond those a new one.
type binding struct {
	class, host, count int32
	// stage that allowed it, on a new node.
	stage int32
	// tight bindings rest on there being no node with fewer members of a spread over nodes.
	tight bool
	// before is the number, from 1 on, of the binding before it on the same host; 0 for none.
	before int32
}

// node is a new one.
type machine struct {
	pool, row, slot int32
	// labels are those decided for the node that neither its type nor its offering decides.
	labels requirements.Set
	// price of it, with no commitment covering it.
	price int64
	// commitment that it is planned to be covered by, by number from 1 on; 0 for none. It stays a node that is.
	commitment int32
	used       []int64
	// abandoned nodes got no pods and are not counted any more.
	abandoned bool
	// last is the number of the last binding on it, from 1 on; 0 for none.
	last int32
}

// Trial starts a what-if.
func (m *Model) Trial() *Trial {
	t := &Trial{m: m, free: slices.Clone(m.free), usable: bitset.New(len(m.nodes)), hiddenSet: bitset.New(len(m.nodes)), waiting: make([]int32, len(m.classes)), received: make([]int32, len(m.nodes)), last: make([]int32, len(m.nodes))}
	for i := range m.nodes {
		if m.nodes[i].Usable {
			t.usable.Add(i)
		}
	}
	for i, c := range m.classes {
		t.waiting[i] = int32(len(c.Pending))
	}
	t.usage, t.standing = make([][]int64, len(m.pools)), make([][]int64, len(m.pools))
	for i, p := range m.pools {
		if p.Limits == nil {
			continue
		}
		t.usage[i] = make([]int64, len(p.Limits.Names))
		if p.Limits.Early {
			t.standing[i] = make([]int64, len(p.Limits.Names))
		}
	}
	for i := range m.nodes {
		if !m.nodes[i].Source.Leaving {
			t.countNode(&m.nodes[i], 1)
		}
	}
	if m.base != nil {
		t.topology = m.base.Clone()
	}
	t.promiseRoom()
	return t
}

// countNode adds a node that is there, or takes it away again.
func (t *Trial) countNode(n *existing.Node, times int64) {
	t.count(n.Pool, n.Capacity, times)
	if n.Pool >= 0 && t.standing[n.Pool] != nil {
		resources.AddScaled(t.standing[n.Pool], t.m.pools[n.Pool].Limits.Cost(n.Capacity), times)
	}
}

// count adds nodes of the given capacity to a pool's usage.
func (t *Trial) count(pool int32, capacity corev1.ResourceList, n int64) {
	if pool < 0 || t.m.pools[pool].Limits == nil {
		return
	}
	resources.AddScaled(t.usage[pool], t.m.pools[pool].Limits.Cost(capacity), n)
}

func (t *Trial) freeOf(node int32) []int64 {
	dims := int32(t.m.resources.Len())
	return t.free[node*dims : (node+1)*dims]
}

func (m *Model) capacityOf(mc *machine) corev1.ResourceList {
	t := m.pools[mc.pool].Table
	return t.Catalog.Variants[t.Rows[mc.row].Variant].Capacity
}

// place puts pods on a host. Whoever calls it has checked that they may go there.
func (t *Trial) place(p binding) {
	t.proof = nil
	last := t.lastOn(p.host)
	p.before, *last = *last, int32(len(t.placed)+1)
	t.placed = append(t.placed, p)
	t.log = append(t.log, change{kind: changePlaced})
	t.apply(p, 1)
}

// lastOn is the number of the last binding on the host, from 1 on; 0 for none.
func (t *Trial) lastOn(host int32) *int32 {
	if int(host) >= len(t.m.nodes) {
		return &t.newNode(host).last
	}
	return &t.last[host]
}

// apply does a placement (sign 1) or undoes it (-1).
func (t *Trial) apply(p binding, sign int32) {
	c := t.m.classes[p.class]
	n := sign * p.count
	if p.host < int32(len(t.m.nodes)) {
		resources.AddScaled(t.freeOf(p.host), c.Requests, -int64(n))
		t.shareVolumes(c, p.host, n, t.freeOf(p.host), 1)
		t.received[p.host] += n
		t.roomChanged(p.host)
	} else {
		used := t.newNode(p.host).used
		resources.AddScaled(used, c.Requests, int64(n))
		t.shareVolumes(c, p.host, n, used, -1)
	}
	t.waiting[p.class] -= n
	if p.tight {
		t.tight += n
	}
	if t.topology != nil {
		t.topology.Place(c.Topology, p.host, n)
	}
}

// roomChanged keeps the index of room up to date.
func (t *Trial) roomChanged(node int32) {
	if t.rooms != nil {
		t.rooms.update(t, node)
	}
}

// PlaceOptions say how pods are placed. The zero value respects preferences and plans as many nodes as it takes. They
// hold for one call of Place; the next may have others.
type PlaceOptions struct {
	Query
	// ExistingOnly keeps Place from planning nodes: what has no room on those of the snapshot, and on those that the trial
	// has planned before, stays without a place.
	ExistingOnly bool
}

// Outcome is what Place achieved.
type Outcome struct {
	// Placed and Unplaced count the pods that were waiting.
	Placed, Unplaced int
	// NewNodes is how many nodes were planned, for NewCost USD per hour.
	NewNodes int
	NewCost  float64
}

// Place finds places for the waiting pods: first on nodes of the snapshot, then on planned ones. A cancelled context
// ends it early with ctx.Err(); what is placed until then stays, and can be rolled back.
func (t *Trial) Place(ctx context.Context, o PlaceOptions) (Outcome, error) {
	before, machines, costBefore := t.waitingPods(), t.newMachines(), t.newCost()
	if before > 0 {
		t.options = o
		t.placeAll(ctx)
	}
	out := Outcome{Unplaced: t.waitingPods(), NewNodes: t.newMachines() - machines}
	out.Placed = before - out.Unplaced
	cost := t.newCost() - costBefore
	out.NewCost = float64(cost) / market.NanoPerUSD
	return out, ctx.Err()
}

func (t *Trial) waitingPods() int {
	n := 0
	for _, w := range t.waiting {
		n += int(w)
	}
	return n
}
