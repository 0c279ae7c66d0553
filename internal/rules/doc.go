// Package rules holds the source tree to the project's rules: which package may import which, what a planner may not do,
// what must be documented, and that what the documents say of the code is so. Each rule is a function from files to
// faults; the package's tests show that each can find a fault and then run all of them on the repository:
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
	// Where is a file of the tree, with a line if it is known.
	Where string
	// What is wrong, and what to do.
	What string
}

// String is "where: what".
func (f Fault) String() string { return f.Where + ": " + f.What }

func fault(where, format string, args ...any) Fault {
	return Fault{Where: where, What: fmt.Sprintf(format, args...)}
}

// sorted puts faults in the order of the tree, whatever order they were found in.
func sorted(faults []Fault) []Fault {
	slices.SortFunc(faults, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.Where, b.Where), cmp.Compare(a.What, b.What))
	})
	return faults
}
