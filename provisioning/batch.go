package provisioning

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/api/option"
)

// BatchOptions are the lengths of a batch window; see DefaultBatchOptions. A longer window gives fewer and larger nodes, later.
type BatchOptions struct {
	// Idle closes a window when nothing new came for so long; 0 closes it at once.
	Idle time.Duration
	// Max closes a window that has been open for so long, whatever comes; 0 closes it at once.
	Max time.Duration
}

// The window's lengths by default.
const (
	DefaultBatchIdle = time.Second
	DefaultBatchMax  = 10 * time.Second
)

// DefaultBatchOptions are DefaultBatchIdle and DefaultBatchMax.
func DefaultBatchOptions() BatchOptions {
	return BatchOptions{Idle: DefaultBatchIdle, Max: DefaultBatchMax}
}

func (o BatchOptions) checked() (BatchOptions, error) {
	if o.Idle < 0 || o.Max < 0 {
		return o, &option.Error{Package: "provisioning", Option: "Batch", Rule: fmt.Sprintf("idle %s and max %s: a window can't end before it opens", o.Idle, o.Max)}
	}
	// An idle time longer than the window never ends it.
	o.Idle = min(o.Idle, o.Max)
	return o, nil
}

// Batch gathers what calls for a provisioning pass: pods that wait, nodes that leave, buffers. The first trigger opens
// a window; it closes when nothing new came for the idle time, or when it has been open for the longest time.
// What was gathered is forgotten only when a pass has dealt with it, so that a pass that can't run, or fails, loses no
// trigger.
//
//	batch.Trigger(pod.UID, now)
//	if due, again := batch.Next(now); due {
//		batch.Begin(now)
//		err := pass()
//		batch.End(err == nil, now)
//	}
//
// It holds no clock and no lock: one goroutine owns it.
type Batch struct {
	options BatchOptions
	// dirty are the triggers that no pass has dealt with, by their UID; the number is the round they came in.
	dirty map[types.UID]uint64
	// round counts passes; running tells that one is under way.
	round   uint64
	running bool
	// opened is when the window opened, and last when something new came; zero while no window is open.
	opened, last time.Time
}

// NewBatch makes a batch without triggers. The error is an *option.Error.
func NewBatch(options BatchOptions) (*Batch, error) {
	options, err := options.checked()
	if err != nil {
		return nil, err
	}
	return &Batch{options: options, dirty: make(map[types.UID]uint64)}, nil
}

// Trigger says that the object calls for a pass. One that is known already extends no window; one that
// comes while a pass is running is for the next pass, since the running one may have looked before.
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

// Forget takes a trigger back: its pod was bound, or is gone. A window whose triggers are all gone closes.
func (b *Batch) Forget(uid types.UID) {
	delete(b.dirty, uid)
	if len(b.dirty) == 0 {
		b.opened, b.last = time.Time{}, time.Time{}
	}
}

// Next reports whether a pass is due, and if not, when to ask again: the time from now until then, or 0 when only a
// trigger or the end of the running pass can change it. One pass runs at a time.
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

// Begin closes the window for a pass, and lists what it is for, by UID. What is triggered from now on opens a new one.
func (b *Batch) Begin(now time.Time) []types.UID {
	b.running = true
	b.round++
	b.opened, b.last = time.Time{}, time.Time{}
	return slices.Sorted(maps.Keys(b.dirty))
}

// End says how the pass ended. After success what it was for is dealt with; otherwise it stays, and a window opens at
// once in which it waits for the next pass. Either way a trigger that came meanwhile stays.
func (b *Batch) End(success bool, now time.Time) {
	b.running = false
	for uid, round := range b.dirty {
		switch {
		case round == b.round: // came while the pass was running
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

// Waiting is how many triggers no pass has dealt with.
func (b *Batch) Waiting() int { return len(b.dirty) }
