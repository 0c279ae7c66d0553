package reservations_test

import (
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/reservations"
)

func of(id string, free int) reservations.Reservation {
	return reservations.Reservation{CapacityReservation: awsv1.CapacityReservation{ID: id}, Available: free, Total: 10}
}

// AWI-124, AWI-128, AWI-129, AWI-133: the counts between EC2's answers.
func TestLedger(t *testing.T) {
	c := &clock{now: start()}
	l := reservations.NewLedger(c.Now)
	room := func(what string, want int) {
		t.Helper()
		if got := l.Snapshot().Room("cr-1"); got != want {
			t.Errorf("%s: room for %d, want %d", what, got, want)
		}
	}
	at := func(seconds int) time.Time { return start().Add(time.Duration(seconds) * time.Second) }
	l.Launched("cr-1", at(0))
	l.Gone("cr-1")
	room("a reservation that nobody knows", 0)
	l.Sync(at(10), of("cr-1", 2))
	room("AWI-124 as EC2 said", 2)
	l.Launched("cr-1", at(11))
	room("AWI-129 a launch after that", 1)
	l.Launched("cr-1", at(9))
	room("AWI-129 a launch that EC2 knew of", 1)
	l.Launched("cr-1", at(12))
	l.Launched("cr-1", at(12))
	room("AWI-129 never below none", 0)
	l.Gone("cr-1")
	room("AWI-129 a machine that is gone", 1)
	l.Sync(at(5), of("cr-1", 9))
	room("an old answer that comes late", 1)
	l.Full("cr-1")
	room("AWI-133 a launch found it full", 0)
	l.Sync(at(60), of("cr-1", 10))
	room("AWI-133 until EC2 says otherwise", 10)
	l.Gone("cr-1")
	room("never more than it is of", 10)
	c.now = at(60).Add(24*time.Hour - 1)
	room("AWI-124 remembered for a day", 10)
	c.now = at(60).Add(24 * time.Hour)
	room("AWI-124 and then forgotten", 0)
}

// Launches under way at the same time don't all count on the last place.
func TestHold(t *testing.T) {
	c := &clock{now: start()}
	l := reservations.NewLedger(c.Now)
	l.Sync(start(), of("cr-1", 1), of("cr-2", 1))
	release := l.Hold("cr-1", "cr-unknown")
	if s := l.Snapshot(); s.Room("cr-1") != 0 || s.Room("cr-2") != 1 {
		t.Error("the place is not held")
	}
	l.Sync(start().Add(time.Second), of("cr-1", 1))
	if l.Snapshot().Room("cr-1") != 0 {
		t.Error("an answer that came meanwhile gives the place away")
	}
	release()
	release()
	if l.Snapshot().Room("cr-1") != 1 {
		t.Error("the place is not given back")
	}
}

// CP-CATALOG-09: the same snapshot while nothing changes.
func TestLedgerSnapshotIsShared(t *testing.T) {
	c := &clock{now: start()}
	l := reservations.NewLedger(c.Now)
	l.Sync(start(), of("cr-1", 1))
	first := l.Snapshot()
	c.now = start().Add(time.Minute)
	l.Sync(c.now, of("cr-1", 1))
	if l.Snapshot() != first {
		t.Error("another snapshot, though the count is the same")
	}
	l.Launched("cr-1", c.now.Add(1))
	if l.Snapshot() == first || first.Room("cr-1") != 1 {
		t.Error("a snapshot changed")
	}
	var none *reservations.Rooms
	if none.Room("cr-1") != 0 {
		t.Error("no snapshot has room")
	}
}

// Whatever happens, counts stay between none and the reservation's size, and EC2's word wins.
func TestLedgerBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &clock{now: start()}
		l := reservations.NewLedger(c.Now)
		var releases []func()
		t.Repeat(map[string]func(*rapid.T){
			"sync": func(t *rapid.T) {
				n := rapid.IntRange(0, 10).Draw(t, "free")
				for _, release := range releases {
					release()
				}
				releases = nil
				l.Sync(c.now, of("cr-1", n))
				if got := l.Snapshot().Room("cr-1"); got != n {
					t.Fatalf("EC2 says %d, the ledger %d", n, got)
				}
			},
			"launched": func(*rapid.T) { l.Launched("cr-1", c.now) },
			"gone":     func(*rapid.T) { l.Gone("cr-1") },
			"full":     func(*rapid.T) { l.Full("cr-1") },
			"hold":     func(*rapid.T) { releases = append(releases, l.Hold("cr-1")) },
			"pass":     func(*rapid.T) { c.now = c.now.Add(time.Second) },
			"": func(t *rapid.T) {
				if n := l.Snapshot().Room("cr-1"); n < 0 || n > 10 {
					t.Fatalf("room for %d", n)
				}
			},
		})
	})
}

func TestLedgerConcurrently(t *testing.T) {
	l := reservations.NewLedger(nil)
	l.Sync(time.Now(), of("cr-1", 10))
	var group sync.WaitGroup
	for range 10 {
		group.Go(func() {
			release := l.Hold("cr-1")
			l.Launched("cr-1", time.Now().Add(time.Hour))
			release()
			l.Snapshot()
		})
	}
	group.Wait()
	if n := l.Snapshot().Room("cr-1"); n != 0 {
		t.Errorf("room for %d after ten launches", n)
	}
}
