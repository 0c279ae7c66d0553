package subnets

import (
	"maps"
	"slices"
	"sync"
	"time"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
)

// DefaultLifetime is how long a count of free addresses is used.
const DefaultLifetime = 5 * time.Minute

// Options of a Tracker; the zero value means the defaults.
type Options struct {
	// Lifetime of a count; the free addresses of a subnet with an older count are unknown. Zero means DefaultLifetime.
	Lifetime time.Duration
	// Now is the clock. Nil means time.Now.
	Now func() time.Time
}

// Tracker knows how many addresses are free in subnets. It is safe for concurrent use and makes no calls. Make one with
// New.
type Tracker struct {
	options Options

	mu      sync.Mutex
	entries map[string]*entry
}

// entry is the known state of a subnet.
type entry struct {
	counted   int64     // EC2's count; valid until lifetime has passed
	countedAt time.Time // zero if EC2 has not counted
	open      int64     // addresses charged to launches in progress
	spent     int64     // addresses charged to launches that ended in the subnet after EC2's count
}

// New makes an empty tracker.
func New(o Options) *Tracker {
	if o.Lifetime <= 0 {
		o.Lifetime = DefaultLifetime
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Tracker{options: o, entries: map[string]*entry{}}
}

// Observe stores EC2's counts of free addresses, by subnet id. Addresses of ended launches are no longer charged, because the count
// includes them; launches in progress stay charged.
func (t *Tracker) Observe(free map[string]int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.options.Now()
	for id, count := range free {
		e := t.entry(id)
		e.counted, e.countedAt, e.spent = count, now, 0
	}
	t.forget(now)
}

// Exhausted records that EC2 found no free address in a subnet: until its addresses are counted again, other subnets are preferred.
func (t *Tracker) Exhausted(ids ...string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.options.Now()
	for _, id := range ids {
		e := t.entry(id)
		e.counted, e.countedAt, e.spent = 0, now, 0
	}
}

// Free returns the estimated number of free addresses of a subnet, which may be negative; 0 and false if it is unknown.
func (t *Tracker) Free(id string) (int64, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.free(id, t.options.Now())
}

// Unknown returns the subnets whose count is missing or older than age, in the order of found. The caller should read their counts from EC2
// before a launch.
func (t *Tracker) Unknown(age time.Duration, found []awsv1.Subnet) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.options.Now()
	var ids []string
	for _, s := range found {
		e := t.entries[s.ID]
		if e == nil || e.countedAt.IsZero() || now.Sub(e.countedAt) >= min(age, t.options.Lifetime) {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// Hold chooses a subnet of each zone and charges perNode addresses to it until the hold is settled. It chooses the subnet with the most
// free addresses or, if several have as many, the first in the class's order. zones are the names of the wanted zones; nil means all zones.
// A zone in which the class has no subnet is left out. A perNode below 0 means 0.
func (t *Tracker) Hold(found []awsv1.Subnet, zones []string, perNode int64) *Hold {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.options.Now()
	chosen := map[string]awsv1.Subnet{}
	most := map[string]int64{}
	for _, s := range found {
		if zones != nil && !slices.Contains(zones, s.Zone) {
			continue
		}
		free, _ := t.free(s.ID, now)
		if _, ok := chosen[s.Zone]; !ok || free > most[s.Zone] {
			chosen[s.Zone], most[s.Zone] = s, free
		}
	}
	h := &Hold{tracker: t, subnets: chosen, perNode: max(perNode, 0)}
	for _, s := range chosen {
		t.entry(s.ID).open += h.perNode
	}
	return h
}

// free is like Free. The caller must hold the lock.
func (t *Tracker) free(id string, now time.Time) (int64, bool) {
	e := t.entries[id]
	if e == nil {
		return 0, false
	}
	if !e.known(now, t.options.Lifetime) {
		// Without a count, the charged addresses still show which of several subnets is used least.
		return -e.open - e.spent, false
	}
	return e.counted - e.open - e.spent, true
}

func (e *entry) known(now time.Time, lifetime time.Duration) bool {
	return !e.countedAt.IsZero() && now.Sub(e.countedAt) < lifetime
}

func (t *Tracker) entry(id string) *entry {
	e := t.entries[id]
	if e == nil {
		e = &entry{}
		t.entries[id] = e
	}
	return e
}

// forget removes subnets whose count has expired and that no launch in progress uses, so that memory is limited to the subnets in use.
func (t *Tracker) forget(now time.Time) {
	maps.DeleteFunc(t.entries, func(_ string, e *entry) bool {
		return e.open == 0 && !e.known(now, t.options.Lifetime)
	})
}

// Hold contains the subnets that were chosen for a launch and are charged to it. It is safe for concurrent use.
type Hold struct {
	tracker *Tracker
	subnets map[string]awsv1.Subnet
	perNode int64
	settled bool
}

// Subnets returns the chosen subnets by zone name. The caller owns the map.
func (h *Hold) Subnets() map[string]awsv1.Subnet { return maps.Clone(h.subnets) }

// Settle ends the hold. The arguments are the ids of the subnets in which instances were launched, once for each instance. These subnets
// stay charged until EC2's next count; the charge of all other subnets is removed. Only the first call has an effect.
func (h *Hold) Settle(used ...string) {
	h.tracker.mu.Lock()
	defer h.tracker.mu.Unlock()
	if h.settled {
		return
	}
	h.settled = true
	for _, s := range h.subnets {
		e := h.tracker.entry(s.ID)
		e.open -= h.perNode
		for _, id := range used {
			if id == s.ID {
				e.spent += h.perNode
			}
		}
	}
}
