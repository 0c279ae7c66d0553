package conformance

import (
	"slices"
	"testing"
	"time"
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

// Levels are all levels, Core first. The slice is the caller's.
func Levels() []Level { return []Level{Core, Spot, Reserved, Drift, Repair, Interruption} }

// Defaults of Options.
const (
	DefaultTrials   = 20
	DefaultSteps    = 25
	DefaultParallel = 1000
	DefaultPatience = 20 * time.Minute
	DefaultPoll     = 5 * time.Second
	DefaultRunID    = "kit"
)

// Options of a run. The zero value tests everything.
type Options struct {
	// Levels to test; nil means all.
	Levels []Level
	// Clauses to test, "CP-CREATE-02" for instance; nil means all of the levels.
	Clauses []string
	// Trials is how many random histories and claims each property tries; zero means DefaultTrials. More than
	// -rapid.checks are never tried.
	Trials int
	// Steps is the most calls in one random history; zero means DefaultSteps.
	Steps int
	// Parallel is how many machines are launched at once; zero means DefaultParallel. On a real cloud, a few.
	Parallel int
	// Patience is how long a machine may take to be gone, on the clock that Hooks.Advance moves, or in real time where
	// there is none; zero means DefaultPatience.
	Patience time.Duration
	// Poll is how long to wait between two looks at it; zero means DefaultPoll.
	Poll time.Duration
	// MemorySlack is how many bytes the test's own cloud, living in the same process, may keep beside what the clauses about
	// memory allow the provider. Zero for none.
	MemorySlack int64
	// RunID sets the names and UIDs of this run's claims apart from those of other runs; empty means DefaultRunID. A cloud
	// that outlives the run needs another for every run.
	RunID string
}

func (o Options) withDefaults() Options {
	if o.Levels == nil {
		o.Levels = Levels()
	}
	o.Trials = orDefault(o.Trials, DefaultTrials)
	o.Steps = orDefault(o.Steps, DefaultSteps)
	o.Parallel = orDefault(o.Parallel, DefaultParallel)
	o.Patience = orDefault(o.Patience, DefaultPatience)
	o.Poll = orDefault(o.Poll, DefaultPoll)
	if o.RunID == "" {
		o.RunID = DefaultRunID
	}
	return o
}

func orDefault[T int | time.Duration](value, fallback T) T {
	if value <= 0 {
		return fallback
	}
	return value
}

func (o Options) wants(c clause) bool {
	return slices.Contains(o.Levels, c.level) && (o.Clauses == nil || slices.Contains(o.Clauses, c.id))
}

// Run tests a provider clause by clause, each as a sub-test "Level/clause" of t, and gives the report. A failure that
// chance has found prints the seed and the file that repeat it.
func Run(t *testing.T, factory Factory, options Options) *Report {
	t.Helper()
	s := newSession(factory, options)
	for _, level := range s.options.Levels {
		chosen := s.clauses(level)
		if len(chosen) == 0 {
			continue
		}
		t.Run(string(level), func(t *testing.T) {
			for _, c := range chosen {
				t.Run(c.id, func(t *testing.T) { tell(t, s.check(t, c)) })
			}
		})
	}
	return &s.report
}

// Check is Run without sub-tests: t does not fail for a broken clause, the report says so. t lends its context, its
// temporary folders and its name; it may be nil, for a factory that needs none of these.
func Check(t testing.TB, factory Factory, options Options) *Report {
	s := newSession(factory, options)
	for _, level := range s.options.Levels {
		for _, c := range s.clauses(level) {
			s.check(t, c)
		}
	}
	return &s.report
}

// tell makes a finding a sub-test's own.
func tell(t *testing.T, f finding) {
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
	histories map[weather]*verdict
	counter   counter
}

func newSession(factory Factory, options Options) *session {
	return &session{factory: factory, options: options.withDefaults(), histories: map[weather]*verdict{}}
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
	found := examine(tb, name, func(p *probe) {
		l := s.newLab(p)
		c.check(l)
		s.fromHistories(l, c.id)
	})
	s.report.add(c, found)
	return found
}
