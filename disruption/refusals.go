package disruption

import (
	"errors"
	"fmt"
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

// Refusals remembers which nodes must not be disrupted for a while, so that plans leave them alone and verdicts say why: an Approver refused
// (Note), the API server or the launch rate limiter did (Failed), or their NodePool can't be written to (ClosePool). It is kept in memory, holds no clock, and
// is safe for concurrent use. The zero value is ready, a nil *Refusals remembers nothing.
type Refusals struct {
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

// NewRefusals remembers nothing yet.
func NewRefusals() *Refusals { return &Refusals{nodes: map[refusalKey]refusal{}} }

// Note remembers the refusal of an Approver in the chain of an execution's error, Step.Err; others it passes over.
func (r *Refusals) Note(err error, now time.Time) {
	var why *RefusedError
	if r == nil || !errors.As(err, &why) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.prune(now)
	text := why.Why
	if why.By != "" {
		text = why.By + ": " + text
	}
	until := now.Add(why.For)
	for _, uid := range why.uids {
		r.nodes[refusalKey{claim: uid, reason: why.Reason}] = refusal{code: BlockRefused, why: text, until: until, forgotten: until}
	}
}

// Failed remembers that the command could not be carried out, by Step.Err of its execution, and reports whether its nodes are left alone for
// that: they are if writes for it were refused (ErrTainting, ErrLaunch, ErrHistory), for a minute, then two, at most ten, whatever the reason
// they are to go for; and if launches were held back (ErrHeldBack), until that is over. Other errors it passes over: those commands have their
// time, or come to nothing at once.
func (r *Refusals) Failed(cmd *Command, err error, now time.Time) bool {
	var held *HeldBackError
	isHeld := errors.As(err, &held)
	if r == nil || cmd == nil || !isHeld && !errors.Is(err, ErrTainting) && !errors.Is(err, ErrLaunch) && !errors.Is(err, ErrHistory) {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.prune(now)
	for i := range cmd.Members {
		key := refusalKey{claim: cmd.Members[i].UID}
		next := refusal{code: BlockFailed, why: err.Error(), level: r.nodes[key].level + 1}
		next.until = now.Add(failureWindow(next.level))
		if isHeld {
			next.code, next.why = BlockHeldBack, held.Why
			if held.Launched == 0 {
				next.level-- // nothing was launched in vain
				next.until = now.Add(heldBackLeast)
			}
			if next.until.Before(held.Until) {
				next.until = held.Until
			}
		}
		next.forgotten = next.until.Add(failureKept)
		r.nodes[key] = next
	}
	return true
}

// failureWindow is for how long nodes are left alone after so many failures.
func failureWindow(level int) time.Duration {
	if level > 4 {
		return backOffMost
	}
	return min(backOffFirst<<(level-1), backOffMost)
}

// Succeeded forgets the failures of the command's nodes.
func (r *Refusals) Succeeded(cmd *Command) {
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
func (r *Refusals) ClosePool(pool v1.PoolKey, why string, until time.Time) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.prune(time.Time{})
	r.nodes[refusalKey{pool: pool}] = refusal{code: BlockFailed, why: why, until: until, forgotten: until}
}

// OpenPool takes ClosePool back.
func (r *Refusals) OpenPool(pool v1.PoolKey) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.nodes, refusalKey{pool: pool})
}

// prune drops what is over. The lock is held.
func (r *Refusals) prune(now time.Time) {
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
func (r *Refusals) Blocks(claim types.UID, reason Reason, now time.Time) *Block {
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
func (r *Refusals) BlocksPool(pool v1.PoolKey, now time.Time) *Block {
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

// ErrHeldBack is errors.Is of every *HeldBackError.
var ErrHeldBack = errors.New("launching replacements is held back")

// HeldBackError is a command that is taken back since a replacement of it must not be launched yet: Failed has its nodes left alone until then.
type HeldBackError struct {
	// Until is when the launch may be tried again, Why who holds it back and for what.
	Until time.Time
	Why   string
	// Launched are the replacements that were launched before, and go with the command.
	Launched int
}

func (e *HeldBackError) Error() string {
	s := fmt.Sprintf("%v until %s: %s", ErrHeldBack, e.Until.UTC().Format(time.RFC3339), e.Why)
	if e.Launched > 0 {
		s += fmt.Sprintf("; %d were launched", e.Launched)
	}
	return s
}

// Is reports whether target is ErrHeldBack.
func (e *HeldBackError) Is(target error) bool { return target == ErrHeldBack }
