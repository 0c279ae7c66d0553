package rules

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"
)

// CheckOptions finds options that no one can set: exported fields of Options structs in packages below outer (for example "aws") that no
// code outside their own package sets. Tests don't count. If package outer has a field with such an Options struct as its type, users can
// set all fields of the struct. reasons lists the fields that may stay unset, such as "aws/prices.FeedOptions.Now", with a reason for each.
// A reason for a field that code sets, or that does not exist, is also a fault.
func CheckOptions(t *Tree, outer string, reasons map[string]string) []Fault {
	fields := optionFields(t, outer)
	set := make(map[string]bool)
	for _, f := range t.Files {
		if !f.Test {
			setIn(f, outer, fields, set)
		}
	}
	var faults []Fault
	used := make(map[string]bool)
	for _, o := range fields {
		name := o.dir + "." + o.structure + "." + o.field
		reason, excused := reasons[name]
		switch {
		case set[name] && excused:
			faults = append(faults, fault(o.at, "%s is set outside its package: take it off the list of those that are not (%s)", name, reason))
		case !set[name] && !excused:
			faults = append(faults, fault(o.at, "%s is set by nothing outside its package: make it reachable through package %s, or say why not", name, outer))
		}
		used[name] = true
	}
	for name := range reasons {
		if !used[name] {
			faults = append(faults, fault("internal/rules", "%s is listed as an option that nothing sets, and is no option", name))
		}
	}
	return sorted(faults)
}

// option is an exported field of a struct whose name ends in Options. The string at is the file and line of the field.
type option struct{ dir, structure, field, at string }

func optionFields(t *Tree, outer string) []option {
	var out []option
	for _, f := range t.Files {
		if f.Test || f.Generated || !strings.HasPrefix(f.Dir, outer+"/") || within(f.Dir, outer+"/api") {
			continue // users set the fields of API objects themselves
		}
		for _, d := range f.Syntax.Decls {
			types, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, s := range types.Specs {
				spec, ok := s.(*ast.TypeSpec)
				if !ok || !spec.Name.IsExported() || !strings.HasSuffix(spec.Name.Name, "Options") {
					continue
				}
				structure, ok := spec.Type.(*ast.StructType)
				if !ok {
					continue
				}
				for _, field := range structure.Fields.List {
					for _, name := range field.Names {
						if name.IsExported() {
							out = append(out, option{f.Dir, spec.Name.Name, name.Name, t.at(name)})
						}
					}
				}
			}
		}
	}
	return out
}

// setIn adds the options that a file sets to the map set. A file sets an option by name in a literal or an assignment, or as the target of
// a flag. It sets all fields at once if a struct has a field of the Options type.
func setIn(f *File, outer string, fields []option, set map[string]bool) {
	names := make(map[string]string) // the names by which this file imports the packages, by directory
	for p, node := range f.imports() {
		dir, ours := strings.CutPrefix(p, Module+"/")
		if !ours || !strings.HasPrefix(dir, outer+"/") || dir == f.Dir {
			continue
		}
		names[dir] = path.Base(dir)
		if spec, ok := node.(*ast.ImportSpec); ok && spec.Name != nil {
			names[dir] = spec.Name.Name
		}
	}
	if len(names) == 0 {
		return
	}
	is := func(e ast.Expr, o option) bool {
		for {
			switch inner := e.(type) {
			case *ast.StarExpr:
				e = inner.X
				continue
			case *ast.ArrayType:
				e = inner.Elt
				continue
			case *ast.IndexExpr:
				e = inner.X
				continue
			case *ast.IndexListExpr:
				e = inner.X
				continue
			}
			break
		}
		sel, ok := e.(*ast.SelectorExpr)
		if !ok || sel.Sel.Name != o.structure {
			return false
		}
		pkg, ok := sel.X.(*ast.Ident)
		return ok && pkg.Name == names[o.dir]
	}
	here := slices.DeleteFunc(slices.Clone(fields), func(o option) bool { return names[o.dir] == "" })
	mark := func(o option) { set[o.dir+"."+o.structure+"."+o.field] = true }
	written := func(e ast.Expr) {
		sel, ok := e.(*ast.SelectorExpr)
		if !ok {
			return
		}
		for _, o := range here {
			if sel.Sel.Name == o.field {
				mark(o)
			}
		}
	}
	ast.Inspect(f.Syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			for _, o := range here {
				if n.Type != nil && is(n.Type, o) && slices.ContainsFunc(n.Elts, func(e ast.Expr) bool { return keyed(e, o.field) }) {
					mark(o)
				}
			}
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				written(left)
			}
		case *ast.UnaryExpr:
			if n.Op == token.AND { // code takes the field's address, for example to let a flag set the field
				written(n.X)
			}
		case *ast.StructType:
			for _, field := range n.Fields.List {
				exported := slices.ContainsFunc(field.Names, func(name *ast.Ident) bool { return name.IsExported() })
				for _, o := range here {
					if exported && is(field.Type, o) {
						mark(o)
					}
				}
			}
		}
		return true
	})
}

// keyed reports whether the element e of a composite literal sets the field.
func keyed(e ast.Expr, field string) bool {
	pair, ok := e.(*ast.KeyValueExpr)
	if !ok {
		return false
	}
	name, ok := pair.Key.(*ast.Ident)
	return ok && name.Name == field
}
