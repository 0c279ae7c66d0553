package refresh

import (
	"context"
	"sync"
)

// Turns serializes work by key: if several callers need the same answer of AWS, one caller calls AWS and the other callers use its answer.
// The zero value can be used. It is safe for concurrent use and must not be copied.
type Turns[K comparable] struct {
	mu   sync.Mutex
	held map[K]chan struct{}
}

// Begin waits for the turn of the caller. Call the returned function to end the turn. If ctx ends first, it returns ctx's error.
func (t *Turns[K]) Begin(ctx context.Context, key K) (end func(), err error) {
	for {
		t.mu.Lock()
		if t.held == nil {
			t.held = map[K]chan struct{}{}
		}
		taken, busy := t.held[key]
		if !busy {
			mine := make(chan struct{})
			t.held[key] = mine
			t.mu.Unlock()
			return func() {
				t.mu.Lock()
				defer t.mu.Unlock()
				delete(t.held, key)
				close(mine)
			}, nil
		}
		t.mu.Unlock()
		select {
		case <-taken:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
