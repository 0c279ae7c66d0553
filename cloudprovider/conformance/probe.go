package conformance

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"
)

// probe is the testing.TB with which a clause is checked. It stores messages and does not fail the test it belongs to. So the same check
// can be reported by a sub-test or only in a report. Methods that it does not define, such as TempDir, are those of the embedded
// testing.TB.
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

// finding is the result of a probe.
type finding struct {
	outcome Outcome
	// log contains all messages, and faults contains the messages of failures. reason says why the check was skipped; empty if it was not.
	log, faults []string
	reason      string
}

// These are real times allowed after a deadline: for a call to notice that its context has ended, for the clean-up after a clause, and for
// the report of the whole run, which must be ready before go test ends the process.
const (
	graceTime   = 5 * time.Second
	cleanupTime = 5 * time.Second
	reportTime  = 20 * time.Second
)

// examine runs a check and its clean-up in a separate goroutine, because FailNow and Skip end the goroutine. With a deadline it returns
// even if a call of the provider never returns.
func examine(tb testing.TB, name string, deadline time.Time, check func(*probe)) finding {
	parent := context.Background()
	if tb != nil {
		parent = tb.Context()
	}
	ctx, cancel := until(parent, deadline, 0)
	defer cancel()
	p := &probe{TB: tb, name: name, ctx: ctx}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		p.Errorf("not tested: %s", outOfTime)
	} else {
		given, stop := until(context.Background(), deadline, graceTime)
		p.alone(given, func() { check(p) })
		stop()
	}
	cancel()
	p.cleanUp(deadline)
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

// outOfTime is the reason in messages about clauses that end at the deadline.
const outOfTime = "the time of the run is over (go test's -timeout, or Options.Deadline): give it longer, or have it wait for less by the hook Advance or Options.Patience"

// until returns a context that ends some time after the deadline: the parameter after is this time. If the deadline is zero, the context
// ends only with its parent.
func until(parent context.Context, deadline time.Time, after time.Duration) (context.Context, context.CancelFunc) {
	if deadline.IsZero() {
		return context.WithCancel(parent)
	}
	return context.WithDeadline(parent, deadline.Add(after))
}

// cleanUp runs the functions passed to Cleanup, in reverse order. It stops waiting after the deadline, if the deadline is not zero.
func (p *probe) cleanUp(deadline time.Time) {
	given, stop := until(context.Background(), deadline, graceTime+cleanupTime)
	if given.Err() != nil {
		stop()
		given, stop = context.WithTimeout(context.Background(), cleanupTime)
	}
	defer stop()
	for {
		p.mu.Lock()
		var next func()
		if n := len(p.cleanups); n > 0 {
			next, p.cleanups = p.cleanups[n-1], p.cleanups[:n-1]
		}
		p.mu.Unlock()
		if next == nil {
			return
		}
		p.alone(given, next)
	}
}

// alone runs a function that may end its goroutine, and waits for it until the context ends. A panic of the provider fails this clause, but
// not the other clauses.
func (p *probe) alone(given context.Context, f func()) {
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
	select {
	case <-done:
	case <-given.Done():
		p.Errorf("a call of the provider has not come back though its context has ended (CP-CONCURRENCY-03): %s", outOfTime)
	}
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
