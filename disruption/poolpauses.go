package disruption

import (
	"hash/fnv"
	"maps"
	"sync"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// Bounds of how long a pool is left alone after a failure.
const (
	backOffFirst = time.Minute
	backOffMost  = 10 * time.Minute
)

// poolPauses remembers which pools' replacements for drift fail, so that one that keeps failing does not keep the others from
// theirs. It holds no clock, and is safe for concurrent use. A nil *poolPauses remembers nothing; the zero value is one with the seed 0.
type poolPauses struct {
	mu    sync.Mutex
	pools map[v1.PoolKey]poolPause
	// seed decides for how long pools wait, between half of their window and all of it.
	seed uint64
}

// poolPause is until when a pool is left alone, after so many failures.
type poolPause struct {
	level int
	until time.Time
}

// Failed says that a drift command of the pool could not be started, or failed for good: the pool is left alone for a
// minute, then two, at most ten. While it is left alone a further failure changes nothing, and false is returned.
func (b *poolPauses) Failed(pool v1.PoolKey, now time.Time) bool {
	if b == nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.pools == nil {
		b.pools = map[v1.PoolKey]poolPause{}
	}
	p := b.pools[pool]
	if now.Before(p.until) {
		return false
	}
	p.level++
	window := backOffMost
	if p.level <= 4 {
		window = min(backOffFirst<<(p.level-1), backOffMost)
	}
	p.until = now.Add(window/2 + b.share(pool, p.level, window/2))
	b.pools[pool] = p
	return true
}

// share is an amount below span that differs by pool, level and seed, and is the same each time.
func (b *poolPauses) share(pool v1.PoolKey, level int, span time.Duration) time.Duration {
	h := fnv.New64a()
	_, _ = h.Write([]byte(pool.String())) // a hash takes everything
	_, _ = h.Write([]byte{byte(level), byte(b.seed), byte(b.seed >> 8), byte(b.seed >> 16), byte(b.seed >> 24)})
	return time.Duration(h.Sum64() % uint64(span))
}

// Succeeded says that a drift command of the pool was carried out: what was remembered of it is forgotten.
func (b *poolPauses) Succeeded(pool v1.PoolKey) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.pools, pool)
}

// Blocks says until when the pool is left alone; nil when it is not.
func (b *poolPauses) Blocks(pool v1.PoolKey, now time.Time) *Block {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.pools[pool]
	if !now.Before(p.until) {
		return nil
	}
	return &Block{Code: BlockBackOff, Pool: pool, Until: p.until, Count: p.level}
}

// forgetGone forgets pools that the cluster no longer has.
func (b *poolPauses) forgetGone(f *picture) {
	if b == nil || f == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for pool := range b.pools {
		if f.pools[pool] == nil {
			delete(b.pools, pool)
		}
	}
}

// remembered is what is remembered at the moment, by pool.
func (b *poolPauses) remembered() map[v1.PoolKey]poolPause {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.pools)
}
