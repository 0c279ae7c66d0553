package state_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/engine/existing"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/scheduling/planning"
)

const (
	nodes   = 4
	classes = 3
	dims    = 3
)

// world has nodes with one pod of each class that can move, and one pool.
func world() (w state.World, free []int64) {
	w = state.World{Dims: dims}
	for i := range classes {
		w.Classes = append(w.Classes, &podclass.Class{Requests: []int64{int64(i + 1), 2, 1}, Pending: []int32{int32(i)}})
		w.Pods = append(w.Pods, &corev1.Pod{})
	}
	w.Gangs = []state.Gang{{Ways: [][]state.Share{{{Class: 0, Count: 1}}, nil, {{Class: 1, Count: 1}}}}}
	for range nodes {
		n := existing.Node{Usable: true, Pool: -1, Source: &planning.Node{}}
		for c := range classes {
			n.Movable = append(n.Movable, existing.Pod{Pod: &corev1.Pod{}, Class: int32(c)})
		}
		w.Nodes = append(w.Nodes, n)
		free = append(free, 100, 100, 100)
	}
	catalog := &market.Catalog{Variants: []market.Variant{{}}, Slots: []market.Slot{{}, {Reservation: "r"}}}
	w.Pools = []*nodepool.Pool{{Table: &nodepool.Table{Catalog: catalog, Rows: make([]nodepool.Row, 2)}}}
	return w, free
}

// seen is what of a state can be told from outside.
type seen struct {
	free    []int64
	waiting []int32
	ways    []int32
	usable  []int
	hidden  []int32
	placed  []state.Binding
	planned []state.Node
	freed   int
	drawn   int
}

func see(s *state.State) seen {
	out := seen{
		free: slices.Clone(s.Room.Free), waiting: slices.Clone(s.Waiting), ways: slices.Clone(s.Ways), hidden: slices.Clone(s.Hidden), placed: slices.Clone(s.Placed.All),
		freed: len(s.Freed), drawn: s.Limits.Reserved["r"],
	}
	for i := range s.Room.Usable.Members {
		out.usable = append(out.usable, i)
	}
	for _, n := range s.Planned {
		n.Used = slices.Clone(n.Used)
		out.planned = append(out.planned, n)
	}
	return out
}

func equal(a, b seen) bool {
	return slices.Equal(a.free, b.free) && slices.Equal(a.waiting, b.waiting) && slices.Equal(a.ways, b.ways) && slices.Equal(a.usable, b.usable) && slices.Equal(a.hidden, b.hidden) &&
		slices.Equal(a.placed, b.placed) && a.freed == b.freed && a.drawn == b.drawn &&
		slices.EqualFunc(a.planned, b.planned, func(x, y state.Node) bool {
			return x.Row == y.Row && x.Slot == y.Slot && x.Price == y.Price && x.Abandoned == y.Abandoned && slices.Equal(x.Used, y.Used)
		})
}

// step does something drawn.
func step(t *rapid.T, s *state.State) {
	draw := func(name string, most int) int32 { return int32(rapid.IntRange(0, most-1).Draw(t, name)) }
	switch draw("step", 7) {
	case 0:
		if i := draw("node", nodes); !s.HiddenSet.Has(int(i)) {
			s.Hide(i, func(*corev1.Pod) bool { return true }, nil)
		}
	case 1:
		s.Shut(int(draw("node", nodes)))
	case 2:
		s.Open(state.Node{Row: draw("row", 2), Slot: draw("slot", 2), Price: int64(draw("price", 9))})
	case 3:
		if n := len(s.Planned); n > 0 {
			s.Exchange(draw("new", n), state.Node{Row: draw("row", 2), Price: int64(draw("price", 9))})
		}
	case 4:
		s.AbandonEmpty()
	case 5:
		if n := len(s.Planned); n > 0 {
			if i := int(draw("new", n)); !s.Planned[i].Empty() {
				s.Drop(i)
			}
		}
	default:
		class, host := draw("class", classes), draw("host", nodes+len(s.Planned))
		free := host >= nodes && !s.Planned[host-nodes].Abandoned || host < nodes && s.Room.Usable.Has(int(host))
		if s.Waiting[class] > 0 && free {
			s.Place(state.Binding{Class: class, Host: host, Count: 1 + draw("count", int(s.Waiting[class])), Stage: -1})
		}
	}
}

