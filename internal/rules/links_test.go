package rules_test

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/internal/rules"
)

func TestCheckLinks(t *testing.T) {
	fsys := fstest.MapFS{"docs/a.md": {}, "docs/b.md": {}, "x/y.go": {}}
	other := "# B\n## The end\n<a id=\"row-1\"></a>\n"
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"file":             {"see [y](../x/y.go)", nil},
		"folder":           {"see [x](../x)", nil},
		"web":              {"see [w](https://example.com/none.md)", nil},
		"heading":          {"see [b](b.md#the-end)", nil},
		"own heading":      {"# A\nsee [a](#a)", nil},
		"named anchor":     {"see [b](b.md#row-1)", nil},
		"line of a file":   {"see [y](../x/y.go#L3)", nil},
		"fenced":           {"```\n[y](gone.go)\n```\n", nil},
		"file that went":   {"one\nsee [y](../x/z.go)", []string{"docs/a.md:2: links to x/z.go, which is not there"}},
		"outside":          {"[y](../../z.go)", []string{"docs/a.md:1: links to ../z.go, which is not there"}},
		"heading gone":     {"[b](b.md#begin)", []string{"docs/a.md:1: links to docs/b.md#begin, and there is no such heading"}},
		"own heading gone": {"[a](#a)", []string{"docs/a.md:1: links to docs/a.md#a, and there is no such heading"}},
	} {
		t.Run(name, func(t *testing.T) {
			faults, err := rules.CheckLinks(fsys, map[string]string{"docs/a.md": c.text, "docs/b.md": other})
			if err != nil {
				t.Fatal(err)
			}
			wantFaults(t, c.want, faults)
		})
	}
}

func TestCheckNamedTests(t *testing.T) {
	tree := files{"a/a_test.go": "package a\n\nfunc TestIt() {}\n", "a/a.go": "package a\n\nfunc TestNot() {}\n"}.parse(t)
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"there":          {"by `TestIt`", nil},
		"no test's name": {"by `Tester` and `a: TestGone`", nil},
		"gone":           {"one\nby `TestGone`", []string{"docs/a.md:2: names TestGone, and there is no such test"}},
		"not in a test":  {"by `TestNot`", []string{"docs/a.md:1: names TestNot, and there is no such test"}},
	} {
		t.Run(name, func(t *testing.T) {
			wantFaults(t, c.want, rules.CheckNamedTests(tree, map[string]string{"docs/a.md": c.text}))
		})
	}
}

func wantFaults(t *testing.T, want []string, faults []rules.Fault) {
	t.Helper()
	var got []string
	for _, f := range faults {
		got = append(got, f.String())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
}
