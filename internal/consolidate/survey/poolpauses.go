package survey

import (
	"hash/fnv"
	"maps"
	"sync"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption/decision"
)

// Bounds of how long a pool is left alone after a failure.
const (
	backOffFirst = time.Minute
	backOffMost  = 10 * time.Minute
)

// BackOff remembers which pools' replacements for drift fail, so that one that keeps failing does not keep the others from
// theirs. It holds no clock, and is safe for concurrent use. A nil *BackOff remembers nothing; the zero value is one with the seed 0.
type BackOff struct {
	mu    sync.Mutex
	pools map[v1.PoolKey]PoolPause
	// Seed decides for how long pools wait, between half of their window and all of it.
	Seed uint64
}

// PoolPause is until when a pool is left alone, after so many failures.
type PoolPause struct {
	level int
	Until time.Time
}

// Failed says that a drift command of the pool could not be started, or failed for good: the pool is left alone for a
// minute, then two, at most ten. While it is left alone a further failure changes nothing, and false is returned.
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

// share is an amount below span that differs by pool, level and seed, and is the same each time.
func (b *BackOff) share(pool v1.PoolKey, level int, span time.Duration) time.Duration {
	h := fnv.New64a()
	_, _ = h.Write([]byte(pool.String())) // a hash takes everything
	_, _ = h.Write([]byte{byte(level), byte(b.Seed), byte(b.Seed >> 8), byte(b.Seed >> 16), byte(b.Seed >> 24)})
	return time.Duration(h.Sum64() % uint64(span))
}

// Succeeded says that a drift command of the pool was carried out: what was remembered of it is forgotten.
func (b *BackOff) Succeeded(pool v1.PoolKey) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.pools, pool)
}

// Blocks says until when the pool is left alone; nil when it is not.
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

// Remembered is what is remembered at the moment, by pool.
func (b *BackOff) Remembered() map[v1.PoolKey]PoolPause {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.pools)
}
