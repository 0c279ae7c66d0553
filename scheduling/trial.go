package scheduling

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
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
	// usable tells which machines may take pods now.
	usable bitset
	// closed are those that Close was called for; empty as long as it was not.
	closed bitset
	// waiting counts, by class, the pods that need a place.
	waiting []int32
	// freed are pods of hidden machines, in the order they were hidden.
	freed []boundPod
	// placed lists what was put where, in an order in which it can be bound; machines are the new ones. Both only grow
	// at the end.
	placed   []binding
	machines []machine
	hidden   []int32
	// before are machines as they were when settle changed them.
	before []machine
	// usage is indexed by pool, then like the pool's limits: capacity of its machines, hidden and new ones considered.
	usage [][]int64
	// topology counts who is where; nil when no pod states a topology rule.
	topology *topologyState
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
	// newOnly keeps Place off the machines of the snapshot and off the new ones before fresh: see PlaceNew.
	newOnly bool
	fresh   int
	// rooms finds machines with room in the order given to Rank; nil without one.
	rooms *roomIndex
	// kinds are the machines that LaunchSome chooses from, by stage; kindCells number where rules see them.
	kinds     map[int32][]kind
	kindCells *cells
	// described remembers for Planned what machines of the same demands could be.
	described *descriptions
	// freedClass finds the class of pods of hidden machines, for the first freedIndexed of freed; see waitingClass.
	freedClass   map[PodKey]int32
	freedIndexed int
	// received counts, by machine of the snapshot, the pods that the trial has put there.
	received []int32
	// cells, sites and assigned are remembered while classes are placed.
	cells    *cells
	sites    map[int32][]site
	varied   map[int32][]site // sites that are too lean to fill: see findVariedSite
	assigned map[int32]map[int32][]assignment
	// proof is the problem behind the machines, if one packing made them all.
	proof *proof
}

// binding is count pods of a class put on a host: a machine of the snapshot, or beyond those a new one.
type binding struct {
	class, host, count int32
	// stage that allowed it, on a new machine.
	stage int32
	// tight bindings rest on there being no machine with fewer members of a spread over machines.
	tight bool
	// before is the number, from 1 on, of the binding before it on a new machine; 0 for none.
	before int32
}

// machine is a new one.
type machine struct {
	pool, row, slot int32
	// labels are those decided for the machine that neither its type nor its offering decides.
	labels requirements.Set
	// price of it, with no commitment covering it.
	price int64
	// commitment that it is planned to be covered by, by number from 1 on; 0 for none. It stays a machine that is.
	commitment int32
	used       []int64
	// forsaken machines got no pods and are not counted any more.
	forsaken bool
	// last is the number of the last binding on it, from 1 on; 0 for none.
	last int32
}

// change is one undoable step.
type change struct {
	kind changeKind
	// a and b are what the kind says.
	a, b int32
}

type changeKind uint8

const (
	changeHidden   changeKind = iota // node a was hidden; b of its pods became waiting
	changePlaced                     // the last placement was added
	changeMachine                    // the last machine was added, empty
	changeTaken                      // b pods of placement a were taken off their host again
	changeMoved                      // machine a became another: the last of Trial.before
	changeForsaken                   // machine a, which is empty, counts no more
	changeClosed                     // node a was closed
	changeStage                      // placement a was at stage b before
)

// Mark is a point in a trial to come back to. The zero value is none.
type Mark struct {
	of *Trial
	// taken is Trial.cut at the time.
	log, epoch, taken int
	proof             *proof
}

// cut is a rollback: what was logged from at on is gone.
type cut struct{ number, at int }

// ErrStaleMark is what Trial.Rollback returns for a mark that it can't go back to: it was taken before a Commit, is undone
// itself, or is another trial's. Take a new mark after Commit and after rolling back beyond one.
var ErrStaleMark = errors.New("the mark is stale: the trial can't go back there")

