package provisioning

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/api/option"
)

// BatchOptions are the lengths of a batch window; see DefaultBatchOptions. A longer window leads to fewer and larger nodes, which are
// launched later.
type BatchOptions struct {
	// Idle is the time without a new trigger after which a window closes; 0 closes it at once.
	Idle time.Duration
	// Max is the longest time that a window stays open; 0 closes it at once.
	Max time.Duration
}

// Default lengths of the batch window.
const (
	DefaultBatchIdle = time.Second
	DefaultBatchMax  = 10 * time.Second
)

// DefaultBatchOptions returns DefaultBatchIdle and DefaultBatchMax.
func DefaultBatchOptions() BatchOptions {
	return BatchOptions{Idle: DefaultBatchIdle, Max: DefaultBatchMax}
}

func (o BatchOptions) checked() (BatchOptions, error) {
	if o.Idle < 0 || o.Max < 0 {
		return o, &option.Error{Package: "provisioning", Option: "Batch", Rule: fmt.Sprintf("idle %s and max %s: a window can't end before it opens", o.Idle, o.Max)}
	}
	// Idle must not be longer than Max.
	o.Idle = min(o.Idle, o.Max)
	return o, nil
}

// Batch collects the triggers of provisioning passes: pending pods, nodes that are being removed, buffers. The first trigger opens
// a window. The window closes when no new trigger came for the idle time, or after its maximum length. A trigger is forgotten only
// after a pass has handled it, so a pass that can't run or fails loses no trigger.
//
//	batch.Trigger(pod.UID, now)
//	if due, again := batch.Next(now); due {
//		batch.Begin(now)
//		err := pass()
//		batch.End(err == nil, now)
//	}
//
// Batch has no clock and no lock: only one goroutine may use it.
type Batch struct {
	options BatchOptions
	// dirty has the UIDs of the triggers that no pass has handled yet. The value is the value of round when the trigger came.
	dirty map[types.UID]uint64
	// round is the number of passes that have begun so far. running is true during a pass.
	round   uint64
	running bool
	// opened is when the window opened, and last is when the newest trigger came. Both are zero while no window is open.
	opened, last time.Time
}

// NewBatch returns a batch without triggers. The error is an *option.Error.
func NewBatch(options BatchOptions) (*Batch, error) {
	options, err := options.checked()
	if err != nil {
		return nil, err
	}
	return &Batch{options: options, dirty: make(map[types.UID]uint64)}, nil
}

// Trigger adds an object that needs a pass. A known object does not extend the window. An object added while a pass is running is handled
// by the next pass, because the running pass may have taken its snapshot before.
func (b *Batch) Trigger(uid types.UID, now time.Time) {
	round := b.round
	if at, known := b.dirty[uid]; known && at == round {
		return
	}
	b.dirty[uid] = round
	if b.opened.IsZero() {
		b.opened = now
	}
	b.last = now
}

// Forget removes a trigger: its pod was bound or deleted. A window without triggers closes.
func (b *Batch) Forget(uid types.UID) {
	delete(b.dirty, uid)
	if len(b.dirty) == 0 {
		b.opened, b.last = time.Time{}, time.Time{}
	}
}

// Next reports whether a pass is due. If not, again is the time after which to call Next again. It is 0 if only a trigger or the end of the
// running pass can make a pass due. Only one pass runs at a time.
func (b *Batch) Next(now time.Time) (due bool, again time.Duration) {
	if b.running || b.opened.IsZero() {
		return false, 0
	}
	closes := b.last.Add(b.options.Idle)
	if longest := b.opened.Add(b.options.Max); longest.Before(closes) {
		closes = longest
	}
	if wait := closes.Sub(now); wait > 0 {
		return false, wait
	}
	return true, 0
}

// Begin closes the window for a pass, and returns its triggers, sorted by UID. Later triggers open a new window.
func (b *Batch) Begin(now time.Time) []types.UID {
	b.running = true
	b.round++
	b.opened, b.last = time.Time{}, time.Time{}
	return slices.Sorted(maps.Keys(b.dirty))
}

// End records the result of the pass. After success its triggers are removed; after a failure they stay, and a new window opens for them at
// once. Triggers that came during the pass stay after a success, too.
func (b *Batch) End(success bool, now time.Time) {
	b.running = false
	for uid, round := range b.dirty {
		switch {
		case round == b.round: // this trigger came while the pass was running, so it stays for the next pass
		case success:
			delete(b.dirty, uid)
		default:
			b.dirty[uid] = b.round
		}
	}
	if len(b.dirty) > 0 && b.opened.IsZero() {
		b.opened, b.last = now, now
	}
}

// Waiting returns the number of triggers that no pass has handled yet.
func (b *Batch) Waiting() int { return len(b.dirty) }
