package conformance_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/cloudprovider/conformance"
)

// The page over the committed reports says of each level what they say.
func TestReports(t *testing.T) {
	dir := filepath.Join("..", "..", "docs", "conformance")
	columns := []struct{ title, file string }{{"fake", "fake.json"}, {"aws on moto", "aws.json"}, {"aws in memory", "aws-memory.json"}}
	found, err := filepath.Glob(filepath.Join(dir, "*.json"))
	found = slices.DeleteFunc(found, func(name string) bool { return strings.HasSuffix(name, "-engine.json") }) // no levels of clauses
	if err != nil || len(found) != len(columns) {
		t.Fatalf("there are reports %q, %v; give each a column here", found, err)
	}
	var table strings.Builder
	table.WriteString("<!-- levels -->\n| level |")
	reports := make([]conformance.Report, len(columns))
	for i, c := range columns {
		data, err := os.ReadFile(filepath.Join(dir, c.file))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, &reports[i]); err != nil {
			t.Fatalf("%s: %v", c.file, err)
		}
		fmt.Fprintf(&table, " %s |", c.title)
	}
	table.WriteString("\n|" + strings.Repeat("---|", len(columns)+1) + "\n")
	for _, level := range conformance.Levels() {
		fmt.Fprintf(&table, "| %s |", level)
		for i := range reports {
			passed, all := 0, 0
			for _, r := range reports[i].Results {
				if r.Level == level {
					all++
					if r.Outcome == conformance.Passed {
						passed++
					}
				}
			}
			switch {
			case passed == 0:
				table.WriteString(" not run |")
			default:
				fmt.Fprintf(&table, " %s, %d of %d clauses |", reports[i].Level(level), passed, all)
			}
		}
		table.WriteString("\n")
	}
	table.WriteString("<!-- end -->\n")
	page := filepath.Join(dir, "README.md")
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(data), "<!-- levels -->\n")
	_, after, ended := strings.Cut(rest, "<!-- end -->\n")
	if !ok || !ended {
		t.Fatalf("%s has no table of levels", page)
	}
	want := before + table.String() + after
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, string(data)); diff != "" {
		t.Errorf("%s; refresh with -update (-want +committed):\n%s", page, diff)
	}
}
