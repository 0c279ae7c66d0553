package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/commands"
	"github.com/drawknife/drawknife/commands/simulate"
	"github.com/drawknife/drawknife/internal/rules"
)

const page = "../../docs/drawknife.md"

// What the page on the program shows is what the program prints, and its table of exit statuses is that of the commands.
func TestPage(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	got := string(text)
	for marker, args := range map[string]string{
		"<!-- explain-pod -->":  "explain pod shop/web-0 ../../commands/simulate/testdata/explain.yaml",
		"<!-- explain-node -->": "explain node node-1 ../../commands/simulate/testdata/commands/cluster.json --now 2026-01-01T00:00:00Z",
	} {
		answer := drawknife(strings.Fields(args)...)
		if answer.status != 0 {
			t.Fatalf("%s: %+v", args, answer)
		}
		if got, err = rules.SetFence(got, marker, "text", answer.stdout); err != nil {
			t.Fatal(err)
		}
	}
	const table = "<!-- exit statuses -->\n"
	before, _, found := strings.Cut(got, table)
	if !found {
		t.Fatalf("the page has no %s", table)
	}
	got = before + table + "| Command | Status | Meaning |\n|---|---|---|\n" + statuses()
	if *update {
		if err := os.WriteFile(page, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(text), got); diff != "" && !*update {
		t.Errorf("refresh with -update (-shown +printed):\n%s", diff)
	}
	compareReadme(t)
	for _, g := range groups(simulate.Options{}) {
		for _, c := range g.commands {
			if !strings.Contains(before, "| `"+c.Name+"` |") {
				t.Errorf("the page does not list %s", c.Name)
			}
		}
	}
}

// compareReadme compares the answers that README.md shows with what the program prints.
func compareReadme(t *testing.T) {
	const readme = "../../README.md"
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	got := string(text)
	for marker, args := range map[string]string{
		"<!-- explain-pod -->": "explain pod shop/web-0 ../../commands/simulate/testdata/explain.yaml",
		"<!-- diff -->":        "diff ../../commands/simulate/testdata/commands/cluster.json ../../commands/simulate/testdata/commands/pools.yaml --now 2026-01-01T00:00:00Z",
	} {
		answer := drawknife(strings.Fields(args)...)
		if answer.status != 0 {
			t.Fatalf("%s: %+v", args, answer)
		}
		if got, err = rules.SetFence(got, marker, "text", answer.stdout); err != nil {
			t.Fatal(err)
		}
	}
	if *update {
		if err := os.WriteFile(readme, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(text), got); diff != "" && !*update {
		t.Errorf("README.md: refresh with -update (-shown +printed):\n%s", diff)
	}
}

// statuses are the rows of the table. Statuses that mean the same in all commands of a group are in one row.
func statuses() string {
	var b strings.Builder
	for _, g := range groups(simulate.Options{}) {
		type status struct {
			code    int
			meaning string
		}
		of := map[status][]string{}
		var order []status
		for _, c := range withBelow(g.commands) {
			for _, s := range c.Exit {
				key := status{s.Code, s.Meaning}
				if of[key] == nil {
					order = append(order, key)
				}
				of[key] = append(of[key], "`"+c.Name+"`")
			}
		}
		for _, key := range order {
			fmt.Fprintf(&b, "| %s | %d | %s |\n", strings.Join(of[key], ", "), key.code, key.meaning)
		}
	}
	return b.String()
}

// withBelow returns the commands and those below them, with their full names.
func withBelow(list []commands.Command) []commands.Command {
	var all []commands.Command
	for _, c := range list {
		all = append(all, c)
		for _, below := range withBelow(c.Commands) {
			below.Name = c.Name + " " + below.Name
			all = append(all, below)
		}
	}
	return all
}

// The grid of the page on sweeps gives the report that the page shows.
func TestSweepPage(t *testing.T) {
	const page = "../../docs/sweep.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, grid, found := strings.Cut(string(text), "<!-- grid -->\n```yaml\n")
	grid, _, ended := strings.Cut(grid, "```")
	if !found || !ended {
		t.Fatal("the page has no grid")
	}
	cluster, err := os.ReadFile("../../commands/simulate/builtin.yaml")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"grid.yaml": grid, "blue.yaml": string(cluster), "green.yaml": strings.ReplaceAll(string(cluster), "replicas: 12", "replicas: 24")} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if got := drawknife("sweep", "shard", "grid.yaml", "--index", "0"); got.status != 0 {
		t.Fatalf("%+v", got)
	}
	report := drawknife("sweep", "reduce", "grid.yaml")
	if report.status != 0 {
		t.Fatalf("%+v", report)
	}
	t.Chdir(source)
	shown, err := rules.SetFence(string(text), "<!-- report -->", "text", report.stdout)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(page, []byte(shown), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(text), shown); diff != "" && !*update {
		t.Errorf("refresh with -update (-shown +printed):\n%s", diff)
	}
}

// source is the folder of the package: tests change the current folder.
var source = func() string {
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	return dir
}()
