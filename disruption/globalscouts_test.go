package disruption_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/drawknife/drawknife/disruption"
)

// The number of processors and of what is done side by side decides how soon a plan is there, and nothing else. For more fleets:
//
//	DRAWKNIFE_FLEETS=100 go test ./disruption -run TestGlobalPlansTheSameSideBySide -v -timeout 0
func TestGlobalPlansTheSameSideBySide(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	first, last := fleetsWanted(t, 2)
	for number := first; number < last; number++ {
		name, s := randomFleet(number)
		f := surveyed(t, s)
		planner := []func() *disruption.Global{restless, thrifty}[number%2]
		var want []byte
		for _, at := range []struct{ processors, parallelism int }{{1, 1}, {1, 3}, {2, 2}, {8, 4}} {
			runtime.GOMAXPROCS(at.processors)
			g := planner()
			g.Parallelism = &at.parallelism
			plan, err := g.Plan(t.Context(), f)
			if err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(plan)
			if err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = got
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s: another plan with %d processors and parallelism %d", name, at.processors, at.parallelism)
			}
		}
	}
}

// A plan that is given up leaves nothing behind that runs on, wherever it had come to.
func TestGlobalLeavesNothingRunning(t *testing.T) {
	f := surveyed(t, fleetSpec{nodes: 14, fill: 0.4}.snapshot())
	g := thrifty()
	g.Parallelism = ptr(4)
	looks := &impatient{Context: t.Context()}
	looks.left.Store(1 << 30)
	if _, err := g.Plan(looks, f); err != nil {
		t.Fatal(err)
	}
	all := 1<<30 - looks.left.Load()
	for part := range int32(4) {
		synctest.Test(t, func(t *testing.T) { // it ends once nothing runs
			ctx := &impatient{Context: t.Context()}
			ctx.left.Store(all * part / 4)
			if plan, err := g.Plan(ctx, f); plan != nil || !errors.Is(err, context.Canceled) {
				t.Errorf("given up after %d/4 of it: a plan %v, and %v", part, plan != nil, err)
			}
		})
	}
}

// impatient is cancelled for those who have looked so often whether it is.
type impatient struct {
	context.Context
	left atomic.Int32
}

func (c *impatient) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return c.Context.Err()
}

// BenchmarkGlobalSideBySide plans from nothing with more and more ways and scouts side by side: ns/op is the time by the clock, cpu-ms what
// all processors spend.
func BenchmarkGlobalSideBySide(b *testing.B) {
	sizes := []int{500, 1000, 5000}
	if testing.Short() {
		sizes = sizes[:1]
	}
	for _, nodes := range sizes {
		f := surveyed(b, fleetSpec{nodes: nodes, fill: 0.4, mixed: true}.snapshot())
		for _, parallelism := range []int{1, 2, 4} {
			b.Run(fmt.Sprintf("mixed/nodes=%d/parallelism=%d", nodes, parallelism), func(b *testing.B) {
				planner := &disruption.Global{Parallelism: ptr(parallelism)}
				b.ReportAllocs()
				before := processorTime(b)
				for b.Loop() {
					if _, err := planner.Plan(b.Context(), f); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64((processorTime(b)-before).Milliseconds())/float64(b.N), "cpu-ms")
			})
		}
	}
}