// Trial starts a what-if.
func (m *Model) Trial() *Trial {
	t := &Trial{m: m, free: slices.Clone(m.free), usable: newBitset(len(m.nodes)), waiting: make([]int32, len(m.classes)), received: make([]int32, len(m.nodes))}
	for i := range m.nodes {
		if m.nodes[i].usable {
			t.usable.set(i)
		}
	}
	for i, c := range m.classes {
		t.waiting[i] = int32(len(c.pending))
	}
	t.usage = make([][]int64, len(m.pools))
	for i, p := range m.pools {
		if p.limits != nil {
			t.usage[i] = make([]int64, len(p.limits.names))
		}
	}
	for i := range m.nodes {
		if !m.nodes[i].source.Leaving {
			t.count(m.nodes[i].pool, m.nodes[i].capacity, 1)
		}
	}
	if m.base != nil {
		t.topology = m.base.clone()
	}
	return t
}

// count adds machines of the given capacity to a pool's usage.
func (t *Trial) count(pool int32, capacity corev1.ResourceList, n int64) {
	if pool < 0 || t.m.pools[pool].limits == nil {
		return
	}
	addScaled(t.usage[pool], t.m.pools[pool].limits.cost(capacity), n)
}

// Mark returns the present point.
func (t *Trial) Mark() Mark { return Mark{t, len(t.log), t.epoch, t.cut, t.proof} }

// Rollback undoes everything done since the mark, in reverse order. For a mark that is stale it does nothing and returns
// ErrStaleMark: going on as if it had been undone is a mistake of the caller's.
func (t *Trial) Rollback(to Mark) error {
	if to.of != t || to.epoch != t.epoch || t.isCut(to) {
		return ErrStaleMark
	}
	t.cut++
	t.cuts = slices.DeleteFunc(t.cuts, func(c cut) bool { return c.at >= to.log })
	t.cuts = append(t.cuts, cut{t.cut, to.log})
	t.undo(to)
	return nil
}

// isCut reports whether a rollback since the mark was taken went back beyond it.
func (t *Trial) isCut(m Mark) bool {
	return slices.ContainsFunc(t.cuts, func(c cut) bool { return c.number > m.taken && c.at < m.log })
}

// undo is Rollback to a mark that is known to be good.
func (t *Trial) undo(to Mark) {
	if len(t.log) == to.log {
		return
	}
	for len(t.log) > to.log {
		last := t.log[len(t.log)-1]
		t.log = t.log[:len(t.log)-1]
		switch last.kind {
		case changeHidden:
			t.unhide(last.a, int(last.b))
		case changePlaced:
			p := t.placed[len(t.placed)-1]
			t.placed = t.placed[:len(t.placed)-1]
			if i := int(p.host) - len(t.m.nodes); i >= 0 {
				t.machines[i].last = p.before
			}
			t.apply(p, -1)
		case changeTaken:
			p := &t.placed[last.a]
			p.count = last.b
			t.apply(*p, 1)
		case changeMoved:
			t.become(last.a, t.before[len(t.before)-1])
			t.before = t.before[:len(t.before)-1]
		case changeForsaken:
			t.countMachine(last.a, 1)
		case changeClosed:
			t.reopen(int(last.a))
		case changeStage:
			t.placed[last.a].stage = last.b
		case changeMachine:
			mc := &t.machines[len(t.machines)-1]
			t.count(mc.pool, t.m.capacityOf(mc), -1)
			t.reserve(mc, -1)
			if t.topology != nil {
				t.placeResidents(mc, -1)
				t.topology.dropHost()
			}
			t.machines = t.machines[:len(t.machines)-1]
		}
	}
	t.proof = to.proof
}

// Commit makes everything done so far permanent: it can't be rolled back any more. Marks taken before are void.
func (t *Trial) Commit() {
	t.log = t.log[:0]
	t.cuts = nil
	t.epoch++
}

