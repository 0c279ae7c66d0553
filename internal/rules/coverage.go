package rules

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var (
	checklistRow = regexp.MustCompile(`^S[0-3]-[0-9]{3}$`)
	openProof    = regexp.MustCompile(`^open: issue [2-9]$`)
)

// CheckCoverage finds rows of docs/coverage.md without a valid proof. The first cell of a row is the id of a line in the checklist. The
// last cell is the proof, with each of these in backquotes: tests as `package: TestName` or `package: TestName "case"`, commands as `$ go
// run ./…`, sections of documents as `docs/NAME.md#heading`. Instead, the proof can be "open: issue N" with the title number of an open
// issue. The tests must exist in the tree, and the cases in the tests of the package. The headings must be in documents, which maps paths
// to text. Each row must be unique.
func CheckCoverage(t *Tree, documents map[string]string, coverage string) []Fault {
	packages := t.packages()
	var faults []Fault
	seen := make(map[string]int)
	for n, line := range lines(coverage) {
		cells := tableRow(line)
		if len(cells) == 0 || !checklistRow.MatchString(cells[0]) {
			continue
		}
		where := fmt.Sprintf("docs/coverage.md:%d", n+1)
		if first, twice := seen[cells[0]]; twice {
			faults = append(faults, fault(where, "%s is there already, on line %d", cells[0], first))
		}
		seen[cells[0]] = n + 1
		proof := cells[len(cells)-1]
		if openProof.MatchString(proof) {
			continue
		}
		tests := backquoted(proof)
		if len(tests) == 0 {
			faults = append(faults, fault(where, "%s: %q is neither a test, a command, a section nor \"open: issue N\"", cells[0], proof))
		}
		for _, test := range tests {
			if why := unproven(packages, documents, test); why != "" {
				faults = append(faults, fault(where, "%s: %s", cells[0], why))
			}
		}
	}
	if len(seen) == 0 {
		faults = append(faults, fault("docs/coverage.md", "has no row"))
	}
	return sorted(faults)
}

// unproven returns the fault of a proof in words, or "" if the proof is valid.
func unproven(packages map[string][]*File, documents map[string]string, proof string) string {
	if document, anchor, ok := strings.Cut(proof, ".md#"); ok {
		text, ok := documents[document+".md"]
		if !ok {
			return fmt.Sprintf("there is no document %s.md", document)
		}
		if !slices.Contains(anchors(text), anchor) {
			return fmt.Sprintf("%s.md has no heading #%s", document, anchor)
		}
		return ""
	}
	if command, ok := strings.CutPrefix(proof, "$ go run ./"); ok {
		dir, _, _ := strings.Cut(command, " ")
		if files := packages[dir]; len(files) == 0 || !files[0].command() {
			return fmt.Sprintf("there is no command %s", dir)
		}
		return ""
	}
	dir, test, ok := strings.Cut(proof, ": ")
	if !ok {
		return fmt.Sprintf("%q is no proof: write `package: TestName`, `$ go run ./…` or `document.md#heading`", proof)
	}
	files, ok := packages[dir]
	if !ok {
		return fmt.Sprintf("there is no package %s", dir)
	}
	name, quoted, hasCase := strings.Cut(test, " ")
	if !testFunctions(files)[name] {
		return fmt.Sprintf("package %s has no test %s", dir, name)
	}
	if hasCase && !stringLiterals(files)[unquote(quoted)] {
		return fmt.Sprintf("no test of package %s has a case %s", dir, quoted)
	}
	return ""
}
