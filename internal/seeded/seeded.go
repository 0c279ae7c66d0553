// Package seeded checks properties with the same drawn inputs each time, so that a test fails because of a change of the code and
// of nothing else. Others are drawn with rapid's own flags, for example:
//
//	go test ./scheduling -run TestPlansAreComplete -rapid.checks 10000 -rapid.seed 7
//
// or -rapid.seed 0 for a seed that differs each time.
package seeded

import (
	"flag"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// Check is rapid.Check with a fixed seed.
func Check(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	check(t, map[string]int{"rapid.seed": 1}, property)
}

// Times is Check with so many draws; a fifth of them with -short, as always with rapid.
func Times(t *testing.T, draws int, property func(*rapid.T)) {
	t.Helper()
	check(t, map[string]int{"rapid.seed": 1, "rapid.checks": draws}, property)
}

// Fix gives properties that the test has checked by others, as by the conformance kit, the fixed seed, until it ends.
func Fix(t testing.TB) {
	t.Helper()
	t.Cleanup(set(t, map[string]int{"rapid.seed": 1}))
}

func check(t *testing.T, flags map[string]int, property func(*rapid.T)) {
	t.Helper()
	defer set(t, flags)()
	rapid.Check(t, property)
}

// set sets rapid's flags, but those that were given to the test, and returns what sets them back. Flags belong to the process:
// tests that run side by side must not use them.
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
