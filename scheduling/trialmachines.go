package scheduling

import (
	"slices"

	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/resources"
)

// open adds a new, empty node and returns its host number.
func (t *Trial) open(mc machine) int32 {
	mc.used, mc.last = make([]int64, t.m.resources.Len()), 0
	t.count(mc.pool, t.m.capacityOf(&mc), 1)
	t.reserve(&mc, 1)
	t.machines = append(t.machines, mc)
	t.log = append(t.log, change{kind: changeMachine})
	host := int32(len(t.m.nodes) + len(t.machines) - 1)
	if t.topology != nil {
		seen := t.seenAs(&mc)
		t.topology.AddHostIn(seen.domains, seen.ignoredBy)
		t.placeResidents(&t.machines[len(t.machines)-1], 1)
	}
	return host
}

// seenByRules is where rules see a new node: its domains, and the groups that take no notice of it.
type seenByRules struct{ domains, ignoredBy []int32 }

// seenAs is where rules see the node. That is remembered of those whose labels their type and offering decide.
func (t *Trial) seenAs(mc *machine) seenByRules {
	at := [3]int32{mc.pool, mc.row, mc.slot}
	if known, has := t.seen[at]; has && mc.labels.Len() == 0 {
		return known
	}
	as := nodepool.Assignment{Labels: mc.labels}
	out := seenByRules{
		domains:   t.topology.DomainsOf(func(key string) string { return t.m.pools[mc.pool].Label(int(mc.row), int(mc.slot), &as, key) }),
		ignoredBy: t.topology.IgnoredBy(t.m.knownLabels(mc, &as), t.m.pools[mc.pool].Taints),
	}
	if mc.labels.Len() == 0 {
		if t.seen == nil {
			t.seen = map[[3]int32]seenByRules{}
		}
		t.seen[at] = out
	}
	return out
}

// abandonEmpty takes nodes whose pods were not admitted out of all counts: their domains, their pools' limits and their
// reservations are free again.
func (t *Trial) abandonEmpty() {
	for i := range t.machines {
		if mc := &t.machines[i]; mc.unused() {
			t.countMachine(int32(i), -1)
			t.log = append(t.log, change{changeAbandoned, int32(i), 0})
		}
	}
}

// unused reports whether the node has no pods and is counted all the same.
func (mc *machine) unused() bool { return mc.empty() && !mc.abandoned }

// countMachine takes an empty node out of all counts (n is -1), or back in (1).
func (t *Trial) countMachine(i int32, n int) {
	mc := &t.machines[i]
	mc.abandoned = n < 0
	t.count(mc.pool, t.m.capacityOf(mc), int64(n))
	t.reserve(mc, n)
	if t.topology == nil {
		return
	}
	host := int32(len(t.m.nodes)) + i
	if n > 0 {
		t.topology.SetGone(host, false)
	}
	for _, class := range t.m.pools[mc.pool].Table.Rows[mc.row].Residents {
		t.topology.Place(t.m.classes[class].Topology, host, int32(n))
	}
	if n < 0 {
		t.topology.SetGone(host, true)
	}
}

// settle exchanges each new node for the cheapest that would do for the pods it ended up with.
func (t *Trial) settle() {
	for k, load := range t.loads(t.fresh) {
		if load == nil {
			continue
		}
		i := t.fresh + k
		mc := &t.machines[i]
		rows, slots, _ := t.knownLeeway(mc, load)
		row, slot, price := t.m.pools[mc.pool].CheapestLike(mc.row, mc.used, rows, slots)
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

// loads are the bindings on each new node from the given one on, that one's first.
func (t *Trial) loads(from int) [][]binding {
	out := make([][]binding, len(t.machines)-from)
	for i := range out {
		for at := t.machines[from+i].last - 1; at >= 0; at = t.placed[at].before - 1 {
			if t.placed[at].count > 0 {
				out[i] = append(out[i], t.placed[at])
			}
		}
		slices.Reverse(out[i])
	}
	return out
}

// exchange makes new node i another of its pool, undoably.
func (t *Trial) exchange(i int32, other machine) {
	t.before = append(t.before, t.machines[i])
	t.log = append(t.log, change{changeMoved, i, 0})
	t.become(i, other)
}

// become makes node i another of its pool, with the same DaemonSet pods as far as rules notice them, and in the same
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

// relabel counts new node i by the labels that it has now: it may be in other domains, and spreads may take notice of it
// that did not, or no more.
func (t *Trial) relabel(i int32) {
	mc := &t.machines[i]
	host := int32(len(t.m.nodes)) + i
	recount := func(n int32) {
		for at := mc.last - 1; at >= 0; at = t.placed[at].before - 1 {
			if b := &t.placed[at]; b.count > 0 {
				t.topology.Place(t.m.classes[b.class].Topology, host, n*b.count)
			}
		}
		for _, class := range t.m.pools[mc.pool].Table.Rows[mc.row].Residents {
			t.topology.Place(t.m.classes[class].Topology, host, n)
		}
	}
	seen := t.seenAs(mc)
	if h := &t.topology.Hosts[host]; slices.Equal(seen.domains, h.Domains) && slices.Equal(seen.ignoredBy, h.IgnoredBy) {
		return
	}
	recount(-1)
	t.topology.Rejoin(host, seen.domains, seen.ignoredBy)
	recount(1)
}

// placeResidents counts the DaemonSet pods that come with a new node, the last host.
func (t *Trial) placeResidents(mc *machine, n int32) {
	host := int32(len(t.topology.Hosts) - 1)
	for _, class := range t.m.pools[mc.pool].Table.Rows[mc.row].Residents {
		t.topology.Place(t.m.classes[class].Topology, host, n)
	}
}

// affordable reports whether the pool's limits allow one more node of the row.
func (t *Trial) affordable(pool, row int32) bool {
	p := t.m.pools[pool]
	if p.Limits == nil {
		return true
	}
	return t.allows(pool, t.usage[pool], p.RowCost(int(row)))
}

// newMachines counts the new nodes that have pods, and newCost is what they cost, nano-USD per hour.
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

// empty reports whether none of the node's pods was admitted: it is not bought.
func (mc *machine) empty() bool { return mc.used[resources.Pods] == 0 }
