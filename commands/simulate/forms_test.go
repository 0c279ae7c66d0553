package simulate

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"
)

// Each question has an answer in each form.
func TestEveryForm(t *testing.T) {
	const pools, trace = "testdata/commands/pools.yaml", "testdata/commands/trace.csv"
	for question, args := range map[string]string{
		"plan": explained, "consolidate": running, "diff": running + " " + pools, "drain": running + " --selector group=old",
		"replay": pools + " " + trace, "explain": "pod shop/web-0 " + explained,
	} {
		for _, form := range []string{"text", "wide", "markdown", "csv", "json", "yaml"} {
			got := ask(t, question, append(strings.Fields(args), "-o", form)...)
			if got.code != exitPlaced && got.code != exitUnschedulable || got.stdout == "" {
				t.Errorf("%s -o %s: status %d: %s", question, form, got.code, got.stderr)
			}
		}
	}
}

// CSV has the keys of the JSON as titles, and a row for each entry of the list.
func TestCSV(t *testing.T) {
	table, err := csv.NewReader(strings.NewReader(ask(t, "plan", explained, "-o", "csv").stdout)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	d := ask(t, "plan", explained, "-o", "json").plan(t)
	if len(table) != len(d.Nodes)+1 || strings.Join(table[0][:3], " ") != "name nodePool instanceType" {
		t.Fatalf("%d rows for %d nodes: %v", len(table), len(d.Nodes), table[0])
	}
	for i, n := range d.Nodes {
		if row := table[i+1]; row[0] != n.Name || row[2] != n.InstanceType {
			t.Errorf("%v is not %+v", row, n)
		}
	}
	if got := guarded("=cmd()"); got != "'=cmd()" {
		t.Errorf("a formula stays one: %s", got)
	}
}

// In Markdown tables are tables, lines stay lines, and what has a meaning there loses it.
func TestMarkdown(t *testing.T) {
	got := ask(t, "explain", "pod", "shop/web-0", explained, "-o", "markdown").stdout
	for _, want := range []string{
		"**Pod shop/web-0** of Deployment shop/web", "\n\n| NEXT BEST | ZONE | CAPACITY | $/H | MORE A MONTH |\n| --- | --- | --- | ---: | ---: |\n",
		`| karpenter.k8s.aws/instance-family In \[m6a, m6g, c6a, r6a\] |`, " |\n\n8 plans made.",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	var out strings.Builder
	m := &markdownWriter{to: &out}
	if _, err := m.Write([]byte("a_b <c>\n| x | y |\nend")); err != nil {
		t.Fatal(err)
	}
	if err := m.end(); err != nil || out.String() != "a\\_b \\<c\\>  \n\n| x | y |\n\nend  \n" {
		t.Errorf("%q %v", out.String(), err)
	}
	broken := &markdownWriter{to: full{}}
	if _, err := broken.Write([]byte("x\n")); err == nil {
		t.Error("a full disk is not said")
	}
}

// full is a writer without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// Wide cuts nothing short, and a terminal's width does not matter.
func TestWide(t *testing.T) {
	const unplaced = "testdata/explain.yaml"
	wide := ask(t, "plan", unplaced, "-o", "wide").stdout
	if regexp.MustCompile(`--verbose lists|\.\.\. \d+ more`).MatchString(wide) || !strings.Contains(wide, "the nodepool must state it as a label or a requirement\n") {
		t.Error(wide)
	}
}

// Quiet leaves notes out, and keeps warnings.
func TestQuiet(t *testing.T) {
	loud, quiet := ask(t, "plan", running), ask(t, "plan", running, "-q")
	if !strings.Contains(loud.stderr, ": note: ") || quiet.stderr != "" {
		t.Errorf("%q, %q", loud.stderr, quiet.stderr)
	}
	var d document
	if err := json.Unmarshal([]byte(ask(t, "plan", running, "--quiet", "-o", "json").stdout), &d); err != nil || len(d.Notes) == 0 {
		t.Errorf("the document has no notes: %v", err)
	}
	if got := ask(t, "plan", "-q", "--strict", "nowhere.yaml"); got.stderr == "" {
		t.Error("an error is not said")
	}
}
