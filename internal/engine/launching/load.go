package launching

import (
	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/internal/engine/topology"
	"github.com/drawknife/drawknife/internal/engine/valuing"
)

// loading computes, for kinds of nodes, the value of the pending pods that one such node would hold.
type loading struct {
	t       *Launching
	w       *valuing.Worth
	classes []int32
	anchor  int32
	// kinds are the kinds of nodes that are compared. loads describes the pending pods in the order in which each node is filled: first the
	// anchor's pods, then the other pods, largest first.
	kinds []kind
	loads []waitingLoad
	free  []int64
}

// waitingLoad describes the pending pods of a class.
type waitingLoad struct {
	class *podclass.Class
	// The field most is the maximum number of these pods on one node: all pending pods, or fewer if rules allow fewer. worth is the value
	// of one pod.
	most  int
	worth int64
	// suits contains the numbers of the kinds that the pods may run on. demand is the number that metDemands gave to their requirements
	// apart from room.
	suits  bitset.Set
	demand int32
	// least has, for each resource with index <= resources.Pods, the smallest need of a pod of this load or of a later load.
	least [resources.Pods + 1]int64
}

// newLoading returns a loading for the kinds of nodes that suit the anchor's pods.
func (t *Launching) newLoading(w *valuing.Worth, classes []int32, anchor int32, kinds []kind) *loading {
	f := &loading{t: t, w: w, classes: classes, anchor: anchor, loads: t.loadsAhead[:0], free: make([]int64, 0, t.M.Resources.Len())}
	if len(kinds) == 0 || !f.add(anchor, kinds) {
		return f
	}
	f.kinds = kinds
	for _, class := range classes {
		if class != anchor {
			f.add(class, kinds)
		}
	}
	t.loadsAhead = f.loads
	for i := len(f.loads) - 1; i >= 0; i-- {
		l := &f.loads[i]
		copy(l.least[:], l.class.Requests)
		for d := range l.least {
			if i < len(f.loads)-1 {
				l.least[d] = min(l.least[d], f.loads[i+1].least[d])
			}
		}
	}
	t.demands.begin(t, f.loads)
	return f
}

// add adds the pending pods of the class. It returns false if no node can take any of them.
func (f *loading) add(class int32, kinds []kind) bool {
	t := f.t
	c, n := t.M.Classes[class], int(t.S.Waiting[class])
	stages := t.StagesFor(c)
	if n > 0 && c.Topology != nil {
		n = min(n, topology.AdmitsHost(t.M.Topology, c.Topology, func(int32) topology.Tally { return topology.Tally{} }))
	}
	if n <= 0 || len(stages) == 0 {
		return false
	}
	suits := t.suitingKinds(t.StagesFor(t.M.Classes[f.anchor])[0], stages[0], kinds)
	f.loads = append(f.loads, waitingLoad{class: c, most: n, worth: max(f.w.ByClass[class], 1), suits: suits})
	return true
}

// value returns the value of the pods that the kind with the given number could hold: first the anchor's pods, then the other pods, largest
// first. It returns 0 if the kind can hold none of the anchor's pods, or if the value is less than wanted.
func (f *loading) value(number int, wanted int64) int64 {
	if number >= len(f.kinds) {
		return 0
	}
	k := &f.kinds[number]
	met := f.t.demands.of(number, k)
	r := met.room(k)
	switch {
	case r.value > 0:
		return r.value - 1
	case r.most-1 < wanted:
		return 0
	}
	sum := f.hold(number, k, met.among)
	if len(f.t.demands.demands) < mostDemands {
		r.value = 1 + sum
	}
	return sum
}

// hold returns the value of the pods that the kind holds. It uses only the loads whose demands the kind meets: met has one bit for each of
// these demands.
func (f *loading) hold(number int, k *kind, met uint64) int64 {
	f.free = append(f.free[:0], k.alloc...)
	sum := int64(0)
	for i := range f.loads {
		l := &f.loads[i]
		if f.full(l) {
			break
		}
		if met&(1<<l.demand) != 0 && (l.demand < mostDemands || f.suits(l, number, k)) {
			if n := resources.HowMany(l.class.Requests, f.free, l.most); n > 0 {
				resources.AddScaled(f.free, l.class.Requests, -int64(n))
				sum += int64(n) * l.worth
			}
		}
		if i == 0 && sum == 0 {
			return 0
		}
	}
	return sum
}

// full reports whether no pod of this load or of a later load fits any more.
func (f *loading) full(l *waitingLoad) bool {
	for d, n := range l.least {
		if f.free[d] < n {
			return true
		}
	}
	return false
}

// suits reports whether pods of the load may run on the kind of node. It is called only for loads whose demand has the number mostDemands,
// which metDemands does not distinguish.
func (f *loading) suits(l *waitingLoad, number int, k *kind) bool {
	return l.suits.Has(number) && (l.class.Topology == nil || f.t.S.Topology.AdmitsDomains(l.class.Topology, l.class.Shape, f.t.placesOfKinds().List[k.cell]))
}

// suitingKinds returns the numbers of the kinds that pods at the stage other may use. kinds lists the nodes for the parameter stage.
// Callers pass only the first stage of a class as other. The result is cached.
func (t *Launching) suitingKinds(stage, other int32, kinds []kind) bitset.Set {
	pair := [2]int32{stage, other}
	out, known := t.kindsSuiting[pair]
	if known {
		return out
	}
	if t.kindsSuiting == nil {
		t.kindsSuiting = map[[2]int32]bitset.Set{}
	}
	out = bitset.New(len(kinds))
	for i := range kinds {
		if t.kindSuits(&kinds[i], other) {
			out.Add(i)
		}
	}
	t.kindsSuiting[pair] = out
	return out
}

// place puts pods on the node in the order in which the method value counted them, as many as rules allow.
func (f *loading) place(k *kind, host int32) {
	t := f.t
	put := func(class int32) bool {
		c := t.M.Classes[class]
		stages := t.StagesFor(c)
		if t.S.Waiting[class] == 0 || len(stages) == 0 || !t.kindSuits(k, stages[0]) {
			return false
		}
		n := resources.HowMany(c.Requests, t.S.RoomOf(host), int(t.S.Waiting[class]))
		placed := false
		for n > 0 && t.S.Admits(c, host) {
			count := n
			if c.Topology != nil {
				count = 1
			}
			t.Add(state.Binding{Class: class, Host: host, Count: int32(count), Stage: stages[0]})
			n -= count
			placed = true
		}
		return placed
	}
	for progress := true; progress; {
		progress = put(f.anchor)
		for _, class := range f.classes {
			if class != f.anchor && put(class) {
				progress = true
			}
		}
		progress = progress && t.S.Topology != nil
	}
}
