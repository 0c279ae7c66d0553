// Package rules checks the source tree against the project's rules: which package may import which, what a planner may not do, what must be
// documented, and that the documents agree with the code. Each rule is a function from files to faults. The tests of the package show that
// each rule can find a fault, and then run all rules on the repository:
//
//	go test ./internal/rules
package rules

import (
	"cmp"
	"fmt"
	"slices"
)

// Fault is one place where the tree breaks a rule.
type Fault struct {
	// Where is a file of the tree, with the line if it is known.
	Where string
	// What says what is wrong, and what to do.
	What string
}

// String returns "where: what".
func (f Fault) String() string { return f.Where + ": " + f.What }

func fault(where, format string, args ...any) Fault {
	return Fault{Where: where, What: fmt.Sprintf(format, args...)}
}

// sorted sorts faults by their place in the tree.
func sorted(faults []Fault) []Fault {
	slices.SortFunc(faults, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.Where, b.Where), cmp.Compare(a.What, b.What))
	})
	return faults
}
