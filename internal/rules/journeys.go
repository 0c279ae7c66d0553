package rules

import (
	"fmt"
	"go/ast"
	"go/doc"
	"strings"
)

// CheckJourneys finds rows of the table of Examples (docs/examples.md) without an Example. The second cell of a row is `package:
// ExampleName`, where "." means the root package. The Example must exist. It must also state its output, because "go test" does not run an
// Example without an output.
func CheckJourneys(t *Tree, name, page string) []Fault {
	packages := t.packages()
	var faults []Fault
	rows := 0
	for n, line := range lines(page) {
		cells := tableRow(line)
		if len(cells) < 2 || len(backquoted(cells[1])) == 0 {
			continue
		}
		rows++
		for _, example := range backquoted(cells[1]) {
			if why := notRun(packages, example); why != "" {
				faults = append(faults, fault(fmt.Sprintf("%s:%d", name, n+1), "%s", why))
			}
		}
	}
	if rows == 0 {
		faults = append(faults, fault(name, "has no row"))
	}
	return faults
}

// notRun says why "go test" does not run the named Example, or returns "" if it runs the Example.
func notRun(packages map[string][]*File, example string) string {
	dir, function, ok := strings.Cut(example, ": ")
	suffix, isExample := strings.CutPrefix(function, "Example")
	if !ok || !isExample {
		return example + " is no Example: write `package: ExampleName`"
	}
	if dir == "." {
		dir = ""
	}
	var tests []*ast.File
	for _, f := range packages[dir] {
		if f.Test {
			tests = append(tests, f.Syntax)
		}
	}
	for _, e := range doc.Examples(tests...) {
		switch {
		case e.Name != suffix:
		case e.Output == "" && !e.EmptyOutput:
			return example + " is not run: let it end with // Output"
		default:
			return ""
		}
	}
	return example + " is not there"
}
