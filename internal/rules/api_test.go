package rules_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/internal/rules"
)

func TestExported(t *testing.T) {
	tree := files{
		"scheduling/a.go": `package scheduling

type Model struct {
	Time, Other int
	hidden      bool
	*Base
}
type Base struct{}
type Set[T any] map[string]T
type Alias = Model
type Planner interface {
	// Plan has a comment.
	Plan(n int) error
}
func (m *Model) Solve(q string) (int, error) { return 0, nil }
func (m *Model) secret() {}
func Compile() *Model { return nil }
const A, b = 1, 2
var ErrX error
`,
		"scheduling/a_test.go":    "package scheduling\n\nfunc Test() {}\n",
		"internal/x/a.go":         "package x\n\nfunc X() {}\n",
		"cloudprovider/mock/m.go": "package mock\n\nfunc X() {}\n",
		"examples/e/main.go":      "package main\n\nfunc X() {}\n",
	}.parse(t)
	want := `A: const A
Alias: type Alias = Model
Base: type Base struct
Compile: func Compile() *Model
ErrX: var ErrX error
Model: type Model struct
Model.Base: embedded *Base
Model.Other: field Other int
Model.Solve: func (*Model) Solve(q string) (int, error)
Model.Time: field Time int
Planner: type Planner interface{Plan(n int) error}
Set: type Set[T any] map[string]T
`
	all := rules.Exported(tree)
	if diff := cmp.Diff(want, rules.FormatAPI(all["scheduling"])); diff != "" || len(all) != 1 {
		t.Errorf("%d packages; API (-want +got):\n%s", len(all), diff)
	}
	if diff := cmp.Diff(all["scheduling"], rules.ParseAPI(want)); diff != "" {
		t.Errorf("read again:\n%s", diff)
	}
}

// TestExportedAliases: a type that moved to another package, with an alias where it was, is still what it was to users.
func TestExportedAliases(t *testing.T) {
	tree := files{
		"disruption/a.go": `package disruption

import "github.com/drawknife/drawknife/disruption/decision"

type Command = decision.Command
type Other = decision.Command
type Time = time.Time
`,
		"disruption/decision/a.go": `package decision

type Command struct {
	ID string
}
func (c *Command) Pods() int { return 0 }
type Commander struct{}
`,
	}.parse(t)
	want := `Command: type Command struct
Command.ID: field ID string
Command.Pods: func (*Command) Pods() int
Other: type Other = decision.Command
Time: type Time = time.Time
`
	if diff := cmp.Diff(want, rules.FormatAPI(rules.Exported(tree)["disruption"])); diff != "" {
		t.Errorf("API (-want +got):\n%s", diff)
	}
}

func TestCheckAliases(t *testing.T) {
	alias := func(of string) string {
		return "package disruption\n\nimport \"" + rules.Module + "/" + of + "\"\n\ntype Command = decision.Command\n"
	}
	for _, c := range []ruleCase{
		{"of a public package", files{"disruption/a.go": alias("disruption/decision")}, nil},
		{"of an internal package, in one", files{"internal/disruption/a.go": alias("internal/decision")}, nil},
		{"of an internal package", files{"disruption/a.go": alias("internal/decision")},
			[]string{"disruption/a.go:5: Command is another name for a type of internal/decision, which users can't import: declare it here, or in a public package"}},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, rules.CheckAliases) })
	}
}

func TestCheckAPI(t *testing.T) {
	recorded := map[string]rules.API{
		"scheduling": {"Model": "type Model struct", "Model.Solve": "func (*Model) Solve()", "Gone": "func Gone()", "Old": "type Old struct", "Old.Field": "field Field int"},
		"aws/amis":   {"X": "func X()"},
	}
	now := map[string]rules.API{"scheduling": {"Model": "type Model struct", "Model.Solve": "func (*Model) Solve(int)", "New": "func New()"}}
	for _, c := range []struct {
		name, unreleased string
		want             []string
	}{
		{"nothing said", "- Gone, Solve", []string{
			"CHANGELOG.md: says nothing under Unreleased of `scheduling.Gone`, which is gone: add what to do about it",
			"CHANGELOG.md: says nothing under Unreleased of `scheduling.Model.Solve`, which is now \"func (*Model) Solve(int)\", and was \"func (*Model) Solve()\"",
			"CHANGELOG.md: says nothing under Unreleased of `scheduling.Old`, which is gone: add what to do about it",
			"CHANGELOG.md: says nothing under Unreleased of package `aws/amis`, which is gone",
		}},
		{"all said", "- `scheduling.Gone` is gone, `Model.Solve` takes a number, `Old` too; `aws/amis` has moved", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			changelog := "# Changelog\n\n## [Unreleased]\n\n" + c.unreleased + "\n\n## [0.1.0]\n\n`Gone`, `Solve`, `Old`, `aws/amis`\n"
			var got []string
			for _, f := range rules.CheckAPI(recorded, now, changelog) {
				got = append(got, f.String())
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCheckStability(t *testing.T) {
	for _, c := range []ruleCase{
		{"said", files{"scheduling/a.go": "// Package scheduling plans.\n//\n// Stability: beta.\npackage scheduling\n", "internal/x/x.go": "package x\n"}, nil},
		{"not said", files{"scheduling/a.go": "// Package scheduling plans.\npackage scheduling\n"},
			[]string{`scheduling/a.go: the comment of package scheduling must have a paragraph "Stability: stable." or "Stability: beta.": docs/packages.md says which`}},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, rules.CheckStability) })
	}
}

var updateAPI = flag.Bool("update-api", false, "record the exported API as the baseline of the next release")

// TestAPI compares what this very tree exports with what the last release, or until there is one the recorded baseline, exported:
// what breaks users needs a line in the CHANGELOG that names it. With -update-api it records the present API as the baseline: only a
// release does that, so -update leaves the baseline as it is.
func TestAPI(t *testing.T) {
	tree, err := rules.ParseTree(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	const folder = "testdata/api"
	now := rules.Exported(tree)
	identifiers, fields := 0, 0
	for _, api := range now {
		for name, declaration := range api {
			if strings.HasPrefix(declaration, "field ") || strings.HasPrefix(declaration, "embedded ") {
				fields++
			} else if !strings.Contains(name, ".") {
				identifiers++
			}
		}
	}
	t.Logf("%d packages export %d functions, types, constants and variables, and %d fields", len(now), identifiers, fields)
	if *updateAPI {
		if err := os.RemoveAll(folder); err != nil {
			t.Fatal(err)
		}
		for dir, api := range now {
			file := filepath.Join(folder, filepath.FromSlash(dir)+".txt")
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(rules.FormatAPI(api)), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	report(t, rules.CheckAPI(recordedAPI(t, folder), now, read(t, "CHANGELOG.md")))
}

func recordedAPI(t *testing.T, folder string) map[string]rules.API {
	t.Helper()
	recorded := map[string]rules.API{}
	err := filepath.WalkDir(folder, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		relative, err2 := filepath.Rel(folder, strings.TrimSuffix(name, ".txt"))
		recorded[filepath.ToSlash(relative)] = rules.ParseAPI(string(text))
		if err == nil {
			err = err2
		}
		return err
	})
	if err == nil && len(recorded) == 0 {
		err = fmt.Errorf("%s is empty", folder)
	}
	if err != nil {
		t.Fatalf("reading the baseline: %v", err)
	}
	return recorded
}
