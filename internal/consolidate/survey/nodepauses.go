package survey

import (
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption/decision"
)

// Limits on how long failed commands are remembered.
const (
	// failureKept is the time for which the number of failures is remembered after a pause has ended. A further failure in this time leads
	// to a longer pause.
	failureKept = 30 * time.Minute
	// heldBackLeast is the shortest pause of a node whose replacement must not be launched yet (HoldBack).
	heldBackLeast = 10 * time.Second
)

// Refusals remembers nodes that must not be disrupted for a while, and pools whose objects can't be written. It has no clock, and is safe
// for concurrent use. The zero value is ready for use. A nil *Refusals remembers nothing.
type Refusals struct {
	mu    sync.Mutex
	nodes map[RefusalKey]Refusal
}

// RefusalKey is the UID of a node's claim and the reason of its disruption. (A later node of the same name has another claim.) An empty
// reason means all reasons. The key for a pool has the pool's key and no claim.
type RefusalKey struct {
	claim  types.UID
	reason decision.Reason
	pool   v1.PoolKey
}

// Refusal is the end and reason of a pause, and the number of failures. It is remembered for some time after the end of the pause.
type Refusal struct {
	code             decision.BlockCode
	why              string
	level            int
	Until, forgotten time.Time
}

// Refuse pauses nodes, given by their claims, until the given time. Paused nodes must not be disrupted for the given reason.
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

// Fail pauses the command's nodes because the command could not be executed. The pause is longer after each failure.
func (r *Refusals) Fail(cmd *decision.Command, why string, now time.Time) {
	r.note(cmd, now, func(level int) Refusal {
		return Refusal{code: decision.BlockFailed, why: why, level: level + 1, Until: now.Add(failureWindow(level + 1))}
	})
}

// HoldBack pauses the command's nodes because no replacement may be launched now. The pause lasts at least until the time least. If some
// replacements were launched in vain, the pause is longer each time.
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

// note replaces the entry of each of the command's nodes. The call next(level) returns the new entry. The level is that of the old entry,
// which is the number of failures so far.
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

// failureWindow returns the length of the pause after the given number of failures, which must be at least 1.
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

// ClosePool pauses all nodes of the pool until the given time, because its objects can't be written. The text why is the reason.
func (r *Refusals) ClosePool(pool v1.PoolKey, why string, until time.Time) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.prune(time.Time{})
	r.nodes[RefusalKey{pool: pool}] = Refusal{code: decision.BlockFailed, why: why, Until: until, forgotten: until}
}

// OpenPool reverts ClosePool.
func (r *Refusals) OpenPool(pool v1.PoolKey) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.nodes, RefusalKey{pool: pool})
}

// prune drops expired entries. The caller holds the lock.
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

// Blocks returns a block with the reason and the end of the pause if the claim's node is paused, and otherwise nil.
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

// BlocksPool returns a block with the reason and the end of the pause if the nodes of the pool are paused, and otherwise nil.
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

// Remembered returns a copy of the present entries.
func (r *Refusals) Remembered() map[RefusalKey]Refusal {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.nodes)
}
