// Package seeded checks properties with the same random inputs in each run, so that a test fails only because of a change of the code.
// rapid's own flags draw other inputs, for example:
//
//	go test ./scheduling -run TestPlansAreComplete -rapid.checks 10000 -rapid.seed 7
//
// With -rapid.seed 0, the seed differs each time.
package seeded

import (
	"flag"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// Check checks a property like rapid.Check, with a fixed seed.
func Check(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	check(t, map[string]int{"rapid.seed": 1}, property)
}

// Times does what Check does, with the given number of draws. With -short, rapid makes only a fifth of these draws.
func Times(t *testing.T, draws int, property func(*rapid.T)) {
	t.Helper()
	check(t, map[string]int{"rapid.seed": 1, "rapid.checks": draws}, property)
}

// Fix sets rapid's seed to the fixed seed until the test ends. Use it if another package checks the properties, for example the conformance
// kit.
func Fix(t testing.TB) {
	t.Helper()
	t.Cleanup(set(t, map[string]int{"rapid.seed": 1}))
}

func check(t *testing.T, flags map[string]int, property func(*rapid.T)) {
	t.Helper()
	defer set(t, flags)()
	rapid.Check(t, property)
}

// set sets rapid's flags, except the flags on the command line. It returns a function that restores the flags. Flags apply to the whole
// process, so tests that run in parallel must not use this function.
func set(t testing.TB, flags map[string]int) (undo func()) {
	t.Helper()
	given := map[string]bool{}
	flag.Visit(func(f *flag.Flag) { given[f.Name] = true })
	before := map[string]string{}
	for name, value := range flags {
		if given[name] {
			continue
		}
		f := flag.Lookup(name)
		before[name] = f.Value.String()
		if err := f.Value.Set(strconv.Itoa(value)); err != nil {
			t.Fatal(err)
		}
	}
	return func() {
		for name, value := range before {
			_ = flag.Lookup(name).Value.Set(value)
		}
	}
}
