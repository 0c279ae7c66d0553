package simulate

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/commands/simulate/internal/gate"
	"github.com/drawknife/drawknife/internal/rules"
)

// The page on the gate shows what is printed, the policy that is used, and all rules and statuses. Each of its commands runs.
func TestGatePage(t *testing.T) {
	const page = "../../docs/gate.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	policy, err := os.ReadFile("testdata/gate/budget.yaml")
	if err != nil {
		t.Fatal(err)
	}
	printed, statuses := runGateCommands(t, string(text))
	if diff := cmp.Diff([]int{gate.StatusSeveral, gate.StatusSeveral}, statuses); diff != "" {
		t.Fatalf("statuses of the page's commands (-want +got):\n%s", diff)
	}
	got, err := rules.SetFence(string(text), "<!-- gate -->", "text", printed)
	if err != nil {
		t.Fatal(err)
	}
	if got, err = rules.SetFence(got, "<!-- policy -->", "yaml", string(policy)); err != nil {
		t.Fatal(err)
	}
	var ruleRows, statusRows strings.Builder
	for _, r := range gate.Rules() {
		var limits []string
		for _, l := range r.Limits {
			limits = append(limits, "`"+l.Field+"`")
		}
		fmt.Fprintf(&ruleRows, "| `%s` | %s | %s |\n", r.Name, strings.Join(limits, ", "), r.About)
	}
	for _, s := range policyStatuses() {
		fmt.Fprintf(&statusRows, "| %d | %s |\n", s.Code, strings.TrimPrefix(s.Meaning, "with --policy: "))
	}
	got = setRows(t, setRows(t, got, "<!-- rules -->", ruleRows.String()), "<!-- statuses -->", statusRows.String())
	if *update {
		if err := os.WriteFile(page, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(text), got); diff != "" && !*update {
		t.Errorf("refresh with -update (-shown +printed):\n%s", diff)
	}
}

// setRows replaces the rows of a table. The marker is before the table, and the rows follow the second line.
func setRows(t *testing.T, page, marker, rows string) string {
	t.Helper()
	before, rest, found := strings.Cut(page, marker+"\n")
	lines := strings.SplitAfterN(rest, "\n", 3)
	if !found || len(lines) != 3 {
		t.Fatalf("the page has no %s", marker)
	}
	after := lines[2]
	for strings.HasPrefix(after, "|") {
		_, after, _ = strings.Cut(after, "\n")
	}
	return before + marker + "\n" + lines[0] + lines[1] + rows + after
}

// runGateCommands runs the lines of the page that begin with "drawknife diff" in a folder with the files that they name. It returns what the
// first one prints, and the statuses of all.
func runGateCommands(t *testing.T, page string) (first string, statuses []int) {
	dir := t.TempDir()
	for _, name := range []string{"main.yaml", "pr.yaml", "budget.yaml"} {
		text, err := os.ReadFile(filepath.Join("testdata/gate", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	defer t.Chdir(here)
	for line := range strings.Lines(page) {
		if args, found := strings.CutPrefix(strings.TrimSpace(line), "drawknife diff "); found {
			got := ask(t, "diff", strings.Fields(args)...)
			statuses = append(statuses, got.code)
			if len(statuses) == 1 {
				first = got.stdout
			}
		}
	}
	return first, statuses
}
