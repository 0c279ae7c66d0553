package rules_test

import (
	"strings"
	"testing"

	"github.com/drawknife/drawknife/internal/rules"
)

func TestCheckDrawing(t *testing.T) {
	tree := files{
		"disruption/x.go":         imports("disruption", "scheduling", "api/v1", "cloudprovider"),
		"scheduling/x.go":         imports("scheduling", "cloudprovider", "internal/engine/packing", "scheduling/pods"),
		"scheduling/pods/x.go":    imports("pods", "api/v1"),
		"scheduling/x_test.go":    imports("scheduling", "fake"),
		"cloudprovider/x.go":      imports("cloudprovider", "api/requirements"),
		"api/requirements/x.go":   imports("requirements", "api/v1"),
		"aws/convert/x.go":        imports("convert", "aws/api/v1", "internal/printable"),
		"internal/printable/x.go": "package printable",
	}.parse(t)
	drawing := rules.DrawImports(tree)
	want := `    disruption --> scheduling
    scheduling --> engine
    scheduling --> cloudprovider
    cloudprovider --> requirements
    convert --> objects
    requirements --> objects
`
	if !strings.HasSuffix(drawing, "\"]\n"+want) {
		t.Errorf("want arrows\n%sgot\n%s", want, drawing)
	}
	page := "# P\n<!-- imports -->\n```mermaid\n" + drawing + "```\n"
	for name, c := range map[string]struct {
		page string
		want []string
	}{
		"as it is":       {page, nil},
		"no drawing":     {"# P\n", []string{"p.md: no line <!-- imports -->"}},
		"arrow lacking":  {strings.Replace(page, "    scheduling --> engine\n", "", 1), []string{`p.md: the drawing of imports lacks "scheduling --> engine"`}},
		"arrow too many": {strings.Replace(page, "    convert -->", "    fake --> objects\n    convert -->", 1), []string{`p.md: the drawing of imports has "fake --> objects", which is not so`}},
	} {
		t.Run(name, func(t *testing.T) {
			wantFaults(t, c.want, rules.CheckDrawing(tree, "p.md", c.page))
		})
	}
}

func TestCheckFloorTable(t *testing.T) {
	page := read(t, "docs/architecture.md")
	for name, c := range map[string]struct {
		change [2]string
		want   []string
	}{
		"as it is":      {[2]string{"", ""}, nil},
		"no table":      {[2]string{"<!-- floors -->", ""}, []string{"p.md: no line <!-- floors -->"}},
		"package gone":  {[2]string{"`disruption`", ""}, []string{"p.md: the table of floors lacks disruption, which is on floor 5"}},
		"package moved": {[2]string{"| 4 | ", "| 4 | `fake`, "}, []string{"p.md: the table of floors has fake on floor 4; it is on floor 5"}},
		"one too many":  {[2]string{"| 3 | ", "| 3 | `gone`, "}, []string{"p.md: the table of floors has gone, which internal/rules/floors.go does not"}},
	} {
		t.Run(name, func(t *testing.T) {
			text := page
			if c.change[0] != "" {
				before, table, _ := strings.Cut(page, "\n<!-- floors -->\n")
				switch name {
				case "no table":
					text = before
				case "package moved":
					text = before + "\n<!-- floors -->\n" + strings.Replace(strings.Replace(table, "`fake`", "", 1), c.change[0], c.change[1], 1)
				default:
					text = before + "\n<!-- floors -->\n" + strings.Replace(table, c.change[0], c.change[1], 1)
				}
			}
			wantFaults(t, c.want, rules.CheckFloorTable("p.md", text))
		})
	}
}

func TestCheckMermaid(t *testing.T) {
	for name, c := range map[string]struct {
		drawing string
		want    []string
	}{
		"flowchart": {"flowchart TD\n    a[\"A (1)\"] --> b{\"B?\"}\n    b -->|\"yes\"| c([\"C\"]) --> a\n    subgraph s[\"S\"]\n        d\n    end\n", nil},
		"states":    {"stateDiagram-v2\n    [*] --> A: begins\n    A --> [*]\n", nil},
		"sequence":  {"sequenceDiagram\n    participant a as A b\n    a->>b: asks\n    loop each\n        b-->>a: answers\n    end\n", nil},
		"text":      {"flowchart TD\n    a --> b is next\n", []string{`p.md:3: "a --> b is next" is no statement of a flowchart that internal/rules/mermaid.go knows`}},
		"kind":      {"pie\n", []string{`p.md:2: a drawing begins with "pie": only flowchart, stateDiagram-v2 and sequenceDiagram are used`}},
		"bracket":   {"flowchart TD\n    a[\"A\" --> b\n", []string{`p.md:3: "a[\"A\" --> b" is no statement of a flowchart that internal/rules/mermaid.go knows`}},
		"open":      {"flowchart TD\n    subgraph s\n    a\n", []string{"p.md:5: the drawing ends inside of 1 of its blocks"}},
		"closed":    {"flowchart TD\n    end\n", []string{"p.md:3: there is no block to end"}},
	} {
		t.Run(name, func(t *testing.T) {
			wantFaults(t, c.want, rules.CheckMermaid(map[string]string{"p.md": "```mermaid\n" + c.drawing + "```\n"}))
		})
	}
	wantFaults(t, []string{"p.md: a drawing does not end"}, rules.CheckMermaid(map[string]string{"p.md": "```mermaid\nflowchart TD\n"}))
}
