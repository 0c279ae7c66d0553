package state_test

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/state"
)

// watcher writes down what it is notified of.
type watcher struct{ heard []string }

func (w *watcher) RoomChanged(node int32) { w.heard = append(w.heard, fmt.Sprintf("room %d", node)) }
func (w *watcher) Returned(pods int)      { w.heard = append(w.heard, fmt.Sprintf("%d back", pods)) }

// begun is a state of the tests' world.
func begun() *state.State {
	w, free := world()
	s := &state.State{}
	s.Begin(w, free, nil)
	return s
}

// Each host's bindings are found in the order in which they were placed, without those whose pods were taken away.
func TestPlacementsByHost(t *testing.T) {
	s := begun()
	first, second := s.Open(state.Node{}), s.Open(state.Node{})
	mark := s.Log.Now()
	for _, b := range []state.Binding{{Class: 0, Host: second, Count: 1}, {Class: 1, Host: 2, Count: 1}, {Class: 2, Host: second, Count: 1}, {Class: 1, Host: second, Count: 2}} {
		s.Place(b)
	}
	s.TakeOne(second, 2)
	classesOf := func(list []state.Binding) (out []int32) {
		for _, b := range list {
			out = append(out, b.Class)
		}
		return out
	}
	if got := classesOf(s.Placed.Load(second)); !slices.Equal(got, []int32{0, 1}) {
		t.Errorf("classes %v on the second new node, want 0 and 1", got)
	}
	var last []int32
	for b := range s.Placed.On(second) {
		last = append(last, b.Class)
		break
	}
	if !slices.Equal(last, []int32{1}) {
		t.Errorf("the last class is %v, want 1", last)
	}
	loads := s.Placed.Loads(1)
	if len(loads) != 1 || !slices.Equal(classesOf(loads[0]), []int32{0, 1}) || len(s.Placed.Loads(0)) != 2 || len(s.Placed.Load(first)) != 0 {
		t.Errorf("loads from the second new node on: %v", loads)
	}
	if got := s.Placed.PodsSince(&s.Log, mark); got != 4 {
		t.Errorf("%d pods since the mark, want 4", got)
	}
	if got := classesOf(s.Placed.Load(2)); !slices.Equal(got, []int32{1}) {
		t.Errorf("classes %v on the existing node, want 1", got)
	}
}

// Of several pods of a class, one waits again, and the others stay.
func TestTakeOne(t *testing.T) {
	s := begun()
	host := s.Open(state.Node{})
	s.Place(state.Binding{Class: 0, Host: host, Count: 3})
	waiting := s.Waiting.Pods()
	s.TakeOne(host, 0)
	if load := s.Placed.Load(host); len(load) != 1 || load[0].Count != 2 || s.Waiting.Pods() != waiting+1 {
		t.Errorf("%+v stays and %d pods wait, want 2 pods and %d", load, s.Waiting.Pods(), waiting+1)
	}
}

// The watcher hears of each node whose room changes, and of pods whose node is back.
func TestRoomIsWatched(t *testing.T) {
	s, w := begun(), &watcher{}
	s.Room.Watch = w
	start := s.Log.Now()
	s.Shut(1)
	s.Shut(1)
	s.Hide(0, func(*corev1.Pod) bool { return true }, nil)
	s.Place(state.Binding{Class: 0, Host: 3, Count: 1})
	s.Place(state.Binding{Class: 0, Host: s.Open(state.Node{}), Count: 1})
	s.Undo(start)
	if want := []string{"room 1", "room 0", "room 3", "room 3", "3 back", "room 0", "room 1"}; !slices.Equal(w.heard, want) {
		t.Errorf("heard %q, want %q", w.heard, want)
	}
}

// A node that was shut stays shut when it is back from hiding, and one that is hidden stays unusable when it is open again.
func TestShutAndHidden(t *testing.T) {
	for _, c := range []struct {
		name        string
		first, then func(s *state.State)
	}{
		{"shut, then hidden", func(s *state.State) { s.Shut(1) }, func(s *state.State) { s.Hide(1, func(*corev1.Pod) bool { return true }, nil) }},
		{"hidden, then shut", func(s *state.State) { s.Hide(1, func(*corev1.Pod) bool { return true }, nil) }, func(s *state.State) { s.Shut(1) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := begun()
			start := s.Log.Now()
			c.first(s)
			second := s.Log.Now()
			c.then(s)
			for _, step := range []struct {
				to     state.Mark
				usable bool
			}{{second, false}, {start, true}} {
				s.Undo(step.to)
				if got := s.Room.Usable.Has(1); got != step.usable {
					t.Errorf("usable: %v, want %v", got, step.usable)
				}
			}
		})
	}
}

// What is left of a sealed resource counts as used, on existing and on new nodes, until it is undone.
func TestSeal(t *testing.T) {
	s := begun()
	mark := s.Log.Now()
	s.Seal(2, []int{1})
	if free := s.Room.Of(2); !slices.Equal(free, []int64{100, 0, 100}) {
		t.Errorf("free %v, want nothing of the second resource", free)
	}
	s.Undo(mark)
	if free := s.Room.Of(2); !slices.Equal(free, []int64{100, 100, 100}) {
		t.Errorf("undone, free %v", free)
	}
}

// When a node is hidden, the pods that it received wait again in the order in which they came.
func TestHiddenNodesGivePodsBackInOrder(t *testing.T) {
	s := begun()
	s.Hide(0, func(*corev1.Pod) bool { return true }, nil)
	s.Place(state.Binding{Class: 0, Host: 2, Count: 1}) // the pod that waits from the start
	s.Place(state.Binding{Class: 0, Host: 2, Count: 1}) // the one of the hidden node
	s.Hide(2, func(*corev1.Pod) bool { return true }, nil)
	s.Place(state.Binding{Class: 0, Host: 3, Count: 1})
	if got := state.PodsOf(s).ByBinding[2]; !slices.Equal(got, []int32{-1}) {
		t.Errorf("pods %v are placed, want the one that came first", got)
	}
}

// A new node takes an instance of its reservation until it is given up or undone; a new node after that has pods of its own.
func TestOpenIsUndone(t *testing.T) {
	s := begun()
	start := s.Log.Now()
	host := s.Open(state.Node{Slot: 1})
	s.Place(state.Binding{Class: 0, Host: host, Count: 1})
	s.Open(state.Node{Slot: 1})
	if got := s.Limits.Reserved["r"]; got != 2 {
		t.Errorf("%d instances of the reservation are taken, want 2", got)
	}
	if s.AbandonEmpty(); s.Limits.Reserved["r"] != 1 {
		t.Errorf("%d instances are taken after one was given up, want 1", s.Limits.Reserved["r"])
	}
	s.Undo(start)
	if got := s.Limits.Reserved["r"]; got != 0 || len(s.Placed.Loads(0)) != 0 {
		t.Errorf("undone, %d instances are taken, and there are %d new nodes", got, len(s.Placed.Loads(0)))
	}
	if s.Open(state.Node{}); len(s.Placed.Loads(0)) != 1 || len(s.Placed.Loads(0)[0]) != 0 {
		t.Errorf("opened again, new nodes have %v", s.Placed.Loads(0))
	}
}
