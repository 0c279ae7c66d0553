package main

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/commands/simulate"
)

// Each session of docs/sessions.md shows what its command prints, and each command that needs neither an account nor a controller has a session.
func TestSessions(t *testing.T) {
	const page = "docs/sessions.md"
	t.Chdir("../..")
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	session := regexp.MustCompile("(?s)```console\\n\\$ drawknife ([^\\n]*)\\n.*?```\\n")
	got := session.ReplaceAllStringFunc(string(text), func(shown string) string {
		line := session.FindStringSubmatch(shown)[1]
		return "```console\n$ drawknife " + line + "\n" + printed(t, line) + "```\n"
	})
	if *update {
		if err := os.WriteFile(page, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(text), got); diff != "" && !*update {
		t.Errorf("refresh with -update (-shown +printed):\n%s", diff)
	}
	for _, g := range groups(simulate.Options{}) {
		for _, c := range g.commands {
			if !strings.Contains(got, "$ drawknife "+c.Name+" ") && !slices.Contains([]string{"verify-migration", "capacity-blocks", "top"}, c.Name) {
				t.Errorf("the page has no session of %s", c.Name)
			}
		}
	}
}

// printed returns what a command line prints to standard output. Durations of planning are left out, because they differ. The line may end
// with "| head -N".
func printed(t *testing.T, line string) string {
	t.Helper()
	line, lines, cut := strings.Cut(line, " | head -")
	answer := drawknife(strings.Fields(line)...) // the status is 2 if pods have no place
	if answer.status != 0 && answer.status != 2 {
		t.Fatalf("drawknife %s: %+v", line, answer)
	}
	out := regexp.MustCompile(`(?m)^(Planned|Replayed|Compiled) in .*\n`).ReplaceAllString(answer.stdout, "")
	if !cut {
		return out
	}
	most, err := strconv.Atoi(lines)
	if err != nil {
		t.Fatal(err)
	}
	all := strings.SplitAfterN(out, "\n", most+1)
	return strings.Join(all[:min(most, len(all))], "")
}
