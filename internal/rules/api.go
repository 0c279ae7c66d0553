package rules

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/token"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// API is what a package exports. It has a line for each function, method, type, field, constant and variable, by name. Methods and fields
// have names such as "Model.Solve". A line is the declaration without comments and values. An interface is one line with all of its
// methods, because any change to it breaks the types that implement it.
type API map[string]string

// Exported returns the API of each package that users import. It includes generated code and mocks only if other code refers to a type that
// they declare.
func Exported(t *Tree) map[string]API {
	out := map[string]API{}
	for dir, files := range t.packages() {
		library := libraryOf(dir, files)
		if library == nil || strings.HasSuffix(dir, "/mock") {
			continue
		}
		api := API{}
		for _, f := range library {
			for _, d := range f.Syntax.Decls {
				api.declare(d)
			}
		}
		if len(api) > 0 {
			out[dir] = api
		}
	}
	for dir := range out {
		for name, of := range aliases(t, libraryOf(dir, t.packages()[dir])) {
			out[dir].adopt(name, out[of.dir], of.name)
		}
	}
	return out
}

// aliased is a type of another package of this module for which a package has an alias. at is the file and line of the alias.
type aliased struct{ dir, name, at string }

// aliases returns the types of a package that are aliases of types of other packages of this module, by the name of the alias. Users of an
// alias get the type itself, with its fields and methods.
func aliases(t *Tree, library []*File) map[string]aliased {
	out := map[string]aliased{}
	for _, f := range library {
		for _, d := range f.Syntax.Decls {
			group, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, s := range group.Specs {
				spec, ok := s.(*ast.TypeSpec)
				if !ok || spec.Assign == token.NoPos {
					continue
				}
				selector, ok := spec.Type.(*ast.SelectorExpr)
				if !ok {
					continue
				}
				path, name := cutLast(qualified(f, selector))
				if dir, ours := strings.CutPrefix(path, Module+"/"); ours {
					out[spec.Name.Name] = aliased{dir, name, t.at(spec)}
				}
			}
		}
	}
	return out
}

// CheckAliases finds types that users can import and that are only aliases of types of packages that users can't import.
func CheckAliases(t *Tree) []Fault {
	var faults []Fault
	for dir, files := range t.packages() {
		for name, of := range aliases(t, libraryOf(dir, files)) {
			if private(of.dir) && ast.IsExported(name) {
				faults = append(faults, fault(of.at, "%s is another name for a type of %s, which users can't import: declare it here, or in a public package", name, of.dir))
			}
		}
	}
	return sorted(faults)
}

// cutLast splits the text at its last dot. Neither part contains this dot.
func cutLast(text string) (before, after string) {
	i := strings.LastIndexByte(text, '.')
	return text[:max(i, 0)], text[i+1:]
}

// adopt adds a type of the API other, with its fields and methods, to the API a, as if the type were declared there. It does this only if
// the alias has the same name as the type. So nothing changes for users if a type moves to another package and an alias of the same name
// replaces it.
func (a API) adopt(alias string, other API, name string) {
	if alias != name || other[name] == "" {
		return
	}
	for member, declaration := range other {
		if member == name || strings.HasPrefix(member, name+".") {
			a[member] = declaration
		}
	}
}

func (a API) declare(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if name, exported := funcName(d); exported {
			receiver := ""
			if d.Recv != nil {
				receiver = "(" + written(d.Recv.List[0].Type) + ") "
			}
			a[name] = "func " + receiver + d.Name.Name + strings.TrimPrefix(written(d.Type), "func")
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				a.declareType(s)
			case *ast.ValueSpec:
				for _, name := range s.Names {
					if name.IsExported() {
						a[name.Name] = strings.TrimSpace(d.Tok.String() + " " + name.Name + " " + written(s.Type))
					}
				}
			}
		}
	}
}

