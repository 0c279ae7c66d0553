package subnets

import (
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/internal/seeded"
)

var found = []awsv1.Subnet{
	{ID: "a1", Zone: "a"}, {ID: "a2", Zone: "a"}, {ID: "b1", Zone: "b"}, {ID: "b2", Zone: "b"}, {ID: "c1", Zone: "c"},
}

type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

func newTracker() (*Tracker, *clock) {
	c := &clock{now: time.Unix(1e9, 0)}
	return New(Options{Now: c.Now}), c
}

func ids(h *Hold) []string {
	var all []string
	for _, s := range h.Subnets() {
		all = append(all, s.ID)
	}
	slices.Sort(all)
	return all
}

// AWN-098, AWI-181: most addresses win, ties keep the class's order, unknown is none, one subnet a zone.
func TestHoldChooses(t *testing.T) {
	l, _ := newTracker()
	if got := ids(l.Hold(found, nil, 0)); !slices.Equal(got, []string{"a1", "b1", "c1"}) {
		t.Errorf("without counts: %v, want the first of each zone", got)
	}
	l.Observe(map[string]int64{"a1": 10, "a2": 20, "b1": 7, "b2": 7})
	if got := ids(l.Hold(found, nil, 0)); !slices.Equal(got, []string{"a2", "b1", "c1"}) {
		t.Errorf("with counts: %v", got)
	}
	if got := ids(l.Hold(found, []string{"a", "d"}, 0)); !slices.Equal(got, []string{"a2"}) {
		t.Errorf("zones a and d: %v, want a2 alone", got)
	}
	if got := ids(l.Hold(nil, nil, 5)); len(got) != 0 {
		t.Errorf("a class without subnets got %v", got)
	}
}

// AWN-099, AWN-100, AWI-182, AWI-190: a launch is charged in advance; what it did not use comes back, what it used stays charged until EC2
// has counted again (AWI-179).
func TestHoldCharges(t *testing.T) {
	l, _ := newTracker()
	l.Observe(map[string]int64{"a1": 100, "a2": 90, "b1": 50})
	first := l.Hold(found, nil, 30)
	second := l.Hold(found, nil, 30)
	if got := ids(second); !slices.Equal(got, []string{"a2", "b1", "c1"}) {
		t.Errorf("the second launch got %v, want a2: a1 is charged", got)
	}
	first.Settle("a1")
	first.Settle("b1") // only the first call counts
	second.Settle()
	for id, want := range map[string]int64{"a1": 70, "a2": 90, "b1": 50} {
		if got, known := l.Free(id); got != want || !known {
			t.Errorf("%s has %d free, want %d", id, got, want)
		}
	}
	third := l.Hold(found, []string{"a"}, 30)
	l.Observe(map[string]int64{"a1": 60, "a2": 60})
	if got, _ := l.Free("a1"); got != 60 {
		t.Errorf("a1 has %d free after it was counted, want 60", got)
	}
	if got, _ := l.Free("a2"); got != 30 {
		t.Errorf("a2 has %d free, want 30: a launch under way stays charged", got)
	}
	third.Settle("a2", "a2")
	if got, _ := l.Free("a2"); got != 0 {
		t.Errorf("a2 has %d free after two instances, want 0", got)
	}
	l.Hold(found, []string{"c"}, 30)
	if got, known := l.Free("c1"); got != -30 || known {
		t.Errorf("c1 has %d free (%v), want -30 below what is unknown", got, known)
	}
}

// AWN-100, AWI-191: a full subnet comes last.
func TestExhausted(t *testing.T) {
	l, _ := newTracker()
	l.Observe(map[string]int64{"a1": 100, "a2": 1})
	l.Exhausted("a1")
	if got := ids(l.Hold(found, []string{"a"}, 1)); !slices.Equal(got, []string{"a2"}) {
		t.Errorf("got %v, want a2", got)
	}
}

func TestLifetime(t *testing.T) {
	l, c := newTracker()
	l.Observe(map[string]int64{"a1": 1, "a2": 100})
	if got := l.Unknown(time.Minute, found); !slices.Equal(got, []string{"b1", "b2", "c1"}) {
		t.Errorf("unknown are %v", got)
	}
	c.now = c.now.Add(time.Minute)
	if got := l.Unknown(time.Minute, found); len(got) != len(found) {
		t.Errorf("after a minute unknown are %v, want all", got)
	}
	c.now = c.now.Add(DefaultLifetime)
	if got := ids(l.Hold(found, []string{"a"}, 0)); !slices.Equal(got, []string{"a1"}) {
		t.Errorf("old counts still decide: %v", got)
	}
	if _, known := l.Free("a2"); known {
		t.Error("an old count is known")
	}
	l.Observe(map[string]int64{"z": 1})
	if len(l.entries) != 1 {
		t.Errorf("%v are remembered, want z alone", slices.Collect(maps.Keys(l.entries)))
	}
}

// Whatever the order of holds and settlements, nothing stays charged but the instances.
func TestNothingLeaks(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		l, _ := newTracker()
		l.Observe(map[string]int64{"a1": 1000, "a2": 1000, "b1": 1000, "b2": 1000, "c1": 1000})
		var holds []*Hold
		var instances int64
		for range rapid.IntRange(1, 50).Draw(t, "steps") {
			if len(holds) > 0 && rapid.Bool().Draw(t, "settle") {
				h := holds[0]
				holds = holds[1:]
				if rapid.Bool().Draw(t, "launched") {
					instances += h.perNode
					h.Settle(ids(h)[0])
				} else {
					h.Settle()
				}
				continue
			}
			holds = append(holds, l.Hold(found, nil, rapid.Int64Range(-1, 60).Draw(t, "pods")))
		}
		for _, h := range holds {
			h.Settle()
		}
		var free int64
		for _, s := range found {
			n, _ := l.Free(s.ID)
			free += n
		}
		if free != 5000-instances {
			t.Fatalf("%d are free, want %d", free, 5000-instances)
		}
	})
}

func TestConcurrent(t *testing.T) {
	l, _ := newTracker()
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			h := l.Hold(found, nil, 1)
			l.Observe(map[string]int64{"a1": 10})
			l.Exhausted("b1")
			h.Settle("a1")
		})
	}
	wg.Wait()
}
