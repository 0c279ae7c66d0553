package rules_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/internal/rules"
)

// page is a page of the specification with these statements; those that begin with a ~ are marked as different.
func page(prefix string, numbers ...string) string {
	var b strings.Builder
	for _, n := range numbers {
		mark := ""
		if strings.HasPrefix(n, "~") {
			n, mark = n[1:], " ([differs](../differences.md#x))"
		}
		fmt.Fprintf(&b, "<a id=\"%s-%s\"></a>**%s-%s**%s says something.\n\n", strings.ToLower(prefix), n, prefix, n, mark)
	}
	return b.String()
}

func TestCheckStatements(t *testing.T) {
	const unnamed = ": name it in one that would fail without it, or link it to the reason in docs/differences.md"
	tests := "package a\n// XYZ-001, XYZ-006 to XYZ-007: one, two.\nfunc TestXYZ010Names() {}\n"
	for _, c := range []struct {
		name  string
		page  string
		files map[string]string
		want  []string
	}{
		{"in tests and among the differences", page("XYZ", "001", "~003", "006", "007", "010"), map[string]string{"a/a_test.go": tests}, nil},
		{"in a nested module", page("XYZ", "001", "~003", "006", "007", "010"), map[string]string{"n/go.mod": "module n", "n/a_test.go": tests}, nil},
		{"nowhere", page("XYZ", "001", "002", "006", "007", "010"), map[string]string{"a/a_test.go": tests},
			[]string{"p.md:3: no test names XYZ-002" + unnamed}},
		{"neither code nor data nor the rule itself", page("XYZ", "001"), map[string]string{"a/a.go": tests, "a/testdata/a_test.go": tests, "rules/a_test.go": tests},
			[]string{"p.md:1: no test names XYZ-001" + unnamed}},
		{"numbers that are not there", page("XYZ", "001", "006", "007"), map[string]string{"a/a_test.go": tests},
			[]string{"a/a_test.go: names XYZ-010, and there is no such statement"}},
		{"numbers that are there twice", page("XYZ", "001", "006", "007", "010", "006"), map[string]string{"a/a_test.go": tests},
			[]string{"p.md:9: another statement has the number XYZ-006"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			fsys := fstest.MapFS{"p.md": {Data: []byte(c.page)}}
			for name, text := range c.files {
				fsys[name] = &fstest.MapFile{Data: []byte(text)}
			}
			faults, err := rules.CheckStatements(fsys, []rules.Statements{{Prefix: "XYZ", Pages: []string{"p.md"}}}, "rules")
			if err != nil {
				t.Fatal(err)
			}
			wantFaults(t, c.want, faults)
		})
	}
	t.Run("optional", func(t *testing.T) {
		fsys := fstest.MapFS{
			"p.md": {Data: []byte(page("OPP", "1", "12"))}, "q.md": {Data: []byte(page("OPP", "01", "20"))},
			"a/a_test.go": {Data: []byte("// OPP-20, OPP-21\n")},
		}
		faults, err := rules.CheckStatements(fsys, []rules.Statements{{Prefix: "OPP", Pages: []string{"p.md", "q.md"}, Optional: true}})
		if err != nil {
			t.Fatal(err)
		}
		wantFaults(t, []string{"a/a_test.go: names OPP-21, and there is no such statement"}, faults)
	})
	t.Run("a page that is not there", func(t *testing.T) {
		if _, err := rules.CheckStatements(fstest.MapFS{}, []rules.Statements{{Prefix: "XYZ", Pages: []string{"p.md"}}}); err == nil {
			t.Error("no error")
		}
	})
}

func TestCheckCitations(t *testing.T) {
	fsys := fstest.MapFS{
		"a/a.go": {Data: []byte("// As XYZ-001 and XYZ-002 to XYZ-004 say.\n")}, "a/a_test.go": {Data: []byte("// XYZ-001\n")},
		"b/b.go": {Data: []byte("// As XYZ-0011 and ZYX-001 don't say.\n")}, "rules/a.go": {Data: []byte("// XYZ-001\n")},
	}
	counts, err := rules.CountCitations(fsys, []rules.Statements{{Prefix: "XYZ"}}, "rules")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int{"a": 3}, counts); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	wantFaults(t, nil, rules.CheckCitations("c", map[string]int{"a": 3, "gone": 1}, counts))
	wantFaults(t, []string{"c: code in a names 3 statements of the specification, and may name 2: say it in words, or link to docs/differences.md"},
		rules.CheckCitations("c", map[string]int{"a": 2}, counts))
}

// TestCitations counts what this very tree's code names of the specification, folder by folder: the numbers may only fall.
func TestCitations(t *testing.T) {
	const file = "internal/rules/testdata/citations.txt"
	counts, err := rules.CountCitations(os.DirFS(root), rules.Specification(), "internal/rules")
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		var b strings.Builder
		for _, dir := range slices.Sorted(maps.Keys(counts)) {
			fmt.Fprintf(&b, "%s %d\n", dir, counts[dir])
		}
		if err := os.WriteFile(filepath.Join(root, file), []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	recorded := make(map[string]int)
	for line := range strings.Lines(read(t, file)) {
		var dir string
		var n int
		if _, err := fmt.Sscanf(line, "%s %d", &dir, &n); err != nil {
			t.Fatalf("%s: %q: %v", file, line, err)
		}
		recorded[dir] = n
	}
	report(t, rules.CheckCitations(file, recorded, counts))
}
