package scheduling_test

import (
	"runtime"
	"testing"

	"github.com/drawknife/drawknife/internal/workload"
	"github.com/drawknife/drawknife/scheduling"
)

// mallocs is how many objects the process has allocated.
func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

// Planning 50,000 pods of 50 deployments from a fresh snapshot takes at most 20 allocations a pod, compiling included.
func TestAllocationsPerPod(t *testing.T) {
	if testing.Short() {
		t.Skip("plans 50,000 pods")
	}
	s := workload.Named("b", 50_000)
	before := mallocs()
	p := planFor(t, s)
	spent := mallocs() - before
	if len(p.Unschedulable) != 0 {
		t.Fatalf("%d pods have no place", len(p.Unschedulable))
	}
	per := float64(spent) / float64(len(s.Pods))
	t.Logf("%.2f allocations a pod", per)
	if per > 20 {
		t.Errorf("%.1f allocations a pod, want at most 20", per)
	}
}

// Twenty pods of new kinds, each with a rule of its own, take what twenty pods take and not what the cluster does.
func TestAllocationsPerNewKind(t *testing.T) {
	s := busyNodes(300)
	model, err := scheduling.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	if model, err = model.Update(newcomers(s, "spread", 1, 20)); err != nil {
		t.Fatal(err)
	}
	later := newcomers(s, "spread", 2, 20)
	before := mallocs()
	next := scheduling.UpdateInPlace(model, later)
	spent := mallocs() - before
	if next == nil {
		t.Fatal("pods of new kinds took compiling")
	}
	t.Logf("%d allocations", spent)
	if spent > 4_000 {
		t.Errorf("%d allocations for 20 new kinds, want at most 4,000", spent)
	}
}
