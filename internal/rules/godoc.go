package rules

import (
	"go/ast"
	"go/doc"
	"go/doc/comment"
	"go/token"
	"slices"
	"strings"
)

// CheckDocs finds exported identifiers of libraries without a doc comment. A group of constants may share one comment. An interface may
// share a comment with its only method. The methods Error, String and Unwrap need no comment, because every Go programmer knows them.
// Fields of structs are not checked: whether they need a comment is a matter of judgement. (staticcheck checks that a comment begins with
// the name that it describes.)
func CheckDocs(t *Tree) []Fault {
	var faults []Fault
	missing := func(n ast.Node, name string) {
		faults = append(faults, fault(t.at(n), "exported %s has no doc comment", name))
	}
	for _, f := range t.Files {
		if f.Test || f.Generated || f.command() {
			continue
		}
		for _, d := range f.Syntax.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if name, exported := funcName(d); exported && d.Doc == nil && !standard(d) {
					missing(d, name)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					undocumented(d, s, missing)
				}
			}
		}
	}
	return sorted(faults)
}

// funcName returns the name of the function, or "Type.Method" for a method. exported is true for a method only if its type is exported too.
func funcName(d *ast.FuncDecl) (name string, exported bool) {
	if d.Recv == nil {
		return d.Name.Name, d.Name.IsExported()
	}
	receiver := d.Recv.List[0].Type
	if star, ok := receiver.(*ast.StarExpr); ok {
		receiver = star.X
	}
	switch generic := receiver.(type) {
	case *ast.IndexExpr:
		receiver = generic.X
	case *ast.IndexListExpr:
		receiver = generic.X
	}
	id, ok := receiver.(*ast.Ident)
	if !ok {
		return d.Name.Name, false
	}
	return id.Name + "." + d.Name.Name, id.IsExported() && d.Name.IsExported()
}

// standard reports whether the function is a method that every Go programmer knows: Error, String or Unwrap.
func standard(d *ast.FuncDecl) bool {
	return d.Recv != nil && slices.Contains([]string{"Error", "String", "Unwrap"}, d.Name.Name)
}

// undocumented calls the function missing for each exported name in spec without a comment. It does nothing if the group has a comment.
func undocumented(group *ast.GenDecl, spec ast.Spec, missing func(ast.Node, string)) {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		if s.Name.IsExported() && s.Doc == nil && group.Doc == nil {
			missing(s, s.Name.Name)
		}
		if methods, ok := s.Type.(*ast.InterfaceType); ok && s.Name.IsExported() && methods.Methods.NumFields() > 1 {
			for _, m := range methods.Methods.List {
				if len(m.Names) > 0 && m.Names[0].IsExported() && m.Doc == nil {
					missing(m, s.Name.Name+"."+m.Names[0].Name)
				}
			}
		}
	case *ast.ValueSpec:
		for _, name := range s.Names {
			if name.IsExported() && s.Doc == nil && s.Comment == nil && group.Doc == nil {
				missing(name, name.Name)
			}
		}
	}
}

// CheckPackageDocs finds public packages that have no code in their package comment, and public packages without an Example that is run.
// The code should show the smallest realistic use of the package. Programs and internal packages need only a package comment.
func CheckPackageDocs(t *Tree) []Fault {
	var faults []Fault
	for dir, files := range t.packages() {
		library := slices.DeleteFunc(slices.Clone(files), func(f *File) bool { return f.Test || f.ignored() })
		if len(library) == 0 {
			continue
		}
		text := packageComment(library)
		if text == "" {
			faults = append(faults, fault(library[0].Name, "package %s has no package comment", nameOf(dir)))
			continue
		}
		if library[0].command() || private(dir) {
			continue
		}
		if !showsCode(text) {
			faults = append(faults, fault(library[0].Name, "the comment of package %s does not show its smallest real use", nameOf(dir)))
		}
		if !hasExample(files) {
			faults = append(faults, fault(library[0].Name, "package %s has no Example with output", nameOf(dir)))
		}
	}
	return sorted(faults)
}

func packageComment(files []*File) string {
	for _, f := range files {
		if f.Syntax.Doc != nil && f.Syntax.Doc.Text() != "" {
			return f.Syntax.Doc.Text()
		}
	}
	return ""
}

func showsCode(text string) bool {
	var p comment.Parser
	return slices.ContainsFunc(p.Parse(text).Content, func(b comment.Block) bool {
		_, code := b.(*comment.Code)
		return code
	})
}

// hasExample reports whether the package has an Example that "go test" runs. It runs an Example only if the Example states its output.
func hasExample(files []*File) bool {
	var syntax []*ast.File
	for _, f := range files {
		if f.Test {
			syntax = append(syntax, f.Syntax)
		}
	}
	return slices.ContainsFunc(doc.Examples(syntax...), func(e *doc.Example) bool { return e.Output != "" || e.EmptyOutput })
}

// testFunctions returns the names of the tests, fuzz targets, examples and benchmarks in a package's files.
func testFunctions(files []*File) map[string]bool {
	names := make(map[string]bool)
	for _, f := range files {
		if !f.Test {
			continue
		}
		for _, d := range f.Syntax.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv != nil {
				continue
			}
			for _, prefix := range []string{"Test", "Fuzz", "Example", "Benchmark"} {
				if strings.HasPrefix(fn.Name.Name, prefix) {
					names[fn.Name.Name] = true
				}
			}
		}
	}
	return names
}

// stringLiterals returns all string literals in a package's tests. They include the names of test cases.
func stringLiterals(files []*File) map[string]bool {
	literals := make(map[string]bool)
	for _, f := range files {
		if !f.Test {
			continue
		}
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				literals[unquote(lit.Value)] = true
			}
			return true
		})
	}
	return literals
}
