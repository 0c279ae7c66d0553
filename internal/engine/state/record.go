package state

import (
	"maps"
	"slices"
)

// Record contains the placements since a mark, so that they can be repeated after a rollback.
type Record struct {
	// Nodes are the new nodes with pods.
	Nodes    []Node
	Bindings []Binding
	// Existing is the number of existing nodes. First is the host number of the first node in Nodes.
	Existing, First int32
	// grown has, by number, the new nodes from before the mark that were exchanged. restaged has, by number, the new stages of bindings
	// from before the mark.
	grown    map[int32]Node
	restaged map[int32]int32
}

// Record returns the placements since the mark. It leaves out new nodes that have no pods.
func (s *State) Record(since Mark) Record {
	w := Record{Existing: int32(len(s.w.Nodes)), First: int32(len(s.w.Nodes))}
	placements, opened := s.Log.placedSince(since), s.Log.OpenedSince(since)
	for _, c := range s.Log.changes[since.log:] {
		switch {
		case c.kind == changeMoved && int(c.a) < len(s.Planned)-opened:
			if w.grown == nil {
				w.grown = map[int32]Node{}
			}
			w.grown[c.a] = s.Planned[c.a]
		case c.kind == changeStage && int(c.a) < len(s.Placed.All)-placements:
			if w.restaged == nil {
				w.restaged = map[int32]int32{}
			}
			w.restaged[c.a] = s.Placed.All[c.a].Stage
		}
	}
	w.First += int32(len(s.Planned) - opened)
	number := map[int32]int32{}
	for _, b := range s.Placed.All[len(s.Placed.All)-placements:] {
		if b.Count == 0 {
			continue
		}
		if b.Host >= w.First {
			n, ok := number[b.Host]
			if !ok {
				n = w.First + int32(len(w.Nodes))
				number[b.Host] = n
				node := s.Planned[b.Host-int32(len(s.w.Nodes))]
				node.Used = nil
				w.Nodes = append(w.Nodes, node)
			}
			b.Host = n
		}
		w.Bindings = append(w.Bindings, b)
	}
	return w
}

// Restore repeats the recorded changes in the state.
func (w *Record) Restore(s *State) {
	w.Regrow(s)
	for _, node := range w.Nodes {
		s.Open(node)
	}
	for _, b := range w.Bindings {
		s.Place(b)
	}
}

// Regrow repeats the exchanges of new nodes that were opened before the mark.
func (w *Record) Regrow(s *State) {
	for _, i := range slices.Sorted(maps.Keys(w.grown)) {
		s.Exchange(i, w.grown[i])
	}
	for _, n := range slices.Sorted(maps.Keys(w.restaged)) {
		s.Restage(n, w.restaged[n])
	}
}

// OnlyOpens reports whether the record opens new nodes and does not exchange new nodes from before the mark.
func (w *Record) OnlyOpens() bool {
	return len(w.Nodes) > 0 && len(w.grown) == 0
}

// NodesUsed returns the existing nodes that received pods, in ascending order.
func (w *Record) NodesUsed() []int32 {
	var out []int32
	for _, b := range w.Bindings {
		if b.Host < w.Existing {
			out = append(out, b.Host)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Pods returns the number of pods that were placed.
func (w *Record) Pods() int { return podsOf(w.Bindings) }

// Stages returns the number of pods on new nodes by class and stage.
func (w *Record) Stages() map[[2]int32]int32 {
	out := map[[2]int32]int32{}
	for _, b := range w.Bindings {
		if b.Host >= w.First {
			out[[2]int32{b.Class, b.Stage}] += b.Count
		}
	}
	return out
}
