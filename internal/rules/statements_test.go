package rules_test

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/internal/rules"
)

func TestCheckStatements(t *testing.T) {
	const unnamed = `, or list it here under "# Deliberate differences" with the reason`
	doc := "// Package a …\n//\n// # Deliberate differences\n//\n//   - X (XYZ-003 to\n//     XYZ-005) and why.\n//\n// # Next\n//\n// XYZ-002\npackage a\n// XYZ-002\n"
	tests := "package a\n// XYZ-001, XYZ-006 to XYZ-007: one, two.\nfunc TestXYZ010Names() {}\n"
	for _, c := range []struct {
		name    string
		numbers string
		files   map[string]string
		want    []string
	}{
		{"in tests and among the differences", "001 003-007 010", map[string]string{"a/doc.go": doc, "a/a_test.go": tests}, nil},
		{"in a nested module", "001 003-007 010", map[string]string{"a/doc.go": doc, "n/go.mod": "module n", "n/a_test.go": tests}, nil},
		{"outside of the differences", "001-007 010", map[string]string{"a/doc.go": doc, "a/a_test.go": tests},
			[]string{"a/doc.go: no test names XYZ-002: name it in one that would fail without it" + unnamed}},
		{"neither code nor data nor the rule itself", "001 003-005", map[string]string{"a/doc.go": doc, "a/a.go": tests, "a/testdata/a_test.go": tests, "rules/a_test.go": tests},
			[]string{"a/doc.go: no test names XYZ-001: name it in one that would fail without it" + unnamed}},
		{"numbers that are not there", "001 004-007", map[string]string{"a/doc.go": doc, "a/a_test.go": tests},
			[]string{"a/a_test.go: names XYZ-010, and there is no such statement", "a/doc.go: names XYZ-003, and there is no such statement"}},
		{"no list of differences", "001 006-007 010", map[string]string{"a/a_test.go": tests}, []string{"a/doc.go: is to list deliberate differences, and is not there"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			fsys := make(fstest.MapFS)
			for name, text := range c.files {
				fsys[name] = &fstest.MapFile{Data: []byte(text)}
			}
			faults, err := rules.CheckStatements(fsys, []rules.Statements{{Prefix: "XYZ", Numbers: c.numbers, Differences: []string{"a/doc.go"}}}, "rules")
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range faults {
				got = append(got, f.String())
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("ranges that are none", func(t *testing.T) {
		for _, numbers := range []string{"x", "5-3", "1-x"} {
			if _, err := rules.CheckStatements(fstest.MapFS{}, []rules.Statements{{Prefix: "XYZ", Numbers: numbers}}); err == nil {
				t.Errorf("%q was taken for a range", numbers)
			}
		}
	})
}
