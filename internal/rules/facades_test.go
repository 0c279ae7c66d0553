package rules_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/drawknife/drawknife/internal/rules"
)

func TestCheckFacades(t *testing.T) {
	methods := func(pkg string, n int) string {
		var b strings.Builder
		fmt.Fprintf(&b, "package %s\n\ntype T struct{}\n", pkg)
		for i := range n {
			fmt.Fprintf(&b, "func (t *T) M%02d() {}\n", i)
		}
		return b.String()
	}
	many := files{}
	for i := range 26 {
		many[fmt.Sprintf("disruption/f%02d.go", i)] = "package disruption\n"
	}
	for name, c := range map[string]struct {
		tree files
		then map[string]int
		want []string
	}{
		"as it is":            {files{"disruption/a.go": methods("disruption", 15), "internal/consolidate/x/a.go": methods("x", 40)}, nil, nil},
		"too many files":      {many, nil, []string{"disruption/f25.go: disruption has 26 files, and at most 25: move what users don't touch to a room"}},
		"too many methods":    {files{"disruption/a.go": methods("disruption", 16)}, nil, []string{"disruption/a.go:19: disruption.T has 16 methods, and at most 15: give part of it a type of its own"}},
		"too many in a room":  {files{"internal/consolidate/x/a.go": methods("x", 41)}, nil, []string{"internal/consolidate/x/a.go:44: internal/consolidate/x.T has 41 methods, and at most 40: give part of it a type of its own"}},
		"as many as then":     {files{"internal/consolidate/x/a.go": methods("x", 41)}, map[string]int{"internal/consolidate/x.T": 41}, nil},
		"fewer than recorded": {files{"internal/consolidate/x/a.go": methods("x", 9)}, map[string]int{"internal/consolidate/x.T": 41}, []string{"internal/consolidate/x/a.go:12: internal/consolidate/x.T has 9 methods, and 41 are recorded: record fewer, or give part of it a type of its own"}},
	} {
		t.Run(name, func(t *testing.T) {
			wantFaults(t, c.want, rules.CheckFacades(c.tree.parse(t), []string{"disruption"}, []string{"internal/consolidate"}, c.then))
		})
	}
}

// TestFacades holds disruption and the rooms behind it to their size.
func TestFacades(t *testing.T) {
	tree, err := rules.ParseTree(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	report(t, rules.CheckFacades(tree, []string{"disruption", "disruption/decision"}, []string{"internal/consolidate"}, map[string]int{
		"disruption.RefuseEffects": 17, // a method for each effect
	}))
}
