package reservations

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Remember is how long the counted room of a reservation is used without a new answer of EC2: longer than any outage of its API.
const Remember = 24 * time.Hour

// rememberGone is how long an ended instance is remembered: longer than its claim still exists after the end.
const rememberGone = time.Hour

// Tracker counts the room in reservations between EC2's answers. It is safe for concurrent use.
type Tracker struct {
	now     func() time.Time
	current atomic.Pointer[Rooms]

	mu    sync.Mutex
	rooms map[string]*room
	gone  map[string]time.Time // ended instances that freed capacity, and when each end was first reported
}

type room struct {
	synced time.Time
	free   int
	total  int
	held   int // number of instances for which launches in progress hold capacity
}

// NewTracker makes an empty tracker. now is the clock; nil means time.Now.
func NewTracker(now func() time.Time) *Tracker {
	if now == nil {
		now = time.Now
	}
	return &Tracker{now: now, rooms: map[string]*room{}, gone: map[string]time.Time{}}
}

// Sync stores an answer that EC2 gave at the time at. A reservation for which a later answer is already stored stays unchanged.
func (t *Tracker) Sync(at time.Time, list ...Reservation) {
	t.change(func() (changed bool) {
		for _, r := range list {
			known, ok := t.rooms[r.ID]
			if !ok {
				known = &room{}
				t.rooms[r.ID] = known
			}
			if ok && known.synced.After(at) {
				continue
			}
			changed = changed || !ok || known.free != r.Available
			known.synced, known.free, known.total = at, r.Available, r.Total
		}
		return changed
	})
}

// Gone records that an instance in a reservation is gone: the reservation has room for one more, but never for more than its size. Each
// instance counts once, even if it is reported several times.
func (t *Tracker) Gone(id, instance string) {
	t.change(func() bool {
		now := t.now()
		maps.DeleteFunc(t.gone, func(_ string, at time.Time) bool { return now.Sub(at) >= rememberGone })
		_, told := t.gone[instance]
		r, ok := t.rooms[id]
		if told || !ok || r.total > 0 && r.free >= r.total {
			return false
		}
		t.gone[instance] = now
		r.free++
		return true
	})
}

// Full records that a launch found no room in a reservation: the reservation is treated as full until EC2's next answer.
func (t *Tracker) Full(id string) {
	t.change(func() bool {
		r, ok := t.rooms[id]
		if !ok || r.free == 0 {
			return false
		}
		r.free = 0
		return true
	})
}

// Hold holds capacity for a launch in progress, so that parallel launches don't all use the last instance of a reservation. It holds one
// instance in each of the reservations ids that have room, in the order of ids, but in no more than most reservations. It holds nothing if
// none has room. Settle must be called once the launch has ended.
func (t *Tracker) Hold(most int, ids ...string) *Hold {
	h := &Hold{tracker: t, each: 1}
	t.change(func() bool {
		for _, id := range ids {
			if r, ok := t.rooms[id]; ok && len(h.ids) < most && r.free > r.held && !slices.Contains(h.ids, id) {
				r.held++
				h.ids = append(h.ids, id)
			}
		}
		return len(h.ids) > 0
	})
	return h
}

// HoldTogether is like Hold, for a launch of several instances. It holds capacity for all of them in the first of the reservations ids that
// has room for all, or holds nothing. places is the number of instances.
func (t *Tracker) HoldTogether(places int, ids ...string) *Hold {
	h := &Hold{tracker: t, each: max(places, 0)}
	t.change(func() bool {
		for _, id := range ids {
			if r, ok := t.rooms[id]; ok && r.free-r.held >= h.each {
				r.held += h.each
				h.ids = append(h.ids, id)
				return true
			}
		}
		return false
	})
	return h
}

// Hold contains the capacity in reservations that is held for one launch. It is safe for concurrent use.
type Hold struct {
	tracker *Tracker
	ids     []string
	each    int // number of instances held in each reservation
	settled bool
}

// Has reports whether capacity is held in a reservation.
func (h *Hold) Has(id string) bool { return slices.Contains(h.ids, id) }

// Empty reports whether no capacity is held.
func (h *Hold) Empty() bool { return len(h.ids) == 0 }

// Settle ends the hold. used is the reservation in which an instance was launched, or empty for none; at is when the launch call began.
// That instance reduces the reservation's room, unless EC2's last answer is later than at: that answer already includes the instance. All
// other held capacity is free again. Only the first call has an effect.
func (h *Hold) Settle(used string, at time.Time) { h.SettleTogether(used, 1, at) }

// SettleTogether is like Settle, for several instances that were launched by one call.
func (h *Hold) SettleTogether(used string, instances int, at time.Time) {
	h.tracker.change(func() (changed bool) {
		if h.settled {
			return false
		}
		h.settled = true
		for _, id := range h.ids {
			if r, ok := h.tracker.rooms[id]; ok {
				r.held, changed = max(0, r.held-h.each), true
			}
		}
		if r, ok := h.tracker.rooms[used]; ok && !r.synced.After(at) && r.free > 0 {
			r.free = max(0, r.free-instances)
			changed = true
		}
		return changed
	})
}

func (t *Tracker) change(do func() (changed bool)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if do() {
		t.current.Store(nil)
	}
}

// Rooms contains the number of free instances of each reservation at one time. It never changes; a nil snapshot contains no reservations.
type Rooms struct {
	free  map[string]int
	until time.Time // when the next entry expires; zero if there is none
}

// Room returns the number of instances that a reservation still has room for, or 0 if it is not known.
func (r *Rooms) Room(id string) int {
	if r == nil {
		return 0
	}
	return r.free[id]
}

// Snapshot returns the current room. The pointer stays the same as long as no count changes.
func (t *Tracker) Snapshot() *Rooms {
	now := t.now()
	if s := t.current.Load(); s != nil && (s.until.IsZero() || now.Before(s.until)) {
		return s
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	s := &Rooms{free: map[string]int{}}
	maps.DeleteFunc(t.rooms, func(_ string, r *room) bool { return now.Sub(r.synced) >= Remember && r.held == 0 })
	for id, r := range t.rooms {
		s.free[id] = max(0, r.free-r.held)
		if forgotten := r.synced.Add(Remember); s.until.IsZero() || forgotten.Before(s.until) {
			s.until = forgotten
		}
	}
	t.current.Store(s)
	return s
}
