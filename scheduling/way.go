package scheduling

import (
	"maps"
	"slices"
)

// way is what a trial has placed, so that it can be done again after a rollback.
type way struct {
	machines []machine
	bindings []binding
	// nodes is how many nodes the snapshot has; first is the host number of the first of the nodes.
	nodes, first int32
	// grown are new nodes of before that became others, and restaged the stages that placements of before came to, by number.
	grown    map[int32]machine
	restaged map[int32]int32
}

// record is what was placed since the mark; nodes without pods are left out.
func (t *Trial) record(since Mark) way {
	w := way{nodes: int32(len(t.m.nodes)), first: int32(len(t.m.nodes))}
	placements := 0
	opened := 0
	for _, c := range t.log[since.log:] {
		switch c.kind {
		case changePlaced:
			placements++
		case changeMachine:
			opened++
		}
	}
	for _, c := range t.log[since.log:] {
		switch {
		case c.kind == changeMoved && int(c.a) < len(t.machines)-opened:
			if w.grown == nil {
				w.grown = map[int32]machine{}
			}
			w.grown[c.a] = t.machines[c.a]
		case c.kind == changeStage && int(c.a) < len(t.placed)-placements:
			if w.restaged == nil {
				w.restaged = map[int32]int32{}
			}
			w.restaged[c.a] = t.placed[c.a].stage
		}
	}
	w.first += int32(len(t.machines) - opened)
	number := map[int32]int32{}
	for _, b := range t.placed[len(t.placed)-placements:] {
		if b.count == 0 {
			continue
		}
		if b.host >= w.first {
			n, ok := number[b.host]
			if !ok {
				n = w.first + int32(len(w.machines))
				number[b.host] = n
				mc := t.machines[b.host-int32(len(t.m.nodes))]
				mc.used = nil
				w.machines = append(w.machines, mc)
			}
			b.host = n
		}
		w.bindings = append(w.bindings, b)
	}
	return w
}

// podsSince is how many pods were placed since the mark.
func (t *Trial) podsSince(since Mark) int {
	placements := 0
	for _, c := range t.log[since.log:] {
		if c.kind == changePlaced {
			placements++
		}
	}
	n := 0
	for _, b := range t.placed[len(t.placed)-placements:] {
		n += int(b.count)
	}
	return n
}

// restore does again what was recorded at this point.
func (t *Trial) restore(w way) {
	t.regrow(w)
	for _, mc := range w.machines {
		t.open(mc)
	}
	for _, b := range w.bindings {
		t.place(b)
	}
}

// regrow does again what became of nodes that were there before.
func (t *Trial) regrow(w way) {
	for _, i := range slices.Sorted(maps.Keys(w.grown)) {
		t.exchange(i, w.grown[i])
	}
	for _, n := range slices.Sorted(maps.Keys(w.restaged)) {
		t.restage(n, w.restaged[n])
	}
}

// restage changes the stage that a placement goes by.
func (t *Trial) restage(placement, stage int32) {
	t.log = append(t.log, change{changeStage, placement, t.placed[placement].stage})
	t.placed[placement].stage = stage
}

// onlyOpens reports whether there are new nodes among it, and those that were there before are as they were.
func (w *way) onlyOpens() bool {
	return len(w.machines) > 0 && len(w.grown) == 0
}

// nodesUsed are the nodes of the snapshot that received pods, ascending.
func (w *way) nodesUsed() []int32 {
	var out []int32
	for _, b := range w.bindings {
		if b.host < w.nodes {
			out = append(out, b.host)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// prioritiesOf are the classes' priorities, highest first.
func (t *Trial) prioritiesOf(classes []int32) []int32 {
	var out []int32
	for _, tier := range t.priorities(classes) {
		out = append(out, t.m.classes[tier[0]].Priority)
	}
	return out
}

// value counts the pods that a way places, by priority.
func (t *Trial) value(w way, priorities []int32) []int {
	out := make([]int, len(priorities))
	for _, b := range w.bindings {
		out[slices.Index(priorities, t.m.classes[b.class].Priority)] += int(b.count)
	}
	return out
}

func (w *way) pods() int {
	n := 0
	for _, b := range w.bindings {
		n += int(b.count)
	}
	return n
}
