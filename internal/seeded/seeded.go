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

// check sets rapid's flags, but those that were given to the test, for the time of one property. Flags belong to the process:
// tests that run side by side must not use them.
func check(t *testing.T, flags map[string]int, property func(*rapid.T)) {
	t.Helper()
	given := map[string]bool{}
	flag.Visit(func(f *flag.Flag) { given[f.Name] = true })
	for name, value := range flags {
		if given[name] {
			continue
		}
		f := flag.Lookup(name)
		before := f.Value.String()
		if err := f.Value.Set(strconv.Itoa(value)); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Value.Set(before) }()
	}
	rapid.Check(t, property)
}
