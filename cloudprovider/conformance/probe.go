package conformance

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
)

// probe is the testing.TB that a clause is checked with. It keeps what was said instead of failing the test it belongs to,
// so that the same check can end in a sub-test or only in a report. What it does not do itself (TempDir, Setenv) it leaves
// to the test.
type probe struct {
	testing.TB // the real one
	name       string
	ctx        context.Context

	mu       sync.Mutex
	log      []string
	faults   []string
	failed   bool
	skipped  bool
	cleanups []func()
}

var _ testing.TB = (*probe)(nil)

// finding is what came of a probe.
type finding struct {
	outcome Outcome
	// log is everything that was said; faults what failed; reason why it was skipped.
	log, faults []string
	reason      string
}

// examine runs a check to its end, its clean-up included, on a goroutine of its own, which FailNow and Skip may end.
func examine(tb testing.TB, name string, check func(*probe)) finding {
	parent := context.Background()
	if tb != nil {
		parent = tb.Context()
	}
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	p := &probe{TB: tb, name: name, ctx: ctx}
	p.alone(func() { check(p) })
	cancel()
	for {
		p.mu.Lock()
		var next func()
		if n := len(p.cleanups); n > 0 {
			next, p.cleanups = p.cleanups[n-1], p.cleanups[:n-1]
		}
		p.mu.Unlock()
		if next == nil {
			break
		}
		p.alone(next)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	f := finding{outcome: Passed, log: p.log, faults: p.faults}
	switch {
	case p.failed:
		f.outcome = Failed
	case p.skipped:
		f.outcome, f.reason = Skipped, strings.Join(p.log, "; ")
	}
	return f
}

// alone waits for a function that may end its goroutine. A panic of the provider is a failure of the clause, not the end of
// all others.
func (p *probe) alone(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if r := recover(); r != nil {
				p.Errorf("panic: %v\n%s", r, debug.Stack())
			}
		}()
		f()
	}()
	<-done
}

func (p *probe) note(text string, fault bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	text = strings.TrimRight(text, "\n")
	p.log = append(p.log, text)
	if fault {
		p.failed = true
		p.faults = append(p.faults, text)
	}
}

func (p *probe) Name() string             { return p.name }
func (p *probe) Context() context.Context { return p.ctx }
func (p *probe) Helper()                  {}
func (p *probe) Log(args ...any)          { p.note(fmt.Sprintln(args...), false) }
func (p *probe) Error(args ...any)        { p.note(fmt.Sprintln(args...), true) }
func (p *probe) Fatal(args ...any)        { p.Error(args...); p.FailNow() }
func (p *probe) Skip(args ...any)         { p.Log(args...); p.SkipNow() }

func (p *probe) Logf(format string, args ...any)   { p.note(fmt.Sprintf(format, args...), false) }
func (p *probe) Errorf(format string, args ...any) { p.note(fmt.Sprintf(format, args...), true) }
func (p *probe) Fatalf(format string, args ...any) { p.Errorf(format, args...); p.FailNow() }
func (p *probe) Skipf(format string, args ...any)  { p.Logf(format, args...); p.SkipNow() }

func (p *probe) Fail() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failed = true
}

func (p *probe) FailNow() {
	p.Fail()
	runtime.Goexit()
}

func (p *probe) SkipNow() {
	p.mu.Lock()
	p.skipped = true
	p.mu.Unlock()
	runtime.Goexit()
}

func (p *probe) Failed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failed
}

func (p *probe) Skipped() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.skipped
}

func (p *probe) Cleanup(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cleanups = append(p.cleanups, f)
}