// Whatever is done can be undone, and what was recorded of it done again.
func TestAllIsUndone(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		w, free := world()
		var s state.State
		s.Begin(w, free, nil)
		for range rapid.IntRange(0, 6).Draw(t, "before") {
			step(t, &s)
		}
		mark, before := s.Log.Now(), see(&s)
		for range rapid.IntRange(1, 12).Draw(t, "after") {
			step(t, &s)
		}
		if undone, ok := s.Rollback(mark); !ok || !undone && s.Log.ChangedSince(mark) {
			t.Fatal("the mark is refused")
		}
		if after := see(&s); !equal(before, after) {
			t.Errorf("before %+v, after %+v", before, after)
		}
	})
}

// Each pod that was placed is told from its like: nobody is in two places, and who waits has none.
func TestPodsAreToldApart(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		w, free := world()
		var s state.State
		s.Begin(w, free, nil)
		for range rapid.IntRange(1, 15).Draw(t, "steps") {
			step(t, &s)
		}
		p, count := state.PodsOf(&s), map[int32]int{}
		for i, list := range p.ByBinding {
			if len(list) != int(s.Placed.All[i].Count) {
				t.Errorf("binding %d has %d pods, and names %d", i, s.Placed.All[i].Count, len(list))
			}
			for _, pod := range list {
				if count[pod]++; count[pod] > 1 {
					t.Errorf("pod %d is in two places", pod)
				}
			}
		}
		placed, all := 0, len(s.Freed)+len(w.Pods)
		for _, b := range s.Placed.All {
			placed += int(b.Count)
		}
		if placed+s.Waiting.Pods() != all {
			t.Errorf("%d pods placed and %d wait of %d", placed, s.Waiting.Pods(), all)
		}
	})
}

// After a commit, and where it was undone itself, a mark is refused.
func TestStaleMarks(t *testing.T) {
	w, free := world()
	var s state.State
	s.Begin(w, free, nil)
	first := s.Log.Now()
	s.Shut(0)
	second := s.Log.Now()
	s.Shut(1)
	if _, ok := s.Rollback(first); !ok {
		t.Fatal("a good mark is refused")
	}
	s.Shut(2)
	if _, ok := s.Rollback(second); ok {
		t.Error("a mark that was undone is taken")
	}
	s.Log.Commit()
	if _, ok := s.Rollback(first); ok {
		t.Error("a mark from before a commit is taken")
	}
}

// What was recorded is as it was when it is done again.
func TestRecordsAreRestored(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		w, free := world()
		var s state.State
		s.Begin(w, free, nil)
		mark := s.Log.Now()
		for i := range rapid.IntRange(0, 3).Draw(t, "new") {
			s.Open(state.Node{Row: int32(i % 2)})
		}
		for class := range int32(classes) {
			s.Place(state.Binding{Class: class, Host: int32(rapid.IntRange(0, nodes+len(s.Planned)-1).Draw(t, "host")), Count: 1, Stage: -1})
		}
		used, cost, done := slices.Clone(s.Room.Free), s.Planned.Filled(), s.Record(mark)
		s.Undo(mark)
		done.Restore(&s)
		if !slices.Equal(s.Room.Free, used) || s.Planned.Filled() != cost || done.Pods() != classes || s.Placed.PodsSince(&s.Log, mark) != classes || s.Log.OpenedSince(mark) != cost {
			t.Errorf("free %v, want %v; %d new nodes, want %d", s.Room.Free, used, s.Planned.Filled(), cost)
		}
	})
}

// What concerns only nodes opened since a mark is told from what does not.
func TestWhatIsApart(t *testing.T) {
	w, free := world()
	var s state.State
	s.Begin(w, free, nil)
	s.Open(state.Node{})
	mark := s.Log.Now()
	if _, _, apart := s.Log.ApartSince(mark, len(s.Planned), len(s.Placed.All)); !apart {
		t.Error("nothing was done, and that is not apart")
	}
	host := s.Open(state.Node{})
	s.Place(state.Binding{Class: 0, Host: host, Count: 1, Stage: -1})
	if node, placed, apart := s.Log.ApartSince(mark, len(s.Planned), len(s.Placed.All)); node != 1 || placed != 0 || !apart {
		t.Errorf("from node %d and placement %d on, apart: %v", node, placed, apart)
	}
	s.Exchange(0, state.Node{Row: 1})
	if _, _, apart := s.Log.ApartSince(mark, len(s.Planned), len(s.Placed.All)); apart {
		t.Error("a node that was there before became another, and that is apart")
	}
}