func (t *Trial) freeOf(node int32) []int64 {
	dims := int32(t.m.resources.len())
	return t.free[node*dims : (node+1)*dims]
}

func (m *Model) capacityOf(mc *machine) corev1.ResourceList {
	t := m.pools[mc.pool].table
	return t.catalog.variants[t.rows[mc.row].variant].capacity
}

// Hide takes a node of the snapshot out of the trial, as if it were gone: its pods that can move begin to wait for
// a place. It reports how many those are. A name the snapshot does not have, or a node already hidden, is an
// error and changes nothing.
func (t *Trial) Hide(name string) (pods int, err error) {
	return t.HideMoving(name, func(*corev1.Pod) bool { return true })
}

// HideMoving is Hide for a node some of whose pods need no other place, since they stay until they end or are never let go:
// only those for which moves says so begin to wait. Pods of DaemonSets and static ones are not asked about.
func (t *Trial) HideMoving(name string, moves func(*corev1.Pod) bool) (pods int, err error) {
	i, ok := t.m.nodeIndex[name]
	if !ok {
		return 0, fmt.Errorf("hiding node %q: the snapshot has none of that name", name)
	}
	if slices.Contains(t.hidden, int32(i)) {
		return 0, fmt.Errorf("hiding node %q: it is hidden already", name)
	}
	n := &t.m.nodes[i]
	t.takeOff(int32(i))
	t.usable.clear(i)
	t.roomChanged(int32(i))
	t.hidden = append(t.hidden, int32(i))
	for _, p := range n.movable {
		if moves(p.pod) {
			t.waiting[p.class]++
			t.freed = append(t.freed, p)
			pods++
		}
	}
	if !n.source.Leaving {
		t.count(n.pool, n.capacity, -1)
		t.countBound(int32(i), -1)
	}
	t.log = append(t.log, change{changeHidden, int32(i), int32(pods)})
	return pods, nil
}

// takeOff makes pods that the trial has put on a host wait again.
func (t *Trial) takeOff(host int32) {
	if t.received[host] == 0 {
		return
	}
	for i := range t.placed {
		p := &t.placed[i]
		if p.host != host || p.count == 0 {
			continue
		}
		t.apply(*p, -1)
		t.log = append(t.log, change{changeTaken, int32(i), p.count})
		p.count = 0
	}
}

func (t *Trial) unhide(i int32, pods int) {
	n := &t.m.nodes[i]
	for _, p := range t.freed[len(t.freed)-pods:] {
		t.waiting[p.class]--
	}
	t.freed = t.freed[:len(t.freed)-pods]
	if t.freedIndexed > len(t.freed) {
		t.freedClass, t.freedIndexed = nil, 0
	}
	t.hidden = t.hidden[:len(t.hidden)-1]
	if n.usable && !t.isClosed(int(i)) {
		t.usable.set(int(i))
		t.roomChanged(i)
	}
	if !n.source.Leaving {
		t.count(n.pool, n.capacity, 1)
		t.countBound(i, 1)
	}
}

// countBound adds the machine and its bound pods to the topology counts, or takes them off.
func (t *Trial) countBound(node, n int32) {
	if t.topology == nil {
		return
	}
	if n > 0 {
		t.topology.setGone(node, false)
	}
	for _, p := range t.m.nodes[node].bound {
		t.topology.place(t.m.stakeOfBound(p), node, n)
	}
	if n < 0 {
		t.topology.setGone(node, true)
	}
}

// place puts pods on a host. Whoever calls it has checked that they may go there.
func (t *Trial) place(p binding) {
	t.proof = nil
	if i := int(p.host) - len(t.m.nodes); i >= 0 {
		p.before, t.machines[i].last = t.machines[i].last, int32(len(t.placed)+1)
	}
	t.placed = append(t.placed, p)
	t.log = append(t.log, change{kind: changePlaced})
	t.apply(p, 1)
}

