package limits_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/scheduling/limits"
)

var (
	web = v1.PoolKey{Generation: v1.GenerationV1, Name: "web"}
	old = v1.PoolKey{Generation: v1.GenerationV1Alpha5, Name: "web"}
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// SCH-171, SCH-172, OPP-11, OPP-32: what counts, and when there is no room.
func TestReserve(t *testing.T) {
	l := limits.NewTracker()
	must(t, l.SetLimits(web, build.Amounts("cpu", "10", "nodes", "3")))
	must(t, l.Reserve(web, "a", build.Amounts("cpu", "4", "memory", "1Ti")))
	must(t, l.Observe(web, "b", limits.Live, build.Amounts("cpu", "4")))
	var exceeded *limits.ExceededError
	if err := l.Reserve(web, "c", build.Amounts("cpu", "2001m")); !errors.As(err, &exceeded) {
		t.Fatalf("2.001 cores of 2 left: %v", err)
	}
	want := "nodepool web: spec.limits[cpu] is 10, of which 8 is used: no room for 2001m more: raise the limit or remove nodes"
	if exceeded.Error() != want {
		t.Errorf("got  %s\nwant %s", exceeded, want)
	}
	must(t, l.Reserve(web, "c", build.Amounts("cpu", "2"))) // what is exactly left
	if err := l.Reserve(web, "d", build.Amounts()); !errors.As(err, &exceeded) || exceeded.Resource != limits.ResourceNodes {
		t.Errorf("SCH-172: a fourth of three nodes: %v", err)
	}
	must(t, l.Observe(web, "b", limits.Leaving, build.Amounts("cpu", "4")))
	must(t, l.Reserve(web, "d", build.Amounts("cpu", "4"))) // SCH-171: what is leaving does not count
	if err := l.Reserve(old, "e", build.Amounts("cpu", "100")); err != nil {
		t.Errorf("a pool of another generation has limits of its own: %v", err)
	}
	must(t, l.SetLimits(web, build.Amounts("cpu", "1")))
	if err := l.Reserve(web, "f", build.Amounts("memory", "1Gi")); !errors.As(err, &exceeded) || exceeded.Resource != "cpu" {
		t.Errorf("SCH-171: a pool that is over its limit is closed: %v", err)
	}
	left := l.Usage(web).Left["cpu"]
	if left.String() != "-9" {
		t.Errorf("left %s of cpu, want -9", left.String())
	}
}

// An entry goes through its phases and counts once in each.
func TestPhases(t *testing.T) {
	l := limits.NewTracker()
	must(t, l.Reserve(web, "plan-1", build.Amounts("cpu", "4")))
	must(t, l.Rename("plan-1", "uid-1"))
	must(t, l.Observe(web, "uid-1", limits.Launching, build.Amounts("cpu", "4")))
	must(t, l.Observe(web, "uid-1", limits.Live, build.Amounts("cpu", "8"))) // the node that came is another
	u := l.Usage(web)
	if diff := cmp.Diff(build.Amounts("cpu", "8", "nodes", "1"), u.Used); diff != "" || u.Live != 1 || u.Planned+u.Launching+u.Leaving != 0 {
		t.Errorf("%+v (-want +got):\n%s", u, diff)
	}
	if diff := cmp.Diff([]limits.Entry{{ID: "uid-1", Pool: web, Phase: limits.Live}}, l.Entries()); diff != "" {
		t.Error(diff)
	}
	l.Release("uid-1")
	l.Release("uid-1")
	if u := l.Usage(web); len(u.Used) != 0 || u.Live != 0 || len(l.Entries()) != 0 {
		t.Errorf("after release: %+v", u)
	}
}

func TestRefusals(t *testing.T) {
	l := limits.NewTracker()
	must(t, l.Reserve(web, "a", nil))
	must(t, l.Observe(web, "b", limits.Launching, nil))
	var entry *limits.EntryError
	for name, err := range map[string]error{
		"reserved twice":    l.Reserve(web, "a", nil),
		"without a name":    l.Reserve(web, "", nil),
		"observed nameless": l.Observe(web, "", limits.Live, nil),
		"unknown phase":     l.Observe(web, "a", 9, nil),
		"back to planned":   l.Observe(web, "b", limits.Planned, nil),
		"renamed to taken":  l.Rename("a", "b"),
		"renamed unknown":   l.Rename("z", "y"),
	} {
		if !errors.As(err, &entry) {
			t.Errorf("%s: %v, want an EntryError", name, err)
		}
	}
	var limit *limits.LimitError
	if err := l.SetLimits(web, build.Amounts("cpu", "-1")); !errors.As(err, &limit) || limit.Resource != "cpu" {
		t.Errorf("a negative limit: %v", err)
	}
}

// OPP-32: launches that go on side by side never exceed a limit together.
func TestParallelReservations(t *testing.T) {
	l := limits.NewTracker()
	must(t, l.SetLimits(web, build.Amounts("cpu", "100")))
	var granted atomic.Int64
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			if l.Reserve(web, fmt.Sprint(i), build.Amounts("cpu", "3")) == nil {
				granted.Add(1)
			}
		})
	}
	wg.Wait()
	if granted.Load() != 33 {
		t.Errorf("%d granted of 3 cores each out of 100, want 33", granted.Load())
	}
}

