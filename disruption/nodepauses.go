package disruption

import (
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// Bounds of what is remembered of commands that could not be carried out.
const (
	// failureKept is for how long after its time a failure counts: one that follows has the node left alone for longer.
	failureKept = 30 * time.Minute
	// heldBackLeast is for how long a node whose replacement was held back is left alone at least.
	heldBackLeast = 10 * time.Second
)

// nodePauses remembers which nodes must not be disrupted for a while, and the pools that can't be written to. It holds no clock, and is safe
// for concurrent use. The zero value is ready, a nil *nodePauses remembers nothing.
type nodePauses struct {
	mu    sync.Mutex
	nodes map[refusalKey]refusal
}

// refusalKey is a node's claim, which a node of the same name later does not share, and what it was to go for; without a reason it is about all
// of them. Or it is a pool, without a claim.
type refusalKey struct {
	claim  types.UID
	reason Reason
	pool   v1.PoolKey
}

// refusal is until when and why, and after how many failures. It is forgotten later than it ends.
type refusal struct {
	code             BlockCode
	why              string
	level            int
	until, forgotten time.Time
}

// refuse has nodes left alone until then, by their claims: they must not go for the reason.
func (r *nodePauses) refuse(claims []types.UID, reason Reason, why string, now, until time.Time) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.prune(now)
	for _, uid := range claims {
		r.nodes[refusalKey{claim: uid, reason: reason}] = refusal{code: BlockRefused, why: why, until: until, forgotten: until}
	}
}

// fail has the command's nodes left alone, since it could not be carried out: longer each time.
func (r *nodePauses) fail(cmd *Command, why string, now time.Time) {
	r.note(cmd, now, func(level int) refusal {
		return refusal{code: BlockFailed, why: why, level: level + 1, until: now.Add(failureWindow(level + 1))}
	})
}

// holdBack has the command's nodes left alone at least until then, since no replacement may be launched before; longer each time if
// some were launched in vain.
func (r *nodePauses) holdBack(cmd *Command, why string, launched int, now, least time.Time) {
	r.note(cmd, now, func(level int) refusal {
		next := refusal{code: BlockHeldBack, why: why, level: level, until: now.Add(heldBackLeast)}
		if launched > 0 {
			next.level++
			next.until = now.Add(failureWindow(next.level))
		}
		if next.until.Before(least) {
			next.until = least
		}
		return next
	})
}

// note remembers something of each of the command's nodes, by the level of what is known of it.
func (r *nodePauses) note(cmd *Command, now time.Time, next func(level int) refusal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.prune(now)
	for i := range cmd.Members {
		key := refusalKey{claim: cmd.Members[i].UID}
		known := next(r.nodes[key].level)
		known.forgotten = known.until.Add(failureKept)
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
func (r *nodePauses) Succeeded(cmd *Command) {
	if r == nil || cmd == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range cmd.Members {
		delete(r.nodes, refusalKey{claim: cmd.Members[i].UID})
	}
}

// ClosePool has all nodes of the pool left alone until then: nothing can be noted on it, as why says.
func (r *nodePauses) ClosePool(pool v1.PoolKey, why string, until time.Time) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.prune(time.Time{})
	r.nodes[refusalKey{pool: pool}] = refusal{code: BlockFailed, why: why, until: until, forgotten: until}
}

// OpenPool takes ClosePool back.
func (r *nodePauses) OpenPool(pool v1.PoolKey) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.nodes, refusalKey{pool: pool})
}

// prune drops what is over. The lock is held.
func (r *nodePauses) prune(now time.Time) {
	if r.nodes == nil {
		r.nodes = map[refusalKey]refusal{}
	}
	for key, known := range r.nodes {
		if !now.Before(known.forgotten) {
			delete(r.nodes, key)
		}
	}
}

// Blocks says why and until when a claim's node is left alone; nil when it is not.
func (r *nodePauses) Blocks(claim types.UID, reason Reason, now time.Time) *Block {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, key := range []refusalKey{{claim: claim, reason: reason}, {claim: claim}} {
		if known, ok := r.nodes[key]; ok && now.Before(known.until) {
			return known.block()
		}
	}
	return nil
}

// BlocksPool says why and until when the nodes of the pool are left alone; nil when they are not.
func (r *nodePauses) BlocksPool(pool v1.PoolKey, now time.Time) *Block {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.nodes[refusalKey{pool: pool}]
	if !ok || !now.Before(known.until) {
		return nil
	}
	b := known.block()
	b.Pool = pool
	return b
}

func (r *refusal) block() *Block {
	return &Block{Code: r.code, Until: r.until, Count: r.level, Detail: r.why}
}

// remembered is what is remembered at the moment.
func (r *nodePauses) remembered() map[refusalKey]refusal {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.nodes)
}
