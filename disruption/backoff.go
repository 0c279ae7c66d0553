package disruption

import (
	"slices"
	"strings"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
)

// BackOff remembers the pools whose replacements for drift fail, so that one failing pool does not block the drift of other
// pools. Only drift counts. It is kept in memory, has no clock, and is safe for concurrent use. ForgetGone removes deleted pools.
// A nil *BackOff remembers nothing. The zero value has seed 0.
type BackOff struct{ pauses survey.BackOff }

// NewBackOff returns a BackOff without failures. Each pause takes between half of its maximum and all of it. The seed decides how long. So
// controllers of several clusters don't act at the same time.
func NewBackOff(seed uint64) *BackOff { return &BackOff{pauses: survey.BackOff{Seed: seed}} }

// inner returns b.pauses, the form that planners use, or nil if b is nil.
func (b *BackOff) inner() *survey.BackOff {
	if b == nil {
		return nil
	}
	return &b.pauses
}

// Failed records that a drift command of the pool could not be started, or failed for good. The pool is paused for up to one minute after
// the first failure. Each further failure doubles this maximum, to at most ten minutes. A failure during a pause changes nothing, and
// Failed returns false.
func (b *BackOff) Failed(pool v1.PoolKey, now time.Time) bool { return b.inner().Failed(pool, now) }

// Succeeded records that a drift command of the pool was carried out. It forgets the pool's failures.
func (b *BackOff) Succeeded(pool v1.PoolKey) { b.inner().Succeeded(pool) }

// ForgetGone forgets pools that the cluster no longer has, so that a new pool of the same name is tried at once. Call it with each Fleet
// before you plan, because planners do not call it. It keeps the failures of an existing pool until a drift command succeeds, even after
// the pause: another failure leads to a longer pause.
func (b *BackOff) ForgetGone(f *Fleet) { b.inner().ForgetGone(f.seen()) }

// Blocks returns a block with the end of the pause if the pool is paused, and otherwise nil.
func (b *BackOff) Blocks(pool v1.PoolKey, now time.Time) *Block { return b.inner().Blocks(pool, now) }

// Samples returns one sample for each paused pool, with the remaining seconds.
func (b *BackOff) Samples(now time.Time) []Sample {
	var out []Sample
	for key, p := range b.inner().Remembered() {
		out = append(out, Sample{Metric: MetricBackOffSeconds, Labels: map[string]string{decision.LabelPool: key.String()}, Value: max(0, p.Until.Sub(now)).Seconds()})
	}
	slices.SortFunc(out, func(a, b Sample) int {
		return strings.Compare(a.Labels[decision.LabelPool], b.Labels[decision.LabelPool])
	})
	return out
}
