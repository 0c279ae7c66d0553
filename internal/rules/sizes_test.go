package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/drawknife/drawknife/internal/rules"
)

func TestCheckSizes(t *testing.T) {
	methods := func(pkg, receiver, name string, n int) string {
		var b strings.Builder
		b.WriteString("package " + pkg + "\n")
		for i := range n {
			fmt.Fprintf(&b, "func (x %s) %s%d() {}\n", receiver, name, i)
		}
		return b.String()
	}
	names := func(n int) string { // n that are exported: a type, a function, variables and constants
		var b strings.Builder
		b.WriteString("package scheduling\n\ntype A struct{}\n\nfunc B() {}\n\nvar c, C, D int\n\nconst (\n\td = 1\n")
		for i := range n - 4 {
			fmt.Fprintf(&b, "\tE%d = 1\n", i)
		}
		return b.String() + ")\n"
	}
	many := files{}
	for i := range 13 {
		many[fmt.Sprintf("scheduling/%c.go", 'a'+i)] = "package scheduling\n"
	}
	for _, c := range []ruleCase{
		{"few", files{"internal/engine/trial/a.go": methods("trial", "*Trial", "a", 40), "scheduling/a.go": methods("scheduling", "*Model", "A", 15),
			"scheduling/cluster/a.go": methods("cluster", "*State", "A", 60)}, nil},
		{"many in a room", files{"internal/engine/trial/a.go": methods("trial", "*Trial", "a", 41)},
			[]string{"internal/engine/trial/a.go:42: Trial has 41 methods, and may have 40: split it by question"}},
		{"many for users", files{"scheduling/a.go": methods("scheduling", "*Model", "A", 16)},
			[]string{"scheduling/a.go:17: Model has 16 exported methods, and may have 15: group them by question"}},
		{"as many names as may be", files{"scheduling/a.go": names(150), "scheduling/cluster/a.go": names(151)}, nil},
		{"too many names", files{"scheduling/a.go": names(150), "scheduling/b.go": "package scheduling\n\ntype t struct{}\n\nfunc (t) A() {}\n\nfunc B() {}\n"},
			[]string{"scheduling/b.go:7: scheduling exports more than 150 names: what users seldom write down has its name in scheduling/planning"}},
		{"many files", many,
			[]string{"scheduling/m.go: scheduling has more than 12 files: what is behind its names belongs in rooms of internal/engine"}},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, rules.CheckSizes) })
	}
}
