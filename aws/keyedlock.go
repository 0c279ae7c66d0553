package aws

import (
	"context"
	"sync"
)

// keyedLock lets one at a time work on what a key names. The zero value is ready.
type keyedLock[K comparable] struct {
	mu   sync.Mutex
	held map[K]chan struct{}
}

// acquire waits for its turn. The function it returns must be called at the end; the error is ctx's.
func (l *keyedLock[K]) acquire(ctx context.Context, key K) (release func(), err error) {
	for {
		l.mu.Lock()
		if l.held == nil {
			l.held = map[K]chan struct{}{}
		}
		taken, busy := l.held[key]
		if !busy {
			mine := make(chan struct{})
			l.held[key] = mine
			l.mu.Unlock()
			return func() {
				l.mu.Lock()
				defer l.mu.Unlock()
				delete(l.held, key)
				close(mine)
			}, nil
		}
		l.mu.Unlock()
		select {
		case <-taken:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
