package rules_test

import (
	"strings"
	"testing"

	"github.com/drawknife/drawknife/internal/rules"
)

func TestCheckJourneys(t *testing.T) {
	tree := files{
		"example_test.go":       "package x_test\n\nfunc Example() {\n\t// Output:\n}\n\nfunc Example_loop() {\n\tprintln()\n\t// Output: a\n}\n",
		"scheduling/x_test.go":  "package x_test\n\nfunc ExampleTrial() {\n\tprintln()\n}\n",
		"scheduling/example.go": "package x\n\nfunc ExampleNew() {\n\t// Output:\n}\n",
	}
	row := func(example string) string {
		return "| what | Example |\n|---|---|\n| a | `" + example + "` |\n"
	}
	for _, c := range []struct{ name, page, want string }{
		{"there", row(".: Example"), ""},
		{"with a suffix", row(".: Example_loop"), ""},
		{"not run", row("scheduling: ExampleTrial"), "page.md:3: scheduling: ExampleTrial is not run: let it end with // Output"},
		{"gone", row("scheduling: ExampleModel"), "page.md:3: scheduling: ExampleModel is not there"},
		{"in no test", row("scheduling: ExampleNew"), "page.md:3: scheduling: ExampleNew is not there"},
		{"no Example", row("scheduling: TestTrial"), "page.md:3: scheduling: TestTrial is no Example: write `package: ExampleName`"},
		{"no table", "text", "page.md: has no row"},
	} {
		t.Run(c.name, func(t *testing.T) {
			journeys := ruleCase{files: tree}
			if c.want != "" {
				journeys.want = strings.Split(c.want, "\n")
			}
			journeys.run(t, func(tree *rules.Tree) []rules.Fault { return rules.CheckJourneys(tree, "page.md", c.page) })
		})
	}
}
