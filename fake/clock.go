package fake

import (
	"sync"
	"time"
)

// WallClock is the real time.
type WallClock struct{}

// Now is time.Now.
func (WallClock) Now() time.Time { return time.Now() }

// SimClock stands still until it is moved. It is safe for concurrent use. Make one with NewSimClock.
type SimClock struct {
	mu  sync.Mutex
	now time.Time
}

// NewSimClock is a clock that stands at start.
func NewSimClock(start time.Time) *SimClock { return &SimClock{now: start} }

// Now is where the clock stands.
func (c *SimClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock forward by d; time does not run backwards, so a negative d moves nothing. Clouds notice at
// their next call, or when told to Settle.
func (c *SimClock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d > 0 {
		c.now = c.now.Add(d)
	}
}

// AdvanceTo moves the clock forward to t; a t in the past moves nothing.
func (c *SimClock) AdvanceTo(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.After(c.now) {
		c.now = t
	}
}