func (a API) declareType(s *ast.TypeSpec) {
	if !s.Name.IsExported() {
		return
	}
	name, equals := s.Name.Name+typeParameters(s), ""
	if s.Assign != token.NoPos {
		equals = "= "
	}
	structure, isStruct := s.Type.(*ast.StructType)
	if !isStruct {
		a[s.Name.Name] = "type " + name + " " + equals + written(s.Type)
		return
	}
	a[s.Name.Name] = "type " + name + " " + equals + "struct"
	for _, f := range structure.Fields.List {
		text := written(f.Type)
		if len(f.Names) == 0 {
			embedded := text[strings.LastIndexAny(text, "*.")+1:]
			if ast.IsExported(embedded) {
				a[s.Name.Name+"."+embedded] = "embedded " + text
			}
		}
		for _, n := range f.Names {
			if n.IsExported() {
				a[s.Name.Name+"."+n.Name] = "field " + n.Name + " " + text
			}
		}
	}
}

func typeParameters(s *ast.TypeSpec) string {
	if s.TypeParams == nil {
		return ""
	}
	var list []string
	for _, f := range s.TypeParams.List {
		for _, n := range f.Names {
			list = append(list, n.Name+" "+written(f.Type))
		}
	}
	return "[" + strings.Join(list, ", ") + "]"
}

// written returns the source text of the expression on one line, or "" if the expression is nil.
func written(e ast.Expr) string {
	if e == nil {
		return ""
	}
	if i, ok := e.(*ast.InterfaceType); ok {
		return writtenInterface(i)
	}
	var b bytes.Buffer
	if err := format.Node(&b, token.NewFileSet(), e); err != nil {
		return err.Error()
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// writtenInterface returns the interface on one line. It leaves out comments, which format.Node would keep.
func writtenInterface(i *ast.InterfaceType) string {
	var list []string
	for _, m := range i.Methods.List {
		text := written(m.Type)
		if len(m.Names) > 0 {
			text = m.Names[0].Name + strings.TrimPrefix(text, "func")
		}
		list = append(list, text)
	}
	return "interface{" + strings.Join(list, "; ") + "}"
}

// FormatAPI writes an API as lines of the form "name: declaration", sorted by name.
func FormatAPI(a API) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(a)) {
		b.WriteString(name + ": " + a[name] + "\n")
	}
	return b.String()
}

// ParseAPI reads the output of FormatAPI.
func ParseAPI(text string) API {
	a := API{}
	for _, line := range lines(text) {
		if name, declaration, found := strings.Cut(line, ": "); found {
			a[name] = declaration
		}
	}
	return a
}

// CheckAPI compares the recorded API with the current one. It finds removals and changes that are not mentioned under Unreleased in the
// changelog. A change is mentioned if the changed name is in backquotes, alone or after its package or type. A removed package is mentioned
// by its path. Additions are no faults, because they break no code of users.
func CheckAPI(recorded, now map[string]API, changelog string) []Fault {
	const file = "CHANGELOG.md"
	_, unreleased, _ := strings.Cut(changelog, "## [Unreleased]")
	unreleased, _, _ = strings.Cut(unreleased, "\n## ")
	said := backquotedText(unreleased)
	var faults []Fault
	for _, dir := range slices.Sorted(maps.Keys(recorded)) {
		if now[dir] == nil {
			if !mentions(said, dir) && !mentions(said, dir[strings.LastIndexByte(dir, '/')+1:]) {
				faults = append(faults, fault(file, "says nothing under Unreleased of package `%s`, which is gone", dir))
			}
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(recorded[dir])) {
			declaration, there := now[dir][name]
			owner, member, _ := strings.Cut(name, ".")
			switch _, ownerThere := now[dir][owner]; {
			case declaration == recorded[dir][name], member != "" && !ownerThere: // if the type itself is removed, its members need no mention of their own
			case mentions(said, owner) && member == "", member != "" && mentions(said, member):
			case !there:
				faults = append(faults, fault(file, "says nothing under Unreleased of `%s.%s`, which is gone: add what to do about it", dir, name))
			default:
				faults = append(faults, fault(file, "says nothing under Unreleased of `%s.%s`, which is now %q, and was %q", dir, name, declaration, recorded[dir][name]))
			}
		}
	}
	return sorted(faults)
}

// backquotedText returns everything in the text that is in backquotes, separated by spaces.
func backquotedText(text string) string {
	return strings.Join(regexp.MustCompile("`[^`]+`").FindAllString(text, -1), " ")
}

func mentions(text, name string) bool {
	return regexp.MustCompile(`(^|[^\w/])` + regexp.QuoteMeta(name) + `($|[^\w/])`).MatchString(text)
}
