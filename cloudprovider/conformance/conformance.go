package conformance

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/drawknife/drawknife/api/option"
)

// Level is a part of the contract that a provider can meet as a whole.
type Level string

// The levels. Core is for every provider. Each of the other levels is for clouds with the feature of that name.
const (
	Core         Level = "Core"
	Spot         Level = "Spot"
	Reserved     Level = "Reserved"
	Drift        Level = "Drift"
	Repair       Level = "Repair"
	Interruption Level = "Interruption"
	// Group is for providers that implement cloudprovider.GroupCreator.
	Group Level = "Group"
	// Engine is the level under which package engine reports its scenarios; it is not in the result of Levels.
	Engine Level = "Engine"
)

// Levels returns all levels, Core first. The caller owns the slice.
func Levels() []Level { return []Level{Core, Spot, Reserved, Drift, Repair, Interruption, Group} }

// Defaults of Options.
const (
	DefaultTrials   = 20
	DefaultSteps    = 25
	DefaultParallel = 1000
	DefaultSpread   = 12
	DefaultPatience = 20 * time.Minute
	// DefaultRealPatience is the default Patience if time is real.
	DefaultRealPatience = time.Minute
	DefaultPoll         = 5 * time.Second
	DefaultRunID        = "kit"
)

// Options of a run. Start from the result of DefaultOptions, which tests everything.
type Options struct {
	// Levels to test; nil means all.
	Levels []Level
	// Clauses to test, for instance "CP-CREATE-02"; nil means all clauses of the levels.
	Clauses []string
	// Trials is the number of random histories and claims that each property tries, at least 1. It is limited by -rapid.checks.
	Trials int
	// Steps is the largest number of calls in one random history, at least 1.
	Steps int
	// Parallel is the number of instances launched at once, at least 1. On a real cloud, use a small number. But run once with a number
	// larger than one page of the cloud's list API: only CP-CONCURRENCY-01 notices a List that reads only one page.
	Parallel int
	// Spread is the largest number of instances that a clause launches to check every zone, capacity type, architecture, operating system
	// and region; at least 1.
	Spread int
	// Patience is how long an instance may take to disappear, on the clock that Hooks.Advance moves, or in real time without that hook;
	// more than 0. Nil means DefaultPatience, or DefaultRealPatience if time is real. After a wait in real time has timed out once, later
	// waits last a tenth of Patience, or twice the longest successful wait. So a run against a provider whose instances never disappear
	// fails within minutes.
	Patience *time.Duration
	// Deadline is the time at which the run must be over. Waits end at this time. A clause that does not have enough time left fails with
	// this reason. Zero means shortly before the deadline of the test passed to Run (go test's -timeout), and no deadline in Check.
	Deadline time.Time
	// Poll is the time between two checks while waiting; more than 0.
	Poll time.Duration
	// MemorySlack is the number of bytes that the test's own cloud may use in the same process, in addition to the bytes that the clauses
	// about memory allow the provider. Zero means none.
	MemorySlack int64
	// RunID distinguishes the names and UIDs of this run's claims from those of other runs; empty means DefaultRunID. If the cloud outlives
	// the run, use a different RunID for every run.
	RunID string
}

// DefaultOptions returns options that test everything, with an effort suitable for an in-memory cloud: DefaultTrials, DefaultSteps and so
// on.
func DefaultOptions() Options {
	return Options{Trials: DefaultTrials, Steps: DefaultSteps, Parallel: DefaultParallel, Spread: DefaultSpread, Poll: DefaultPoll, RunID: DefaultRunID}
}

// checked returns the options with defaults instead of nil and empty values, or an error if an option is invalid.
func (o Options) checked() (Options, error) {
	for name, effort := range map[string]int{"Trials": o.Trials, "Steps": o.Steps, "Parallel": o.Parallel, "Spread": o.Spread} {
		if effort < 1 {
			return o, &option.Error{Package: "conformance", Option: name, Rule: fmt.Sprintf("is %d: start from DefaultOptions", effort)}
		}
	}
	if o.Poll <= 0 || option.Or(o.Patience, DefaultPatience) <= 0 {
		return o, &option.Error{Package: "conformance", Option: "Poll, Patience", Rule: "both must be more than 0: start from DefaultOptions"}
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

// Run tests a provider clause by clause, each as a sub-test "Level/clause" of t, and returns the report. If a random test fails, it prints
// the seed and the file that repeat it.
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

// Check is Run without sub-tests: if a clause is broken, t does not fail, but the report contains the failure. t provides the context, the
// temporary folders and the name of the test. It may be nil if the factory does not use t.
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

// report reports a finding as the result of the sub-test t.
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
	// histories has the verdicts of the random histories with and without faults. Histories without faults and histories with faults each
	// run once, for all clauses that they can break.
	histories map[callFaults]*verdict
	counter   counter
	// ranOut is set once a wait in real time has timed out; longest is the longest successful wait, in nanoseconds.
	ranOut  atomic.Bool
	longest atomic.Int64
}

// newSession checks the options; the error is an *option.Error.
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

// check tests one clause and adds the result to the report.
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