// apply does a placement (sign 1) or undoes it (-1).
func (t *Trial) apply(p binding, sign int32) {
	c := t.m.classes[p.class]
	n := sign * p.count
	if p.host < int32(len(t.m.nodes)) {
		addScaled(t.freeOf(p.host), c.requests, -int64(n))
		t.shareVolumes(c, p.host, n, t.freeOf(p.host), 1)
		t.received[p.host] += n
		t.roomChanged(p.host)
	} else {
		used := t.machines[p.host-int32(len(t.m.nodes))].used
		addScaled(used, c.requests, int64(n))
		t.shareVolumes(c, p.host, n, used, -1)
	}
	t.waiting[p.class] -= n
	if p.tight {
		t.tight += n
	}
	if t.topology != nil {
		t.topology.place(c.topology, p.host, n)
	}
}

// roomChanged keeps the index of room up to date.
func (t *Trial) roomChanged(node int32) {
	if t.rooms != nil {
		t.rooms.update(t, node)
	}
}

// open adds a new, empty machine and returns its host number.
func (t *Trial) open(mc machine) int32 {
	mc.used, mc.last = make([]int64, t.m.resources.len()), 0
	t.count(mc.pool, t.m.capacityOf(&mc), 1)
	t.reserve(&mc, 1)
	t.machines = append(t.machines, mc)
	t.log = append(t.log, change{kind: changeMachine})
	host := int32(len(t.m.nodes) + len(t.machines) - 1)
	if t.topology != nil {
		as := assignment{labels: mc.labels}
		labels := t.m.knownLabels(&mc, &as)
		t.topology.addHost(func(key string) string {
			return t.m.machineLabel(mc.pool, int(mc.row), int(mc.slot), &as, key)
		}, labels, t.m.pools[mc.pool].taints)
		t.placeResidents(&t.machines[len(t.machines)-1], 1)
	}
	return host
}

// forsakeEmpty takes machines whose pods were not admitted out of all counts: their domains, their pools' limits and their
// reservations are free again.
func (t *Trial) forsakeEmpty() {
	for i := range t.machines {
		if mc := &t.machines[i]; mc.empty() && !mc.forsaken {
			t.countMachine(int32(i), -1)
			t.log = append(t.log, change{changeForsaken, int32(i), 0})
		}
	}
}

// countMachine takes an empty machine out of all counts (n is -1), or back in (1).
func (t *Trial) countMachine(i int32, n int) {
	mc := &t.machines[i]
	mc.forsaken = n < 0
	t.count(mc.pool, t.m.capacityOf(mc), int64(n))
	t.reserve(mc, n)
	if t.topology == nil {
		return
	}
	host := int32(len(t.m.nodes)) + i
	if n > 0 {
		t.topology.setGone(host, false)
	}
	for _, class := range t.m.pools[mc.pool].table.rows[mc.row].residents {
		t.topology.place(t.m.classes[class].topology, host, int32(n))
	}
	if n < 0 {
		t.topology.setGone(host, true)
	}
}

// settle exchanges each new machine for the cheapest that would do for the pods it ended up with.
func (t *Trial) settle() {
	for k, load := range t.loads(t.fresh) {
		if load == nil {
			continue
		}
		i := t.fresh + k
		mc := &t.machines[i]
		rows, slots, _ := t.leeway(mc, load)
		row, slot, price := t.m.cheapestMachine(mc, rows, slots)
		if row < 0 || price >= mc.price {
			continue
		}
		other, before := *mc, t.Mark()
		other.row, other.slot, other.price = row, slot, price
		if !t.exchangeVaried(int32(i), other, load) {
			// The dearer one keeps more of the pool's limits, so that enough types may be launched.
			t.undo(before)
			other = *mc
			other.price = price
			t.exchange(int32(i), other)
		}
	}
}

