package state

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/bitset"
)

// Pods has the pods of each Binding (a placement of pods of one class on one host), after all placements and removals. A pod of a hidden
// node is identified by its index in State.Freed. An initially pending pod is identified by -1 minus its index in World.Pods.
type Pods struct {
	s *State
	// waiting has, for each class, the pods without a place, in the order in which they became pending. known has the classes whose entry
	// in waiting is already computed.
	waiting [][]int32
	known   bitset.Set
	// ByBinding has the pods of each binding.
	ByBinding [][]int32
}

// Pod returns the pod with the given number.
func (r *Pods) Pod(number int32) *corev1.Pod {
	if number < 0 {
		return r.s.w.Pods[-1-number]
	}
	return r.s.Freed[number].Pod
}

// PodsOf replays the log of the state.
func PodsOf(s *State) *Pods {
	r := &Pods{s: s, waiting: make([][]int32, len(s.w.Classes)), known: bitset.New(len(s.w.Classes)), ByBinding: make([][]int32, len(s.Placed.All))}
	r.goThrough()
	return r
}

// HiddenOf returns, for each pod of hidden nodes, the index of its node in the order in which nodes were hidden.
func (r *Pods) HiddenOf() []int32 {
	s := r.s
	from := make([]int32, len(s.Freed))
	for k, first := range s.firstFreed {
		last := len(s.Freed)
		if k+1 < len(s.firstFreed) {
			last = int(s.firstFreed[k+1])
		}
		for i := int(first); i < last; i++ {
			from[i] = int32(k)
		}
	}
	return from
}

// goThrough assigns pods to each binding, in the order of the log.
func (r *Pods) goThrough() {
	s := r.s
	counts := make([]int32, len(s.Placed.All))
	for i, b := range s.Placed.All {
		counts[i] = b.Count
	}
	at, freed := len(s.Placed.All), len(s.Freed)
	for _, c := range s.Log.changes {
		switch c.kind {
		case changeHidden:
			freed -= int(c.b)
		case changePlaced:
			at--
		case changeTaken:
			counts[c.a] = c.b
		}
	}
	// The log has no changes from before the last Commit. So their pods are added here: at is the number of bindings that existed then, and
	// freed is the number of pods of nodes hidden until then.
	r.free(0, freed)
	for i := range at {
		r.place(i, counts[i])
	}
	for _, c := range s.Log.changes {
		switch c.kind {
		case changeHidden:
			r.free(freed, freed+int(c.b))
			freed += int(c.b)
		case changePlaced:
			r.place(at, counts[at])
			at++
		case changeTaken:
			class := s.Placed.All[c.a].Class
			r.waiting[class] = append(r.queue(class), r.ByBinding[c.a]...)
			r.ByBinding[c.a] = nil
		}
	}
}

// free adds the pods of hidden nodes in Freed[from:to] to the pending pods.
func (r *Pods) free(from, to int) {
	for i := from; i < to; i++ {
		class := r.s.Freed[i].Class
		r.waiting[class] = append(r.queue(class), int32(i))
	}
}

// queue returns the pending pods of the class. At first these are the initially pending pods.
func (r *Pods) queue(class int32) []int32 {
	if !r.known.Has(int(class)) {
		r.known.Add(int(class))
		queue := r.s.w.Classes[class].Pending
		if r.s.Queue != nil {
			queue = r.s.Queue(class)
		}
		for _, i := range queue {
			r.waiting[class] = append(r.waiting[class], -1-int32(i))
		}
	}
	return r.waiting[class]
}

// place assigns to the binding the n pods that have been pending longest.
func (r *Pods) place(binding int, n int32) {
	class := r.s.Placed.All[binding].Class
	list := r.queue(class)
	r.ByBinding[binding], r.waiting[class] = list[:n:n], list[n:]
}
