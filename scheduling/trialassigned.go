package scheduling

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/bitset"
)

// Assignment is where a trial has put pods.
type Assignment struct {
	// Existing are the nodes of the snapshot that have received some, by name.
	Existing []ExistingNode
	// Planned are the pods of new nodes, by number.
	Planned [][]PodKey
	// Hidden are the nodes that are hidden, in the order they were.
	Hidden []string
	// ExistingFrom and PlannedFrom tell for each of those pods which of Hidden it comes from; -1 for one that waits anyway.
	ExistingFrom, PlannedFrom [][]int32
}

// Assigned is where the trial has put pods so far. It is Placed without what the new nodes are, and pods of a class that were
// hidden together are placed together, whatever was placed and taken off before.
func (t *Trial) Assigned() *Assignment {
	m := t.m
	r := &redealing{t: t, waiting: make([][]int32, len(m.classes)), known: bitset.New(len(m.classes)), hands: make([][]int32, len(t.placed))}
	r.deal()
	from := make([]int32, len(t.freed)) // by pod
	for k, first := range t.firstFreed {
		last := len(t.freed)
		if k+1 < len(t.firstFreed) {
			last = int(t.firstFreed[k+1])
		}
		for i := int(first); i < last; i++ {
			from[i] = int32(k)
		}
	}
	counts := make([]int, len(m.nodes)+len(t.machines))
	total := 0
	for i := range t.placed {
		counts[t.placed[i].host] += len(r.hands[i])
		total += len(r.hands[i])
	}
	// The lists of all hosts are parts of one.
	keys, origins := make([]PodKey, total), make([]int32, total)
	at := make([]int, len(counts))
	for host, sum := 0, 0; host < len(counts); host++ {
		at[host] = sum
		sum += counts[host]
	}
	for i := range t.placed {
		host := t.placed[i].host
		for _, p := range r.hands[i] {
			pod, origin := r.pod(p), int32(-1)
			if p >= 0 {
				origin = from[p]
			}
			keys[at[host]], origins[at[host]] = PodKey{pod.Namespace, pod.Name}, origin
			at[host]++
		}
	}
	out := &Assignment{Planned: make([][]PodKey, len(t.machines)), PlannedFrom: make([][]int32, len(t.machines))}
	var nodes []int32
	for i := range m.nodes {
		if counts[i] > 0 {
			nodes = append(nodes, int32(i))
		}
	}
	slices.SortFunc(nodes, func(a, b int32) int { return cmp.Compare(m.nodes[a].Name, m.nodes[b].Name) })
	part := func(host int) (list []PodKey, from []int32) {
		end := at[host]
		first := end - counts[host]
		return keys[first:end:end], origins[first:end:end]
	}
	for _, i := range nodes {
		list, from := part(int(i))
		out.Existing = append(out.Existing, ExistingNode{Name: m.nodes[i].Name, Pods: list})
		out.ExistingFrom = append(out.ExistingFrom, from)
	}
	for i := range t.machines {
		if host := len(m.nodes) + i; counts[host] > 0 {
			out.Planned[i], out.PlannedFrom[i] = part(host)
		}
	}
	for _, i := range t.hidden {
		out.Hidden = append(out.Hidden, m.nodes[i].Name)
	}
	return out
}

// redealing goes through what a trial has done, to tell pods of a class apart. A pod is its number in Trial.freed or, of the
// snapshot's own, -1 less that in Model.pods.
type redealing struct {
	t *Trial
	// waiting are the pods without a place, by class, those first that have waited longest; known are the classes that have
	// got theirs. hands are those of each binding.
	waiting [][]int32
	known   bitset.Set
	hands   [][]int32
}

func (r *redealing) pod(number int32) *corev1.Pod {
	if number < 0 {
		return r.t.m.pods[-1-number]
	}
	return r.t.freed[number].Pod
}

func (r *redealing) deal() {
	t := r.t
	counts := make([]int32, len(t.placed))
	for i, b := range t.placed {
		counts[i] = b.count
	}
	at, freed := len(t.placed), len(t.freed)
	for _, c := range t.log {
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
	for _, c := range t.log {
		switch c.kind {
		case changeHidden:
			r.free(freed, freed+int(c.b))
			freed += int(c.b)
		case changePlaced:
			r.place(at, counts[at])
			at++
		case changeTaken:
			class := t.placed[c.a].class
			r.waiting[class] = append(r.queue(class), r.hands[c.a]...)
			r.hands[c.a] = nil
		}
	}
}

// free adds pods of hidden nodes, by number, to those that wait.
func (r *redealing) free(from, to int) {
	for i := from; i < to; i++ {
		class := r.t.freed[i].Class
		r.waiting[class] = append(r.queue(class), int32(i))
	}
}

// queue is waiting of the class, which begins with the snapshot's own waiting pods.
func (r *redealing) queue(class int32) []int32 {
	if !r.known.Has(int(class)) {
		r.known.Add(int(class))
		for _, i := range r.t.m.classes[class].Pending {
			r.waiting[class] = append(r.waiting[class], -1-int32(i))
		}
	}
	return r.waiting[class]
}

func (r *redealing) place(binding int, n int32) {
	class := r.t.placed[binding].class
	list := r.queue(class)
	r.hands[binding], r.waiting[class] = list[:n:n], list[n:]
}
