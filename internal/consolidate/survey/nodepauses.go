package survey

import (
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption/decision"
)

// Bounds of what is remembered of commands that could not be carried out.
const (
	// failureKept is for how long after its time a failure counts: one that follows has the node left alone for longer.
	failureKept = 30 * time.Minute
	// heldBackLeast is for how long a node whose replacement was held back is left alone at least.
	heldBackLeast = 10 * time.Second
)

// Refusals remembers which nodes must not be disrupted for a while, and the pools that can't be written to. It holds no clock, and is safe
// for concurrent use. The zero value is ready, a nil *Refusals remembers nothing.
type Refusals struct {
	mu    sync.Mutex
	nodes map[RefusalKey]Refusal
}

// RefusalKey is a node's claim, which a node of the same name later does not share, and what it was to go for; without a reason it is about all
// of them. Or it is a pool, without a claim.
type RefusalKey struct {
	claim  types.UID
	reason decision.Reason
	pool   v1.PoolKey
}

// Refusal is until when and why, and after how many failures. It is forgotten later than it ends.
type Refusal struct {
	code             decision.BlockCode
	why              string
	level            int
	Until, forgotten time.Time
}

// Refuse has nodes left alone until then, by their claims: they must not go for the reason.
func (r *Refusals) Refuse(claims []types.UID, reason decision.Reason, why string, now, until time.Time) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.prune(now)
	for _, uid := range claims {
		r.nodes[RefusalKey{claim: uid, reason: reason}] = Refusal{code: decision.BlockRefused, why: why, Until: until, forgotten: until}
	}
}

// Fail has the command's nodes left alone, since it could not be carried out: longer each time.
func (r *Refusals) Fail(cmd *decision.Command, why string, now time.Time) {
	r.note(cmd, now, func(level int) Refusal {
		return Refusal{code: decision.BlockFailed, why: why, level: level + 1, Until: now.Add(failureWindow(level + 1))}
	})
}

// HoldBack has the command's nodes left alone at least until then, since no replacement may be launched before; longer each time if
// some were launched in vain.
func (r *Refusals) HoldBack(cmd *decision.Command, why string, launched int, now, least time.Time) {
	r.note(cmd, now, func(level int) Refusal {
		next := Refusal{code: decision.BlockHeldBack, why: why, level: level, Until: now.Add(heldBackLeast)}
		if launched > 0 {
			next.level++
			next.Until = now.Add(failureWindow(next.level))
		}
		if next.Until.Before(least) {
			next.Until = least
		}
		return next
	})
}

// note remembers something of each of the command's nodes, by the level of what is known of it.
func (r *Refusals) note(cmd *decision.Command, now time.Time, next func(level int) Refusal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.prune(now)
	for i := range cmd.Members {
		key := RefusalKey{claim: cmd.Members[i].UID}
		known := next(r.nodes[key].level)
		known.forgotten = known.Until.Add(failureKept)
		r.nodes[key] = known
	}
}

// failureWindow is for how long nodes are left alone after so many failures.
func failureWindow(level int) time.Duration {
	if level > 4 {
		return backOffMost
	}
	return min(backOffFirst<<(level-1), backOffMost)
}

// Succeeded forgets the failures of the command's nodes.
func (r *Refusals) Succeeded(cmd *decision.Command) {
	if r == nil || cmd == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range cmd.Members {
		delete(r.nodes, RefusalKey{claim: cmd.Members[i].UID})
	}
}

// ClosePool has all nodes of the pool left alone until then: nothing can be noted on it, as why says.
func (r *Refusals) ClosePool(pool v1.PoolKey, why string, until time.Time) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.prune(time.Time{})
	r.nodes[RefusalKey{pool: pool}] = Refusal{code: decision.BlockFailed, why: why, Until: until, forgotten: until}
}

// OpenPool takes ClosePool back.
func (r *Refusals) OpenPool(pool v1.PoolKey) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.nodes, RefusalKey{pool: pool})
}

// prune drops what is over. The lock is held.
func (r *Refusals) prune(now time.Time) {
	if r.nodes == nil {
		r.nodes = map[RefusalKey]Refusal{}
	}
	for key, known := range r.nodes {
		if !now.Before(known.forgotten) {
			delete(r.nodes, key)
		}
	}
}

// Blocks says why and until when a claim's node is left alone; nil when it is not.
func (r *Refusals) Blocks(claim types.UID, reason decision.Reason, now time.Time) *decision.Block {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, key := range []RefusalKey{{claim: claim, reason: reason}, {claim: claim}} {
		if known, ok := r.nodes[key]; ok && now.Before(known.Until) {
			return known.block()
		}
	}
	return nil
}

// BlocksPool says why and until when the nodes of the pool are left alone; nil when they are not.
func (r *Refusals) BlocksPool(pool v1.PoolKey, now time.Time) *decision.Block {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.nodes[RefusalKey{pool: pool}]
	if !ok || !now.Before(known.Until) {
		return nil
	}
	b := known.block()
	b.Pool = pool
	return b
}

func (r *Refusal) block() *decision.Block {
	return &decision.Block{Code: r.code, Until: r.Until, Count: r.level, Detail: r.why}
}

// Remembered is what is remembered at the moment.
func (r *Refusals) Remembered() map[RefusalKey]Refusal {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.nodes)
}