// loads are the bindings on each new machine from the given one on, that one's first.
func (t *Trial) loads(from int) [][]binding {
	out := make([][]binding, len(t.machines)-from)
	for _, b := range t.placed {
		if i := int(b.host) - len(t.m.nodes) - from; i >= 0 && b.count > 0 {
			out[i] = append(out[i], b)
		}
	}
	return out
}

// exchange makes new machine i another of its pool, undoably.
func (t *Trial) exchange(i int32, other machine) {
	t.before = append(t.before, t.machines[i])
	t.log = append(t.log, change{changeMoved, i, 0})
	t.become(i, other)
}

// become makes machine i another of its pool, with the same DaemonSet pods as far as rules notice them, and in the same
// domains as far as rules concern the pods on it.
func (t *Trial) become(i int32, other machine) {
	mc := &t.machines[i]
	t.count(mc.pool, t.m.capacityOf(mc), -1)
	relabelled := t.topology != nil && (mc.row != other.row || mc.slot != other.slot || !mc.labels.Equal(other.labels))
	mc.row, mc.slot, mc.price, mc.labels, mc.commitment = other.row, other.slot, other.price, other.labels, other.commitment
	t.count(mc.pool, t.m.capacityOf(mc), 1)
	if relabelled {
		t.relabel(i)
	}
}

// relabel counts new machine i by the labels that it has now: it may be in other domains, and spreads may take notice of it
// that did not, or no more.
func (t *Trial) relabel(i int32) {
	mc := &t.machines[i]
	host := int32(len(t.m.nodes)) + i
	recount := func(n int32) {
		for _, b := range t.placed {
			if b.host == host && b.count > 0 {
				t.topology.place(t.m.classes[b.class].topology, host, n*b.count)
			}
		}
		for _, class := range t.m.pools[mc.pool].table.rows[mc.row].residents {
			t.topology.place(t.m.classes[class].topology, host, n)
		}
	}
	as := &assignment{labels: mc.labels}
	domains := t.topology.domainsOf(func(key string) string { return t.m.machineLabel(mc.pool, int(mc.row), int(mc.slot), as, key) })
	ignoredBy := t.topology.ignoredBy(t.m.knownLabels(mc, as), t.m.pools[mc.pool].taints)
	if h := &t.topology.hosts[host]; slices.Equal(domains, h.domains) && slices.Equal(ignoredBy, h.ignoredBy) {
		return
	}
	recount(-1)
	t.topology.rejoin(host, domains, ignoredBy)
	recount(1)
}

// placeResidents counts the DaemonSet pods that come with a new machine, the last host.
func (t *Trial) placeResidents(mc *machine, n int32) {
	host := int32(len(t.topology.hosts) - 1)
	for _, class := range t.m.pools[mc.pool].table.rows[mc.row].residents {
		t.topology.place(t.m.classes[class].topology, host, n)
	}
}

// affordable reports whether the pool's limits allow one more machine of the row.
func (t *Trial) affordable(pool, row int32) bool {
	p := t.m.pools[pool]
	if p.limits == nil {
		return true
	}
	return p.limits.allow(t.usage[pool], p.rowCost(int(row)))
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
	out.NewCost = float64(cost) / nanoPerUSD
	return out, ctx.Err()
}

// newMachines counts the new machines that have pods, and newCost is what they cost, nano-USD per hour.
func (t *Trial) newMachines() int {
	n := 0
	for i := range t.machines {
		if !t.machines[i].empty() {
			n++
		}
	}
	return n
}

func (t *Trial) newCost() int64 {
	sum := int64(0)
	for i := range t.machines {
		if !t.machines[i].empty() {
			sum += t.machines[i].price
		}
	}
	return sum - t.committedSavings()
}

// empty reports whether none of the machine's pods was admitted: it is not bought.
func (mc *machine) empty() bool { return mc.used[dimPods] == 0 }

func (t *Trial) waitingPods() int {
	n := 0
	for _, w := range t.waiting {
		n += int(w)
	}
	return n
}
