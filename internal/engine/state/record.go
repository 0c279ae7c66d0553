package state

import (
	"maps"
	"slices"
)

// Record lists what was placed, so that it can be repeated after a rollback.
type Record struct {
	// Nodes are the new nodes with pods.
	Nodes    []Node
	Bindings []Binding
	// Existing is the number of existing nodes; First is the host number of the first of Nodes.
	Existing, First int32
	// grown are earlier new nodes that were exchanged, and restaged are the new stages of earlier placements, by number.
	grown    map[int32]Node
	restaged map[int32]int32
}

// Record lists what was placed since the mark, without nodes that have no pods.
func (s *State) Record(since Mark) Record {
	w := Record{Existing: int32(len(s.w.Nodes)), First: int32(len(s.w.Nodes))}
	placements, opened := len(s.PlacedSince(since)), s.Log.OpenedSince(since)
	for _, c := range s.Log.changes[since.log:] {
		switch {
		case c.kind == changeMoved && int(c.a) < len(s.Planned)-opened:
			if w.grown == nil {
				w.grown = map[int32]Node{}
			}
			w.grown[c.a] = s.Planned[c.a]
		case c.kind == changeStage && int(c.a) < len(s.Placed)-placements:
			if w.restaged == nil {
				w.restaged = map[int32]int32{}
			}
			w.restaged[c.a] = s.Placed[c.a].Stage
		}
	}
	w.First += int32(len(s.Planned) - opened)
	number := map[int32]int32{}
	for _, b := range s.Placed[len(s.Placed)-placements:] {
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

// PodsSince is how many pods were placed since the mark.
func (s *State) PodsSince(since Mark) int {
	n := 0
	for _, b := range s.PlacedSince(since) {
		n += int(b.Count)
	}
	return n
}

// Restore repeats what was recorded at this point.
func (s *State) Restore(w Record) {
	s.Regrow(w)
	for _, node := range w.Nodes {
		s.Open(node)
	}
	for _, b := range w.Bindings {
		s.Place(b)
	}
}

// Regrow repeats the exchanges of earlier nodes.
func (s *State) Regrow(w Record) {
	for _, i := range slices.Sorted(maps.Keys(w.grown)) {
		s.Exchange(i, w.grown[i])
	}
	for _, n := range slices.Sorted(maps.Keys(w.restaged)) {
		s.Restage(n, w.restaged[n])
	}
}

// Restage changes the stage of a placement.
func (s *State) Restage(placement, stage int32) {
	s.Log.note(change{changeStage, placement, s.Placed[placement].Stage})
	s.Placed[placement].Stage = stage
}

// OnlyOpens reports whether it opens new nodes and leaves earlier ones as they were.
func (w *Record) OnlyOpens() bool {
	return len(w.Nodes) > 0 && len(w.grown) == 0
}

// NodesUsed are the existing nodes that received pods, ascending.
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

// Pods is how many were placed.
func (w *Record) Pods() int {
	n := 0
	for _, b := range w.Bindings {
		n += int(b.Count)
	}
	return n
}

// PlacedSince are the bindings since the mark.
func (s *State) PlacedSince(since Mark) []Binding {
	n := 0
	for _, c := range s.Log.changes[since.log:] {
		if c.kind == changePlaced {
			n++
		}
	}
	return s.Placed[len(s.Placed)-n:]
}

// Stages counts the pods on new nodes by class and stage.
func (w *Record) Stages() map[[2]int32]int32 {
	out := map[[2]int32]int32{}
	for _, b := range w.Bindings {
		if b.Host >= w.First {
			out[[2]int32{b.Class, b.Stage}] += b.Count
		}
	}
	return out
}
