package state

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/bitset"
)

// Pods says which pods each binding is of, whatever was placed and taken off before. A pod is its number in State.Freed or, of those that
// waited at first, -1 less that in World.Pods.
type Pods struct {
	s *State
	// waiting are the pods without a place, by class, those first that have waited longest; known are the classes that have
	// got theirs.
	waiting [][]int32
	known   bitset.Set
	// ByBinding are those of each binding.
	ByBinding [][]int32
}

// Pod is the one of that number.
func (r *Pods) Pod(number int32) *corev1.Pod {
	if number < 0 {
		return r.s.w.Pods[-1-number]
	}
	return r.s.Freed[number].Pod
}

// Pods goes through what was done.
func (s *State) Pods() *Pods {
	r := &Pods{s: s, waiting: make([][]int32, len(s.w.Classes)), known: bitset.New(len(s.w.Classes)), ByBinding: make([][]int32, len(s.Placed))}
	r.goThrough()
	return r
}

// HiddenOf is, by pod of hidden nodes, which of them, in the order they were hidden, it was on.
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

// goThrough hands out the pods of each binding, in the order of what was done.
func (r *Pods) goThrough() {
	s := r.s
	counts := make([]int32, len(s.Placed))
	for i, b := range s.Placed {
		counts[i] = b.Count
	}
	at, freed := len(s.Placed), len(s.Freed)
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
	// What was done before the last Commit is not logged.
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
			class := s.Placed[c.a].Class
			r.waiting[class] = append(r.queue(class), r.ByBinding[c.a]...)
			r.ByBinding[c.a] = nil
		}
	}
}

// free adds pods of hidden nodes, by number, to those that wait.
func (r *Pods) free(from, to int) {
	for i := from; i < to; i++ {
		class := r.s.Freed[i].Class
		r.waiting[class] = append(r.queue(class), int32(i))
	}
}

// queue is waiting of the class, which begins with those that waited at first.
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

// place gives the binding n of the pods that have waited longest.
func (r *Pods) place(binding int, n int32) {
	class := r.s.Placed[binding].Class
	list := r.queue(class)
	r.ByBinding[binding], r.waiting[class] = list[:n:n], list[n:]
}