// API-295, API-436, API-447: a pool of the first generation launches nothing more once its live nodes use up a limit, even of what
// the node has none; nodes that are planned together may reach it, a limit of which nothing is used closes nothing, and
// pools of later generations go on.
func TestReachedLimitOfFirstGeneration(t *testing.T) {
	for _, c := range []struct {
		name  string
		pool  v1.PoolKey
		phase limits.Phase
		gpus  string
		want  bool // there is room
	}{
		{"reached", old, limits.Live, "2", false},
		{"passed", old, limits.Live, "3", false},
		{"not reached", old, limits.Live, "1", true},
		{"none used", old, limits.Live, "0", true},
		{"planned", old, limits.Planned, "2", true},
		{"launching", old, limits.Launching, "2", true},
		{"leaving", old, limits.Leaving, "2", true},
		{"reached, of a later pool", web, limits.Live, "2", true},
	} {
		l := limits.NewTracker()
		must(t, l.SetLimits(c.pool, build.Amounts("cpu", "100", "example.com/gpu", "2")))
		must(t, l.Observe(c.pool, "a", c.phase, build.Amounts("cpu", "4", "example.com/gpu", c.gpus)))
		err := l.Reserve(c.pool, "b", build.Amounts("cpu", "4"))
		var exceeded *limits.ExceededError
		if (err == nil) != c.want || err != nil && (!errors.As(err, &exceeded) || !exceeded.Reached || exceeded.Resource != "example.com/gpu") {
			t.Errorf("%s: %v", c.name, err)
		}
		if c.name == "reached" {
			const text = "nodepool v1alpha5/web: spec.limits[example.com/gpu] is 2, of which 2 is used: a pool created as v1alpha5 launches nothing more while a limit is reached: raise the limit or remove nodes"
			if err.Error() != text {
				t.Errorf("%q\nwant %q", err, text)
			}
		}
		must(t, l.Observe(c.pool, "a", limits.Leaving, build.Amounts("cpu", "4", "example.com/gpu", c.gpus)))
		must(t, l.Reserve(c.pool, "c", build.Amounts("cpu", "4")))
	}
	l := limits.NewTracker()
	must(t, l.SetLimits(old, build.Amounts("example.com/gpu", "0")))
	must(t, l.Reserve(old, "a", build.Amounts("cpu", "4")))
	must(t, l.Observe(old, "a", limits.Live, build.Amounts("cpu", "4")))
	must(t, l.Reserve(old, "b", build.Amounts("cpu", "4")))
}

// Whatever happens in whatever order: what is used is the sum over the entries that count, and a reservation is granted
// if and only if that sum stays within the limits, and the pool is not closed for having reached one.
func TestBooksBalance(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		type node struct {
			pool  v1.PoolKey
			phase limits.Phase
			cpu   int64
		}
		l, model := limits.NewTracker(), map[string]node{}
		limit := map[v1.PoolKey]int64{}
		used := func(pool v1.PoolKey) (cpu int64) {
			for _, m := range model {
				if m.pool == pool && m.phase != limits.Leaving {
					cpu += m.cpu
				}
			}
			return cpu
		}
		live := func(pool v1.PoolKey) (cpu int64) {
			for _, m := range model {
				if m.pool == pool && m.phase == limits.Live {
					cpu += m.cpu
				}
			}
			return cpu
		}
		pools := []v1.PoolKey{web, old}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			pool := rapid.SampledFrom(pools).Draw(t, "pool")
			id := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "id")
			cpu := rapid.Int64Range(0, 5).Draw(t, "cpu")
			capacity := corev1.ResourceList{"cpu": *resource.NewQuantity(cpu, resource.DecimalSI)}
			_, known := model[id]
			switch rapid.IntRange(0, 4).Draw(t, "what") {
			case 0:
				limit[pool] = rapid.Int64Range(0, 12).Draw(t, "limit")
				if err := l.SetLimits(pool, corev1.ResourceList{"cpu": *resource.NewQuantity(limit[pool], resource.DecimalSI)}); err != nil {
					t.Fatal(err)
				}
			case 1:
				max, limited := limit[pool]
				want := !known && (!limited || used(pool)+cpu <= max && !(pool == old && live(pool) > 0 && live(pool) >= max))
				if err := l.Reserve(pool, id, capacity); (err == nil) != want {
					t.Fatalf("reserve %d of %d (limit %t %d): %v", cpu, used(pool), limited, max, err)
				}
				if want {
					model[id] = node{pool, limits.Planned, cpu}
				}
			case 2, 3:
				phase := limits.Phase(rapid.IntRange(int(limits.Planned), int(limits.Leaving)).Draw(t, "phase"))
				want := !known || phase != limits.Planned || model[id].phase == limits.Planned
				if err := l.Observe(pool, id, phase, capacity); (err == nil) != want {
					t.Fatalf("observe: %v", err)
				}
				if want {
					model[id] = node{pool, phase, cpu}
				}
			case 4:
				l.Release(id)
				delete(model, id)
			}
			for _, p := range pools {
				got := l.Usage(p).Used["cpu"]
				if got.Value() != used(p) {
					t.Fatalf("%v uses %d, want %d", p, got.Value(), used(p))
				}
			}
		}
	})
}
