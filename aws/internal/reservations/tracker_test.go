package reservations_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/reservations"
	"github.com/drawknife/drawknife/internal/seeded"
)

func of(id string, free int) reservations.Reservation {
	return reservations.Reservation{CapacityReservation: awsv1.CapacityReservation{ID: id}, Available: free, Total: 10}
}

// AWN-107, AWI-124, AWI-128, AWI-129, AWI-133: the counts between EC2's answers.
func TestTracker(t *testing.T) {
	c := &clock{now: start()}
	l := reservations.NewTracker(c.Now)
	room := func(what string, want int) {
		t.Helper()
		if got := l.Snapshot().Room("cr-1"); got != want {
			t.Errorf("%s: room for %d, want %d", what, got, want)
		}
	}
	at := func(seconds int) time.Time { return start().Add(time.Duration(seconds) * time.Second) }
	launched(l, at(0))
	l.Gone("cr-1", "i-0")
	room("a reservation that nobody knows", 0)
	l.Sync(at(10), of("cr-1", 2))
	room("AWI-124 as EC2 said", 2)
	launched(l, at(11))
	room("AWI-129 a launch after that", 1)
	launched(l, at(9))
	room("AWI-129 a launch that EC2 knew of", 1)
	launched(l, at(12))
	launched(l, at(12))
	room("AWI-129 never below none", 0)
	l.Gone("cr-1", "i-1")
	l.Gone("cr-1", "i-1")
	room("AWI-129 an instance that is gone, however often that is told", 1)
	l.Sync(at(5), of("cr-1", 9))
	room("an old answer that comes late", 1)
	l.Full("cr-1")
	room("AWI-133 a launch found it full", 0)
	l.Sync(at(60), of("cr-1", 10))
	room("AWI-133 until EC2 says otherwise", 10)
	l.Gone("cr-1", "i-2")
	room("never more than it is of", 10)
	c.now = at(60).Add(24*time.Hour - 1)
	room("AWI-124 remembered for a day", 10)
	c.now = at(60).Add(24 * time.Hour)
	room("AWI-124 and then forgotten", 0)
}

// launched is a launch into cr-1 by a call that began at a time.
func launched(l *reservations.Tracker, at time.Time) { l.Hold(1, "cr-1").Settle("cr-1", at) }

// An instance that is gone makes room once: told again after EC2's next answer, which has the room in it, it changes
// nothing. After an hour nobody reports it any more.
func TestGoneOnce(t *testing.T) {
	c := &clock{now: start()}
	l := reservations.NewTracker(c.Now)
	l.Sync(c.now, of("cr-1", 1))
	l.Gone("cr-1", "i-1")
	c.now = start().Add(time.Minute)
	l.Sync(c.now, of("cr-1", 2))
	l.Gone("cr-1", "i-1")
	if n := l.Snapshot().Room("cr-1"); n != 2 {
		t.Errorf("room for %d, EC2 says 2", n)
	}
	l.Gone("cr-1", "i-2")
	if n := l.Snapshot().Room("cr-1"); n != 3 {
		t.Errorf("room for %d after another instance has gone", n)
	}
}

// Launches under way at the same time don't all count on the last place.
func TestHold(t *testing.T) {
	c := &clock{now: start()}
	l := reservations.NewTracker(c.Now)
	l.Sync(start(), of("cr-1", 1), of("cr-2", 1), of("cr-full", 0))
	h := l.Hold(1, "cr-unknown", "cr-full", "cr-1", "cr-2")
	if s := l.Snapshot(); s.Room("cr-1") != 0 || s.Room("cr-2") != 1 || !h.Has("cr-1") || h.Has("cr-2") || h.Has("cr-full") || h.Has("cr-unknown") {
		t.Error("not the first place there is, alone, is held")
	}
	other := l.Hold(2, "cr-1", "cr-1", "cr-2")
	if h.Empty() || other.Empty() || !l.Hold(1, "cr-full", "cr-unknown").Empty() {
		t.Error("a hold is empty when no place is kept in it, and only then")
	}
	if other.Has("cr-1") || !other.Has("cr-2") {
		t.Error("the last place is held twice")
	}
	l.Sync(start().Add(time.Second), of("cr-1", 1))
	if l.Snapshot().Room("cr-1") != 0 {
		t.Error("an answer that came meanwhile gives the place away")
	}
	other.Settle("cr-2", start().Add(time.Second))
	h.Settle("", time.Time{})
	h.Settle("cr-1", start().Add(time.Hour))
	if s := l.Snapshot(); s.Room("cr-1") != 1 || s.Room("cr-2") != 0 {
		t.Errorf("room for %d and %d: a place is given back, or taken, once", s.Room("cr-1"), s.Room("cr-2"))
	}
}

// CP-CATALOG-09: the same snapshot while nothing changes.
func TestTrackerSnapshotIsShared(t *testing.T) {
	c := &clock{now: start()}
	l := reservations.NewTracker(c.Now)
	l.Sync(start(), of("cr-1", 1))
	first := l.Snapshot()
	c.now = start().Add(time.Minute)
	l.Sync(c.now, of("cr-1", 1))
	if l.Snapshot() != first {
		t.Error("another snapshot, though the count is the same")
	}
	launched(l, c.now.Add(1))
	if l.Snapshot() == first || first.Room("cr-1") != 1 {
		t.Error("a snapshot changed")
	}
	var none *reservations.Rooms
	if none.Room("cr-1") != 0 {
		t.Error("no snapshot has room")
	}
}

// Whatever happens, counts stay between none and the reservation's size, and EC2's word wins.
func TestTrackerBounds(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		c := &clock{now: start()}
		l := reservations.NewTracker(c.Now)
		var holds []*reservations.Hold
		instances := 0
		t.Repeat(map[string]func(*rapid.T){
			"sync": func(t *rapid.T) {
				n := rapid.IntRange(0, 10).Draw(t, "free")
				for _, h := range holds {
					h.Settle("", c.now)
				}
				holds = nil
				l.Sync(c.now, of("cr-1", n))
				if got := l.Snapshot().Room("cr-1"); got != n {
					t.Fatalf("EC2 says %d, the tracker %d", n, got)
				}
			},
			"launched": func(*rapid.T) { launched(l, c.now) },
			"gone":     func(*rapid.T) { instances++; l.Gone("cr-1", fmt.Sprint("i-", instances)) },
			"full":     func(*rapid.T) { l.Full("cr-1") },
			"hold":     func(*rapid.T) { holds = append(holds, l.Hold(1, "cr-1")) },
			"pass":     func(*rapid.T) { c.now = c.now.Add(time.Second) },
			"": func(t *rapid.T) {
				if n := l.Snapshot().Room("cr-1"); n < 0 || n > 10 {
					t.Fatalf("room for %d", n)
				}
			},
		})
	})
}

func TestTrackerConcurrently(t *testing.T) {
	l := reservations.NewTracker(nil)
	l.Sync(time.Now(), of("cr-1", 10))
	var group sync.WaitGroup
	for range 10 {
		group.Go(func() {
			launched(l, time.Now().Add(time.Hour))
			l.Snapshot()
		})
	}
	group.Wait()
	if n := l.Snapshot().Room("cr-1"); n != 0 {
		t.Errorf("room for %d after ten launches", n)
	}
}
