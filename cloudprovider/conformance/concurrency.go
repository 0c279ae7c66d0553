package conformance

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

func concurrencyClauses() []clause {
	return []clause{
		{"CP-CONCURRENCY-01", Core, "all methods at once; many Creates make as many instances", (*lab).manyAtOnce},
		{"CP-CONCURRENCY-02", Core, "one slow call does not stop the others", (*lab).slowCall},
		{"CP-CONCURRENCY-03", Core, "methods return when their context ends, and leave no goroutine", (*lab).noGoroutines},
		{"CP-CONCURRENCY-04", Core, "memory is bounded by live instances", (*lab).instanceMemory},
	}
}

// liveBytes returns the size of the heap after garbage collection.
func liveBytes() int64 {
	var m runtime.MemStats
	for range 2 { // the first collection only runs finalizers
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func (l *lab) manyAtOnce() {
	n := l.options.Parallel
	claims := make([]*v1.NodeClaim, n)
	for i := range claims {
		claims[i] = l.claim()
	}
	instances := make([]*v1.NodeClaim, n)
	var all sync.WaitGroup
	for i := range claims {
		all.Go(func() {
			created, err := l.Provider.Create(l.Context(), claims[i])
			if err != nil {
				l.Errorf("launch %d of %d at once: %v", i, n, err)
				return
			}
			instances[i] = created
		})
	}
	for range 4 {
		all.Go(func() {
			l.Provider.Describe()
			if _, err := l.Provider.InstanceTypes(l.Context(), l.NodePool); err != nil {
				l.Errorf("InstanceTypes among launches: %v", err)
			}
			if _, err := l.Provider.List(l.Context()); err != nil {
				l.Errorf("List among launches: %v", err)
			}
		})
	}
	all.Wait()
	distinct := map[string]string{}
	for i, m := range instances {
		if m == nil {
			continue
		}
		l.own(m)
		if other, twice := distinct[m.Status.ProviderID]; twice {
			l.Fatalf("claims %q and %q were both given instance %q", other, claims[i].Name, m.Status.ProviderID)
		}
		distinct[m.Status.ProviderID] = claims[i].Name
	}
	if l.Failed() {
		return
	}
	missing := 0
	listed := l.list()
	for id := range distinct {
		if listed[id] == nil {
			missing++
		}
	}
	if missing > 0 {
		l.Errorf("%d of %d instances launched at once are not listed", missing, n)
	}
	for _, m := range instances {
		all.Go(func() {
			if err := l.Provider.Delete(l.Context(), m); err != nil && !cloudprovider.IsNodeClaimNotFound(err) {
				l.Errorf("Delete among %d at once: %v", n, err)
			}
		})
	}
	all.Wait()
}

// stallTime is how long other calls may take while one call is stalled. The time is real time. It is long, because a busy computer is slow.
const stallTime = 10 * time.Second

// hangTime is how long, in real time, a call may take to reach the point where it is stalled. If it takes longer, the test does not notice
// a lock that the call holds.
const hangTime = 100 * time.Millisecond

// endTime is how long goroutines may take to end after their context has ended. endPoll is the time between two counts of goroutines. Both
// are in real time.
const (
	endTime = 10 * time.Second
	endPoll = 20 * time.Millisecond
)

func (l *lab) slowCall() {
	if l.Stall == nil {
		l.Skip("needs the hook Stall")
	}
	instance := l.create(l.claim())
	tried := 0
	for _, c := range l.calls(instance) {
		if c.method == MethodDelete {
			continue // skipped, because Delete would terminate the instance
		}
		release, err := l.Stall(c.method)
		if errors.Is(err, errors.ErrUnsupported) {
			continue
		}
		if err != nil {
			l.Fatalf("stalling %s: %v", c.method, err)
		}
		tried++
		hanging := make(chan struct{})
		go func() {
			defer close(hanging)
			_ = c.make(l.Context())
		}()
		pass(l.Context(), hangTime)
		l.othersGoOn(c.method, instance)
		release()
		<-hanging
		if l.Failed() {
			return
		}
	}
	if tried == 0 {
		l.Skip("the cloud can't stall any method")
	}
}

// othersGoOn calls the methods that must still work while a call is stalled.
func (l *lab) othersGoOn(stalled Method, instance *v1.NodeClaim) {
	ctx, cancel := context.WithTimeout(l.Context(), stallTime)
	defer cancel()
	done := make(chan Method, 8)
	others := 0
	run := func(method Method, f func()) {
		if method == stalled {
			return
		}
		others++
		go func() {
			f()
			done <- method
		}()
	}
	run("Describe", func() { l.Provider.Describe() })
	run("Name", func() { l.Provider.Name() })
	if stalled != MethodGet {
		run(MethodInstanceTypes, func() { _, _ = l.Provider.InstanceTypes(ctx, l.NodePool) })
	}
	if stalled == MethodCreate || stalled == MethodInstanceTypes {
		run(MethodGet, func() { _, _ = l.Provider.Get(ctx, instance.Status.ProviderID) })
	}
	for range others {
		select {
		case <-done:
		case <-ctx.Done():
			l.Errorf("while the cloud does not answer %s, other methods wait for it: a lock is held across the call", stalled)
			return
		}
	}
	if ctx.Err() != nil {
		l.Errorf("while the cloud does not answer %s, other methods take %s", stalled, stallTime)
	}
}

func (l *lab) noGoroutines() {
	instance := l.create(l.claim())
	l.quickly(instance) // start tasks that the provider starts only once, so that they are not counted as leaks
	before := runtime.NumGoroutine()
	for range 20 {
		l.quickly(instance)
	}
	l.stalledCalls(instance)
	var after int
	for range endTime / endPoll {
		if after = runtime.NumGoroutine(); after <= before+2 {
			return
		}
		pass(context.WithoutCancel(l.Context()), endPoll)
	}
	l.Errorf("%d goroutines before, %d after calls whose context has ended", before, after)
}

// quickly makes every call except Create and Delete twice: first with a live context, then with an ended one.
func (l *lab) quickly(instance *v1.NodeClaim) {
	for _, c := range l.calls(instance) {
		if c.method == MethodDelete || c.method == MethodCreate {
			continue // skipped: Delete would terminate the instance, and Create could launch another instance
		}
		ctx, cancel := context.WithCancel(l.Context())
		_ = c.make(ctx)
		cancel()
		_ = c.make(ctx)
	}
}

// stalledCalls ends the contexts of stalled calls other than Delete, and checks that these calls return.
func (l *lab) stalledCalls(instance *v1.NodeClaim) {
	if l.Stall == nil {
		return
	}
	for _, c := range l.calls(instance) {
		if c.method == MethodDelete {
			continue
		}
		release, err := l.Stall(c.method)
		if err != nil {
			continue
		}
		ctx, cancel := context.WithCancel(l.Context())
		returned := make(chan struct{})
		go func() {
			defer close(returned)
			_ = c.make(ctx)
		}()
		pass(l.Context(), 10*time.Millisecond)
		cancel()
		limit, stop := context.WithTimeout(l.Context(), stallTime)
		select {
		case <-returned:
		case <-limit.Done():
			l.Errorf("%s does not return though its context has ended: %s have passed", c.method, stallTime)
		}
		stop()
		release()
		<-returned
	}
}

// instancesOfMemoryTest is the number of instances that are launched one after the other. A leak of one kilobyte per instance would be
// noticed.
const instancesOfMemoryTest = 400

func (l *lab) instanceMemory() {
	n := min(instancesOfMemoryTest, l.options.Parallel)
	turn := func(times int) {
		for range times {
			l.end(l.create(l.claim()))
		}
	}
	turn(max(n/10, 1))
	before := liveBytes()
	turn(n)
	// A claim is larger than a kilobyte, so a provider that keeps the claims fails.
	if grown, most := liveBytes()-before, int64(n)<<10+256<<10+l.options.MemorySlack; grown > most {
		l.Errorf("%d instances that are gone hold %d bytes, allowed are %d", n, grown, most)
	}
}
