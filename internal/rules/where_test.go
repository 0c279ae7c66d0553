package rules_test

import (
	"testing"

	"github.com/drawknife/drawknife/internal/rules"
)

func TestCheckWhere(t *testing.T) {
	const head = "# P\n\n<!-- where -->\n| Question | Place |\n|---|---|\n"
	code := files{"p/a.go": "package p\n\ntype State struct{}\n\nfunc (s *State) Admits() {}\n\nfunc Free() {}\n\nconst Most = 1\n"}
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"a method, a function, a constant": {head + "| a? | [a.go](../p/a.go) `State.Admits`, [a.go](../p/a.go) `Free`; [a.go](../p/a.go) `Most` |\n", nil},
		"the table ends at an empty line":  {head + "| a? | [a.go](../p/a.go) `State` |\n\n| b? | [b.go](../p/b.go) |\n", nil},
		"what is not declared":             {head + "| a? | [a.go](../p/a.go) `Admits` |\n", []string{"docs/p.md: \"a?\": p/a.go does not declare Admits"}},
		"no such file":                     {head + "| a? | [b.go](../p/b.go) `State` |\n", []string{"docs/p.md: \"a?\": there is no file p/b.go"}},
		"a file alone":                     {head + "| a? | [a.go](../p/a.go) |\n", []string{"docs/p.md: \"a?\": name what to look at in p/a.go"}},
		"no place":                         {head + "| a? | somewhere |\n", []string{"docs/p.md: \"a?\" has no place: link a Go file and name what it declares"}},
		"no table":                         {"# P\n\n<!-- where -->\n", []string{"docs/p.md: no table after <!-- where -->"}},
		"no line that announces the table": {"# P\n", []string{"docs/p.md: no line <!-- where -->"}},
	} {
		t.Run(name, func(t *testing.T) {
			where := ruleCase{name: name, files: code, want: c.want}
			where.run(t, func(tree *rules.Tree) []rules.Fault { return rules.CheckWhere(tree, "docs/p.md", c.text) })
		})
	}
}
