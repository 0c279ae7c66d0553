package rules

import (
	"go/ast"
	"path"
	"regexp"
	"strings"
)

// place matches a Markdown link to a Go file and, if present, the name of a declaration in that file. An example is
// [admit.go](../x/admit.go) `State.Admits`.
var place = regexp.MustCompile("\\[[^\\]]*\\]\\(([^()\\s]+\\.go)\\)(?: `([A-Za-z0-9_.]+)`)?")

// CheckWhere compares the table after the line <!-- where --> of a document with the code. Each row must have a question and at least one
// link to a file, followed by a name. The file must exist and declare the function, method ("State.Admits"), type, constant or variable
// with this name.
func CheckWhere(t *Tree, document, text string) []Fault {
	declared := make(map[string]map[string]bool)
	for _, f := range t.Files {
		declared[f.Name] = declarations(f.Syntax)
	}
	_, table, found := strings.Cut(text, "<!-- where -->\n")
	if !found {
		return []Fault{fault(document, "no line <!-- where -->")}
	}
	var faults []Fault
	table, _, _ = strings.Cut(table, "\n\n")
	rows := lines(table)
	if len(rows) < 3 {
		return []Fault{fault(document, "no table after <!-- where -->")}
	}
	for _, row := range rows[2:] {
		question, answer, _ := strings.Cut(strings.Trim(row, "| "), " | ")
		places := place.FindAllStringSubmatch(answer, -1)
		if len(places) == 0 {
			faults = append(faults, fault(document, "%q has no place: link a Go file and name what it declares", question))
		}
		for _, m := range places {
			file := path.Join(path.Dir(document), m[1])
			switch names, known := declared[file]; {
			case !known:
				faults = append(faults, fault(document, "%q: there is no file %s", question, file))
			case m[2] == "":
				faults = append(faults, fault(document, "%q: name what to look at in %s", question, file))
			case !names[m[2]]:
				faults = append(faults, fault(document, "%q: %s does not declare %s", question, file, m[2]))
			}
		}
	}
	return sorted(faults)
}

// declarations returns the names that a file declares at its top level. Methods have the form "Type.Method".
func declarations(f *ast.File) map[string]bool {
	names := make(map[string]bool)
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil || len(d.Recv.List) == 0 {
				names[d.Name.Name] = true
				continue
			}
			names[receiverName(d)+"."+d.Name.Name] = true
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					names[s.Name.Name] = true
				case *ast.ValueSpec:
					for _, name := range s.Names {
						names[name.Name] = true
					}
				}
			}
		}
	}
	return names
}
