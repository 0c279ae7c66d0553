package disruption

import (
	"hash/fnv"
	"sync"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// Bounds of how long a pool is left alone after a failure.
const (
	backOffFirst = time.Minute
	backOffMost  = 10 * time.Minute
)

// BackOff remembers which pools' replacements for drift fail, so that one that keeps failing does not keep the others from
// theirs. Only drift counts. It is kept in memory, holds no clock, and is safe for concurrent use. Pools that are deleted are
// forgotten by ForgetGone. A nil *BackOff remembers nothing; the zero value is one with the seed 0.
type BackOff struct {
	mu    sync.Mutex
	pools map[v1.PoolKey]backedOff
	seed  uint64
}

type backedOff struct {
	level int
	until time.Time
}

// NewBackOff remembers no failure yet. Pools wait for between half of their window and all of it; seed decides how long,
// so that controllers of several clusters do not keep step.
func NewBackOff(seed uint64) *BackOff {
	return &BackOff{pools: map[v1.PoolKey]backedOff{}, seed: seed}
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
		b.pools = map[v1.PoolKey]backedOff{}
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
func (b *BackOff) share(pool v1.PoolKey, level int, span time.Duration) time.Duration {
	h := fnv.New64a()
	_, _ = h.Write([]byte(pool.String())) // a hash takes everything
	_, _ = h.Write([]byte{byte(level), byte(b.seed), byte(b.seed >> 8), byte(b.seed >> 16), byte(b.seed >> 24)})
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

// ForgetGone forgets pools that the cluster no longer has, so that no entry outlives its pool and one made again under the same
// name is tried at once. Call it with each Fleet that is planned for; planners, which change nothing, leave it to their callers.
// A pool that is there is remembered until it succeeds, also after its time: a further failure has it wait longer.
func (b *BackOff) ForgetGone(f *Fleet) {
	if b == nil {
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

// Blocks says until when the pool is left alone; nil when it is not.
func (b *BackOff) Blocks(pool v1.PoolKey, now time.Time) *Block {
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
