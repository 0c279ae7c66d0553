package fake

import (
	"sync"
	"time"
)

// WallClock is the system clock.
type WallClock struct{}

// Now is time.Now.
func (WallClock) Now() time.Time { return time.Now() }

// SimClock is a clock that advances only when Advance or AdvanceTo is called. It is safe for concurrent use. Make one with NewSimClock.
type SimClock struct {
	mu  sync.Mutex
	now time.Time
}

// NewSimClock returns a clock whose time is start.
func NewSimClock(start time.Time) *SimClock { return &SimClock{now: start} }

// Now returns the clock's time.
func (c *SimClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock forward by d; a negative d is ignored. A cloud with this clock notices the new time at the next call, or when
// Settle is called.
func (c *SimClock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d > 0 {
		c.now = c.now.Add(d)
	}
}

// AdvanceTo moves the clock forward to t; a t in the past is ignored.
func (c *SimClock) AdvanceTo(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.After(c.now) {
		c.now = t
	}
}
