package survey

import (
	"hash/fnv"
	"maps"
	"sync"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption/decision"
)

// Limits on the pause of a pool after a failure.
const (
	backOffFirst = time.Minute
	backOffMost  = 10 * time.Minute
)

// BackOff remembers the pools whose replacements for drift fail. A remembered pool is paused, so a pool that fails repeatedly does not
// delay the replacements of other pools. It has no clock, and is safe for concurrent use. A nil *BackOff remembers nothing. The zero value
// has seed 0.
type BackOff struct {
	mu    sync.Mutex
	pools map[v1.PoolKey]PoolPause
	// Seed determines the random part of each pause. The length of a pause is between half of its maximum and its maximum.
	Seed uint64
}

// PoolPause is the end of a pool's pause, and the number of failures so far.
type PoolPause struct {
	level int
	Until time.Time
}

// Failed records that a drift command of the pool could not be started, or failed for good. The pool is paused for up to one minute the
// first time, then for up to two minutes, and so on up to ten minutes. A failure during a pause does not change the pause, and Failed
// returns false.
func (b *BackOff) Failed(pool v1.PoolKey, now time.Time) bool {
	if b == nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.pools == nil {
		b.pools = map[v1.PoolKey]PoolPause{}
	}
	p := b.pools[pool]
	if now.Before(p.Until) {
		return false
	}
	p.level++
	window := backOffMost
	if p.level <= 4 {
		window = min(backOffFirst<<(p.level-1), backOffMost)
	}
	p.Until = now.Add(window/2 + b.share(pool, p.level, window/2))
	b.pools[pool] = p
	return true
}

// share returns a duration from 0 to less than span. The duration is always the same for the same pool, level and seed.
func (b *BackOff) share(pool v1.PoolKey, level int, span time.Duration) time.Duration {
	h := fnv.New64a()
	_, _ = h.Write([]byte(pool.String())) // writing to a hash never fails
	_, _ = h.Write([]byte{byte(level), byte(b.Seed), byte(b.Seed >> 8), byte(b.Seed >> 16), byte(b.Seed >> 24)})
	return time.Duration(h.Sum64() % uint64(span))
}

// Succeeded records that a drift command of the pool succeeded. It forgets the pool's failures.
func (b *BackOff) Succeeded(pool v1.PoolKey) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.pools, pool)
}

// Blocks returns a block with the end of the pause if the pool is paused, and otherwise nil.
func (b *BackOff) Blocks(pool v1.PoolKey, now time.Time) *decision.Block {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.pools[pool]
	if !now.Before(p.Until) {
		return nil
	}
	return &decision.Block{Code: decision.BlockBackOff, Pool: pool, Until: p.Until, Count: p.level}
}

// ForgetGone forgets pools that the cluster no longer has.
func (b *BackOff) ForgetGone(f *Fleet) {
	if b == nil || f == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for pool := range b.pools {
		if f.Pools[pool] == nil {
			delete(b.pools, pool)
		}
	}
}

// Remembered returns a copy of the present pauses, by pool.
func (b *BackOff) Remembered() map[v1.PoolKey]PoolPause {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.pools)
}
