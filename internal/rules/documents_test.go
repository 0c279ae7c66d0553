package rules_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/internal/rules"
)

func TestCheckBanned(t *testing.T) {
	good := "fmt\nk8s.io/api/core/v1\nk8s.io/client-gopher\ngithub.com/drawknife/drawknife/fake [github.com/drawknife/drawknife/fake.test]\n"
	if faults := rules.CheckBanned(good); len(faults) != 0 {
		t.Errorf("nothing banned: %v", faults)
	}
	for _, banned := range rules.Banned() {
		for _, line := range []string{banned, banned + "/tools/cache", banned + "/x [x.test]"} {
			if faults := rules.CheckBanned(good + line + "\n"); len(faults) != 1 || !strings.Contains(faults[0].What, banned) {
				t.Errorf("%s: %v", line, faults)
			}
		}
	}
}

func TestParseRequirements(t *testing.T) {
	got, err := rules.ParseRequirements("x/go.mod", []byte(`{
		"Require": [{"Path": "b.org/b"}, {"Path": "c.org/c", "Indirect": true}, {"Path": "ours.org/root"}, {"Path": "moved.org/m"}],
		"Tool": [{"Path": "a.org/cmd/a"}],
		"Replace": [
			{"Old": {"Path": "ours.org/root"}, "New": {"Path": "../"}},
			{"Old": {"Path": "moved.org/m"}, "New": {"Path": "fork.org/m", "Version": "v1.0.0"}}
		]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := rules.Requirements{GoMod: "x/go.mod", Paths: []string{"a.org/cmd/a", "b.org/b", "moved.org/m"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := rules.ParseRequirements("x/go.mod", []byte("?")); err == nil || !strings.Contains(err.Error(), "x/go.mod") {
		t.Errorf("got %v, want an error that names the file", err)
	}
}

func TestCheckDependencyReasons(t *testing.T) {
	root := rules.Requirements{GoMod: "go.mod", Paths: []string{"a.org/a", "b.org/b"}}
	nested := rules.Requirements{GoMod: "x/go.mod", Paths: []string{"b.org/b"}}
	const good = "### Root: `go.mod`\n\n| Module | For | Why |\n|---|---|---|\n" +
		"| `a.org/a` | all | the only one |\n| `b.org/b` | `more` | small |\n\n### Nested: `x/go.mod`\n\n| `b.org/b` | y | z |\n\n## Else\n\n| `c` |\n"
	for name, c := range map[string]struct {
		change [2]string
		want   string
	}{
		"all there":          {},
		"missing line":       {[2]string{"| `a.org/a` | all | the only one |\n", ""}, "go.mod requires a.org/a"},
		"line without why":   {[2]string{"| the only one |", "| |"}, "a.org/a needs what it is for"},
		"stale line":         {[2]string{"| `b.org/b` | y", "| `d.org/d` | y | z |\n| `b.org/b` | y"}, "x/go.mod does not require d.org/d"},
		"line elsewhere":     {[2]string{"### Nested: `x/go.mod`", "### Nested"}, "x/go.mod requires b.org/b"},
		"every module apart": {[2]string{"| `b.org/b` | y | z |", ""}, "x/go.mod requires b.org/b"},
	} {
		t.Run(name, func(t *testing.T) {
			text := good
			if c.change[0] != "" {
				text = strings.Replace(good, c.change[0], c.change[1], 1)
			}
			faults := rules.CheckDependencyReasons(text, []rules.Requirements{root, nested})
			if c.want == "" && len(faults) != 0 || c.want != "" && (len(faults) != 1 || !strings.HasPrefix(faults[0].What, c.want)) {
				t.Errorf("got %v, want %q", faults, c.want)
			}
		})
	}
}

func TestCheckCoverage(t *testing.T) {
	tree, err := files{
		"fake/x_test.go":          "package fake_test\n\nfunc TestStock() { run(\"runs out\") }\n\nfunc notATest() {}\n",
		"examples/simulate/m.go":  "package main\n",
		"scheduling/internal.go":  "package scheduling\n\nfunc TestNot() {}\n",
		"scheduling/some_test.go": "package scheduling\n",
	}.parse(t).With("examples/nested", files{"sub/y_test.go": "package sub\n\nfunc TestOwn() {}\n"}.parse(t))
	if err != nil {
		t.Fatal(err)
	}
	documents := map[string]string{"docs/a.md": "# A\n## The cluster's role\n```sh\n# not a heading\n```\n"}
	for row, want := range map[string]string{
		"| S0-001 | x | `fake: TestStock` |":                                    "",
		"| S0-001 | x | `fake: TestStock \"runs out\"` |":                       "",
		"| S0-001 | x | `fake: TestStock`, `$ go run ./examples/simulate -h` |": "",
		"| S0-001 | x | `examples/nested/sub: TestOwn` |":                       "",
		"| S0-001 | x | `examples/nested: TestOwn` |":                           "S0-001: there is no package examples/nested",
		"| S0-001 | x | open: issue 8 |":                                        "",
		"| S0-001 | x | `fake: TestGone` |":                                     "S0-001: package fake has no test TestGone",
		"| S0-001 | x | `fake: notATest` |":                                     "S0-001: package fake has no test notATest",
		"| S0-001 | x | `fake: TestStock \"floods\"` |":                         "S0-001: no test of package fake has a case \"floods\"",
		"| S0-001 | x | `scheduling: TestNot` |":                                "S0-001: package scheduling has no test TestNot",
		"| S0-001 | x | `gone: TestStock` |":                                    "S0-001: there is no package gone",
		"| S0-001 | x | `$ go run ./examples/gone` |":                           "S0-001: there is no command examples/gone",
		"| S0-001 | x | `$ go run ./fake` |":                                    "S0-001: there is no command fake",
		"| S0-001 | x | `docs/a.md#the-clusters-role` |":                        "",
		"| S0-001 | x | `docs/a.md#not-a-heading` |":                            "S0-001: docs/a.md has no heading #not-a-heading",
		"| S0-001 | x | `docs/b.md#a` |":                                        "S0-001: there is no document docs/b.md",
		"| S0-001 | x | `TestStock` |":                                          "S0-001: \"TestStock\" is no proof: write `package: TestName`, `$ go run ./…` or `document.md#heading`",
		"| S0-001 | x | surely |":                                               "S0-001: \"surely\" is neither a test, a command, a section nor \"open: issue N\"",
		"| S0-001 | x | open: issue 12 |":                                       "S0-001: \"open: issue 12\" is neither a test, a command, a section nor \"open: issue N\"",
		"| S0-001 | x | open: issue 8 |\n| S0-001 | y | open: issue 8 |":        "S0-001 is there already, on line 3",
		"": "has no row",
	} {
		t.Run(row, func(t *testing.T) {
			var got string
			for _, f := range rules.CheckCoverage(tree, documents, "| Row | What | Proof |\n|---|---|---|\n"+row+"\n") {
				got += f.What
			}
			if got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestFence(t *testing.T) {
	const text = "# X\n<!-- quick start -->\nsome words\n```go\npackage x\n```\n```go\nother\n```\n"
	got, err := rules.Fence(text, "<!-- quick start -->", "go")
	if err != nil || got != "package x\n" {
		t.Errorf("got %q, %v", got, err)
	}
	for name, broken := range map[string]string{
		"no marker": strings.Replace(text, "quick", "slow", 1),
		"no block":  strings.ReplaceAll(text, "```go", "```text"),
		"no end":    "\n<!-- quick start -->\n```go\npackage x\n",
	} {
		if _, err := rules.Fence(broken, "<!-- quick start -->", "go"); err == nil {
			t.Errorf("%s: no error", name)
		}
		if _, err := rules.SetFence(broken, "<!-- quick start -->", "go", ""); err == nil {
			t.Errorf("%s: no error when writing", name)
		}
	}
	changed, err := rules.SetFence(text, "<!-- quick start -->", "go", "package y\n")
	if want := strings.Replace(text, "package x", "package y", 1); err != nil || changed != want {
		t.Errorf("%v %s", err, cmp.Diff(want, changed))
	}
}

func TestCheckPackageMap(t *testing.T) {
	tree := files{
		"x.go": "package drawknife\n", "api/v1/x.go": "package v1\n", "examples/simulate/x.go": "package main\n", "api/v1/internal/y/y.go": "package y\n",
		"internal/rules/x.go": "package rules\n", "docs/x_test.go": "package docs\n", "aws/x.go": "//go:build ignore\n\npackage main\n",
	}.parse(t)
	const good = "| package | what |\n|---|---|\n| [api/v1](../api/v1) | objects |\n| [examples/simulate](../examples/simulate) | program |\n"
	for name, c := range map[string]struct{ page, want string }{
		"all there":  {good, ""},
		"missing":    {strings.Replace(good, "| [api/v1](../api/v1) | objects |\n", "", 1), "package api/v1 is not in the table of packages"},
		"too many":   {good + "| [gone](../gone) | was |\n", "gone in the table of packages is no package"},
		"other link": {good + "| [docs/x.md](docs/x.md) | text |\n", ""},
	} {
		var got string
		for _, f := range rules.CheckPackageMap(tree, c.page) {
			got += f.What
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestProgram(t *testing.T) {
	const example = "package drawknife_test\n\n// Do it.\nfunc Example() {\n\tf()\n\t// Output:\n\t// one\n\t// two\n}\n\nfunc f() {}\n"
	program, output, err := rules.Program(example)
	if err != nil {
		t.Fatal(err)
	}
	if want := "package main\n\n// Do it.\nfunc main() {\n\tf()\n}\n\nfunc f() {}\n"; program != want {
		t.Errorf("program: %s", cmp.Diff(want, program))
	}
	if want := "one\ntwo\n"; output != want {
		t.Errorf("output: %s", cmp.Diff(want, output))
	}
	for _, missing := range []string{"package drawknife_test\n", "func Example() {\n", "\t// Output:\n"} {
		if _, _, err := rules.Program(strings.Replace(example, missing, "", 1)); err == nil {
			t.Errorf("without %q: no error", missing)
		}
	}
}
