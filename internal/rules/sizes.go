package rules

import (
	"bytes"
	"go/ast"
	"maps"
	"slices"
)

// Limits of the planner's packages and types: the methods of a type, the methods of a public type of the facade, the facade's files (not
// counting tests), and the names that the facade exports (not counting methods).
const (
	mostMethods       = 40
	mostPublicMethods = 15
	mostFacadeFiles   = 12
	mostFacadeNames   = 150
)

// CheckSizes finds types of the planner with too many methods. It also finds out whether the planner's facade has too many files or
// exported names. The facade (package scheduling) has only the names that users need. The implementation is in the rooms, the packages of
// the planner.
func CheckSizes(t *Tree) []Fault {
	var faults []Fault
	files, names := 0, 0
	for dir, list := range t.packages() {
		if dir != "scheduling" && !within(dir, engine) {
			continue
		}
		methods, public, at := make(map[string]int), make(map[string]int), make(map[string]string)
		for _, f := range list {
			if f.Test {
				continue
			}
			if dir == "scheduling" {
				if files++; files == mostFacadeFiles+1 {
					faults = append(faults, fault(f.Name, "scheduling has more than %d files: what is behind its names belongs in rooms of %s", mostFacadeFiles, engine))
				}
			}
			for _, name := range exportedNames(f.Syntax) {
				if dir != "scheduling" {
					break
				}
				if names++; names == mostFacadeNames+1 {
					faults = append(faults, fault(t.at(name), "scheduling exports more than %d names: what users seldom write down has its name in scheduling/planning", mostFacadeNames))
				}
			}
			for _, d := range f.Syntax.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok || fn.Recv == nil {
					continue
				}
				name := receiverName(fn)
				if methods[name]++; fn.Name.IsExported() {
					public[name]++
				}
				at[name] = t.at(fn)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(methods)) {
			switch {
			case dir == "scheduling" && ast.IsExported(name) && public[name] > mostPublicMethods:
				faults = append(faults, fault(at[name], "%s has %d exported methods, and may have %d: group them by question", name, public[name], mostPublicMethods))
			case methods[name] > mostMethods:
				faults = append(faults, fault(at[name], "%s has %d methods, and may have %d: split it by question", name, methods[name], mostMethods))
			}
		}
	}
	return sorted(faults)
}

// mostLines is the largest number of lines in a file that is not a test.
const mostLines = 400

// CheckFiles finds packages with too many files, and files with too many lines. Tests don't count. Generated files, and files with only a
// package comment, may have any number of lines. The map then lists, by folder or file name, the packages and files that were too large
// when the rule was made. Each value is the number of files or lines that the package or file may have. If a package or file is smaller
// than its entry, this is also a fault, so that the entry gets lowered.
func CheckFiles(t *Tree, then map[string]int) []Fault {
	var faults []Fault
	left := maps.Clone(then)
	check := func(name string, n, most int, what, cure string) {
		before, known := left[name]
		delete(left, name)
		switch {
		case known && n <= most:
			faults = append(faults, fault(name, "has %d %s: remove its entry, %d are allowed everywhere", n, what, most))
		case known && n != before:
			faults = append(faults, fault(name, "has %d %s, and %d are recorded: record fewer, or %s", n, what, before, cure))
		case !known && n > most:
			faults = append(faults, fault(name, "has %d %s, and may have %d: %s", n, what, most, cure))
		}
	}
	for dir, list := range t.packages() {
		n := 0
		for _, f := range list {
			if f.Test {
				continue
			}
			n++
			if !f.Generated && len(f.Syntax.Decls) > 0 {
				check(f.Name, bytes.Count(f.source, []byte{'\n'}), mostLines, "lines", "split it by idea")
			}
		}
		check(nameOf(dir), n, mostFiles, "files", "give part of it a package of its own, or join files that are one idea")
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		faults = append(faults, fault(name, "is gone: remove its entry"))
	}
	return sorted(faults)
}

// exportedNames returns the exported names that a file declares, except methods.
func exportedNames(f *ast.File) (out []*ast.Ident) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				out = append(out, d.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					out = append(out, spec.Name)
				case *ast.ValueSpec:
					out = append(out, spec.Names...)
				}
			}
		}
	}
	return slices.DeleteFunc(out, func(name *ast.Ident) bool { return !name.IsExported() })
}

// receiverName returns the name of the type that fn is a method of.
func receiverName(fn *ast.FuncDecl) string {
	of := fn.Recv.List[0].Type
	for {
		switch inner := of.(type) {
		case *ast.StarExpr:
			of = inner.X
		case *ast.IndexExpr:
			of = inner.X
		case *ast.IndexListExpr:
			of = inner.X
		case *ast.Ident:
			return inner.Name
		default:
			return ""
		}
	}
}
