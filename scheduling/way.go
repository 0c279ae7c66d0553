package scheduling

// way is what a trial has placed, so that it can be done again after a rollback.
type way struct {
	machines []machine
	bindings []binding
	// first is the host number of the first of the machines.
	first int32
}

// record is what was placed since the mark; machines without pods are left out.
func (t *Trial) record(since Mark) way {
	w := way{first: int32(len(t.m.nodes))}
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

// restore does again what was recorded at this point.
func (t *Trial) restore(w way) {
	for _, mc := range w.machines {
		t.open(mc)
	}
	for _, b := range w.bindings {
		t.place(b)
	}
}

func (w *way) pods() int {
	n := 0
	for _, b := range w.bindings {
		n += int(b.count)
	}
	return n
}
