package rules

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
)

// CheckHiddenCode finds init functions, because they run although no code calls them. In libraries, it also finds panics and calls that end
// the whole process.
func CheckHiddenCode(t *Tree) []Fault {
	var faults []Fault
	for _, f := range t.Files {
		if f.Test || f.Generated || f.ignored() {
			continue
		}
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv == nil && n.Name.Name == "init" {
					faults = append(faults, fault(t.at(n), "init functions run unasked: build what is needed where it is needed"))
				}
			case *ast.CallExpr:
				called := callee(f, n)
				if ends(called) && !f.command() {
					faults = append(faults, fault(t.at(n), "%s in a library takes the caller down: return an error", called))
				}
			}
			return true
		})
	}
	return sorted(faults)
}

// ends reports whether a function with this name ends the process or panics.
func ends(called string) bool {
	return called == "panic" || called == "os.Exit" || strings.HasPrefix(called, "log.Fatal") || strings.HasPrefix(called, "log.Panic")
}

// CheckPurity checks the planners and the packages of which they consist. It finds code that reads a clock, random numbers, the
// environment, files or the network, code that logs, and code that starts goroutines. The reason is that a decision may depend only on its
// arguments. Package scheduling/manifests may read files, because this is its task and it is not a planner. The engine may use random
// generators with a seed.
func CheckPurity(t *Tree) []Fault {
	outside := []string{"os", "os/exec", "io/ioutil", "net", "net/http", "math/rand", "math/rand/v2", "crypto/rand", "log", "syscall"}
	clock := []string{"time.Now", "time.Since", "time.Until", "time.Sleep", "time.After", "time.AfterFunc", "time.Tick", "time.NewTimer", "time.NewTicker"}
	seeded := []string{"New", "NewPCG", "Rand", "PCG"}
	var faults []Fault
	for _, f := range t.Files {
		if f.Test || f.ignored() || within(f.Dir, "scheduling/manifests") ||
			!within(f.Dir, "api", "cloudprovider", "internal/engine", "internal/consolidate", "scheduling", "disruption", "aws/api", "aws/convert", "aws/instancetype") {
			continue
		}
		for p, node := range f.imports() {
			if slices.Contains(outside, p) && !(p == "math/rand/v2" && within(f.Dir, engine)) {
				faults = append(faults, fault(t.at(node), "%s is pure, but imports %s: take what is needed as an argument", f.Dir, p))
			}
		}
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				name := qualified(f, sel)
				if slices.Contains(clock, name) {
					faults = append(faults, fault(t.at(n), "%s is pure, but uses %s: take the time as an argument", f.Dir, name))
				}
				if drawn, isRand := strings.CutPrefix(name, "math/rand/v2."); isRand && !slices.Contains(seeded, drawn) {
					faults = append(faults, fault(t.at(n), "%s is pure, but uses %s: draw from a generator with a seed", f.Dir, name))
				}
			}
			return true
		})
	}
	return sorted(faults)
}

// CheckState finds package-level variables that other packages can change. These are exported variables that are not errors.
func CheckState(t *Tree) []Fault {
	var faults []Fault
	for _, f := range t.Files {
		if f.Test || f.Generated || f.command() {
			continue
		}
		for _, d := range f.Syntax.Decls {
			vars, ok := d.(*ast.GenDecl)
			if !ok || vars.Tok != token.VAR {
				continue
			}
			for _, s := range vars.Specs {
				for _, name := range s.(*ast.ValueSpec).Names {
					if name.IsExported() && !strings.HasPrefix(name.Name, "Err") {
						faults = append(faults, fault(t.at(name), "%s can be changed by anyone: make it a constant or a function", name.Name))
					}
				}
			}
		}
	}
	return sorted(faults)
}

// callee returns the name of the function that is called: "panic", or "path.Function" for a function of an imported package. It returns ""
// for calls of other functions.
func callee(f *File, call *ast.CallExpr) string {
	switch fun := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		return fun.Name
	case *ast.SelectorExpr:
		return qualified(f, fun)
	}
	return ""
}

// qualified returns "path.Name" if the selector is a name of an imported package. If not, it returns "". It also works if the file imports
// the package under another name.
func qualified(f *File, sel *ast.SelectorExpr) string {
	id, ok := sel.X.(*ast.Ident)
	if !ok {
		return ""
	}
	for _, spec := range f.Syntax.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		name := path.Base(strings.TrimSuffix(p, "/v2"))
		if spec.Name != nil {
			name = spec.Name.Name
		}
		if name == id.Name {
			return p + "." + sel.Sel.Name
		}
	}
	return ""
}
