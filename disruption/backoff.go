package disruption

import (
	"slices"
	"strings"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
)

// BackOff remembers which pools' replacements for drift fail, so that one that keeps failing does not keep the others from
// theirs. Only drift counts. It is kept in memory, holds no clock, and is safe for concurrent use. Pools that are deleted are
// forgotten by ForgetGone. A nil *BackOff remembers nothing; the zero value is one with the seed 0.
type BackOff struct{ pauses survey.BackOff }

// NewBackOff remembers no failure yet. Pools wait for between half of their window and all of it; seed decides how long,
// so that controllers of several clusters do not keep step.
func NewBackOff(seed uint64) *BackOff { return &BackOff{pauses: survey.BackOff{Seed: seed}} }

// inner is what planners ask; nil for nil.
func (b *BackOff) inner() *survey.BackOff {
	if b == nil {
		return nil
	}
	return &b.pauses
}

// Failed says that a drift command of the pool could not be started, or failed for good: the pool is left alone for a
// minute, then two, at most ten. While it is left alone a further failure changes nothing, and false is returned.
func (b *BackOff) Failed(pool v1.PoolKey, now time.Time) bool { return b.inner().Failed(pool, now) }

// Succeeded says that a drift command of the pool was carried out: what was remembered of it is forgotten.
func (b *BackOff) Succeeded(pool v1.PoolKey) { b.inner().Succeeded(pool) }

// ForgetGone forgets pools that the cluster no longer has, so that no entry outlives its pool and one made again under the same
// name is tried at once. Call it with each Fleet that is planned for; planners, which change nothing, leave it to their callers.
// A pool that is there is remembered until it succeeds, also after its time: a further failure has it wait longer.
func (b *BackOff) ForgetGone(f *Fleet) { b.inner().ForgetGone(f.seen()) }

// Blocks says until when the pool is left alone; nil when it is not.
func (b *BackOff) Blocks(pool v1.PoolKey, now time.Time) *Block { return b.inner().Blocks(pool, now) }

// Samples are the pools that drift leaves alone, with the seconds that are left.
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
