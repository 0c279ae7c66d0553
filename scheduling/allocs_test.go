package scheduling_test

import (
	"runtime"
	"testing"

	"github.com/drawknife/drawknife/internal/workload"
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
