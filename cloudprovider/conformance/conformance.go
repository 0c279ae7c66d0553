package conformance

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/drawknife/drawknife/api/option"
)

// Level is a part of the contract that a provider can keep as a whole.
type Level string

// The levels. Core is for every provider; the others are for those whose cloud has the thing.
const (
	Core         Level = "Core"
	Spot         Level = "Spot"
	Reserved     Level = "Reserved"
	Drift        Level = "Drift"
	Repair       Level = "Repair"
	Interruption Level = "Interruption"
	// Engine is what package engine reports its scenarios as; it is none of Levels.
	Engine Level = "Engine"
)

// Levels are all levels, Core first. The caller owns the slice.
func Levels() []Level { return []Level{Core, Spot, Reserved, Drift, Repair, Interruption} }

// Defaults of Options.
const (
	DefaultTrials   = 20
	DefaultSteps    = 25
	DefaultParallel = 1000
	DefaultSpread   = 12
	DefaultPatience = 20 * time.Minute
	// DefaultRealPatience is the Patience where time is real.
	DefaultRealPatience = time.Minute
	DefaultPoll         = 5 * time.Second
	DefaultRunID        = "kit"
)

// Options of a run. Start from DefaultOptions, which test everything.
type Options struct {
	// Levels to test; nil means all.
	Levels []Level
	// Clauses to test, "CP-CREATE-02" for instance; nil means all of the levels.
	Clauses []string
	// Trials is how many random histories and claims each property tries, at least 1. More than
	// -rapid.checks are never tried.
	Trials int
	// Steps is the most calls in one random history, at least 1.
	Steps int
	// Parallel is how many instances are launched at once, at least 1. On a real cloud, a few, and once more than a page
	// of its list holds: CP-CONCURRENCY-01 alone sees a List that reads one page.
	Parallel int
	// Spread is the most instances that a clause launches to see that those of every zone, capacity type, architecture, operating system
	// and region are dealt with alike; at least 1.
	Spread int
	// Patience is how long an instance may take to be gone, on the clock that Hooks.Advance moves, or in real time where
	// there is none; more than 0. Nil is DefaultPatience, and DefaultRealPatience where time is real. Where real time has run out once, later
	// waits get a tenth of it, or twice the longest that was not in vain: a provider whose instances never go is found
	// in minutes.
	Patience *time.Duration
	// Deadline is when the run has to be over: waits end, and clauses that there is no time for fail, saying so. Zero means just before
	// the deadline of the test that Run is given (go test's -timeout), and none in Check.
	Deadline time.Time
	// Poll is how long to wait between two looks at it; more than 0.
	Poll time.Duration
	// MemorySlack is how many bytes the test's own cloud, living in the same process, may keep in addition to what the clauses about
	// memory allow the provider. Zero for none.
	MemorySlack int64
	// RunID sets the names and UIDs of this run's claims apart from those of other runs; empty means DefaultRunID. A cloud
	// that outlives the run needs another for every run.
	RunID string
}

// DefaultOptions test everything, with as much effort as an in-memory cloud is worth: DefaultTrials, DefaultSteps and so on.
func DefaultOptions() Options {
	return Options{Trials: DefaultTrials, Steps: DefaultSteps, Parallel: DefaultParallel, Spread: DefaultSpread, Poll: DefaultPoll, RunID: DefaultRunID}
}

// checked are the options with what nil and empty stand for, or what is wrong with them.
func (o Options) checked() (Options, error) {
	for name, effort := range map[string]int{"Trials": o.Trials, "Steps": o.Steps, "Parallel": o.Parallel, "Spread": o.Spread} {
		if effort < 1 {
			return o, &option.Error{Package: "conformance", Option: name, Rule: fmt.Sprintf("is %d: start from DefaultOptions", effort)}
		}
	}
	if o.Poll <= 0 || option.Or(o.Patience, DefaultPatience) <= 0 {
		return o, &option.Error{Package: "conformance", Option: "Poll, Patience", Rule: "one is not more than 0: start from DefaultOptions"}
	}
	if o.Levels == nil {
		o.Levels = Levels()
	}
	if o.RunID == "" {
		o.RunID = DefaultRunID
	}
	return o, nil
}

func (o Options) wants(c clause) bool {
	return slices.Contains(o.Levels, c.level) && (o.Clauses == nil || slices.Contains(o.Clauses, c.id))
}

// Run tests a provider clause by clause, each as a sub-test "Level/clause" of t, and gives the report. A failure that
// chance has found prints the seed and the file that repeat it.
func Run(t *testing.T, factory Factory, options Options) *Report {
	t.Helper()
	if end, ok := t.Deadline(); ok && options.Deadline.IsZero() {
		options.Deadline = end.Add(-reportTime)
	}
	s, err := newSession(factory, options)
	if err != nil {
		t.Fatal(err)
	}
	for _, level := range s.options.Levels {
		chosen := s.clauses(level)
		if len(chosen) == 0 {
			continue
		}
		t.Run(string(level), func(t *testing.T) {
			for _, c := range chosen {
				t.Run(c.id, func(t *testing.T) { report(t, s.check(t, c)) })
			}
		})
	}
	return &s.report
}

// Check is Run without sub-tests: t does not fail for a broken clause, the report says so. t lends its context, its
// temporary folders and its name; it may be nil, for a factory that needs none of these.
func Check(t testing.TB, factory Factory, options Options) *Report {
	s, err := newSession(factory, options)
	if err != nil {
		return &Report{Results: []Result{{Clause: "Options", Says: "the options of the run can be", Outcome: Failed, Faults: []string{err.Error()}}}}
	}
	for _, level := range s.options.Levels {
		for _, c := range s.clauses(level) {
			s.check(t, c)
		}
	}
	return &s.report
}

// report makes a finding a sub-test's own.
func report(t *testing.T, f finding) {
	t.Helper()
	for _, line := range f.log {
		t.Log(line)
	}
	switch f.outcome {
	case Failed:
		t.Fail()
	case Skipped:
		t.SkipNow()
	}
}

// session is one run over all clauses.
type session struct {
	factory Factory
	options Options
	report  Report
	// histories are run once; each clause takes from them what is about it.
	histories map[callFaults]*verdict
	counter   counter
	// ranOut is set once real time has run out on a wait; longest is the longest wait that was not in vain, in nanoseconds.
	ranOut  atomic.Bool
	longest atomic.Int64
}

// newSession is one with options that can be; the error is an *option.Error.
func newSession(factory Factory, options Options) (*session, error) {
	options, err := options.checked()
	if err != nil {
		return nil, err
	}
	return &session{factory: factory, options: options, histories: map[callFaults]*verdict{}}, nil
}

func (s *session) clauses(level Level) []clause {
	var chosen []clause
	for _, c := range clauses() {
		if c.level == level && s.options.wants(c) {
			chosen = append(chosen, c)
		}
	}
	return chosen
}

// check tests one clause and notes it in the report.
func (s *session) check(tb testing.TB, c clause) finding {
	name := string(c.level) + "/" + c.id
	if tb != nil {
		name = tb.Name()
	}
	found := examine(tb, name, s.options.Deadline, func(p *probe) {
		l := s.newLab(p)
		c.check(l)
		s.fromHistories(l, c.id)
	})
	s.report.add(c, found)
	return found
}
