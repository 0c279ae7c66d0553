package rules

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Module is the path of the root module.
const Module = "github.com/drawknife/drawknife"

// Tree is the parsed Go source of one module. It must not be changed after ParseTree has made it.
type Tree struct {
	// Files are the files of the module by name, without testdata and nested modules.
	Files []*File

	fset *token.FileSet
}

// File is one Go file of a Tree.
type File struct {
	// Name is the path from the module's root, with slashes.
	Name string
	// Dir is the path of the package from the module's root. It is "" for the root package.
	Dir string
	// Test is true for *_test.go files, which users don't get.
	Test bool
	// Generated is true for files with Go's standard comment for generated code.
	Generated bool
	// Syntax includes comments.
	Syntax *ast.File

	source []byte
}

// ParseTree reads all Go files of a module. It leaves out folders with a go.mod of their own, because they are other modules. It also
// leaves out testdata, and folders with names that begin with a dot or an underscore. A .go file that does not parse is an error.
func ParseTree(fsys fs.FS) (*Tree, error) {
	t := &Tree{fset: token.NewFileSet()}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name != "." && skipped(fsys, name) {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		source, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		return t.parse(name, source)
	})
	if err != nil {
		return nil, fmt.Errorf("reading the source tree: %w", err)
	}
	return t, nil
}

// parse adds the parsed file to the tree.
func (t *Tree) parse(name string, source []byte) error {
	syntax, err := parser.ParseFile(t.fset, name, source, parser.ParseComments)
	if err != nil {
		return err
	}
	dir := path.Dir(name)
	if dir == "." {
		dir = ""
	}
	t.Files = append(t.Files, &File{
		Name: name, Dir: dir, Test: strings.HasSuffix(name, "_test.go"), Generated: ast.IsGenerated(syntax), Syntax: syntax, source: source,
	})
	return nil
}

func skipped(fsys fs.FS, dir string) bool {
	base := path.Base(dir)
	if base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return true
	}
	_, err := fs.Stat(fsys, path.Join(dir, "go.mod"))
	return err == nil
}

// With returns the tree, with the files of a nested module added. The parameter dir is the folder of the nested module. With parses the
// files of the nested module again, so that faults in these files have the right path.
func (t *Tree) With(dir string, nested *Tree) (*Tree, error) {
	all := &Tree{Files: slices.Clone(t.Files), fset: t.fset}
	for _, f := range nested.Files {
		if err := all.parse(path.Join(dir, f.Name), f.source); err != nil {
			return nil, fmt.Errorf("reading the nested module %s: %w", dir, err)
		}
	}
	return all, nil
}

// at returns the file and the line of a node.
func (t *Tree) at(n ast.Node) string {
	p := t.fset.Position(n.Pos())
	return p.Filename + ":" + strconv.Itoa(p.Line)
}

// packages groups the files by Dir.
func (t *Tree) packages() map[string][]*File {
	packages := make(map[string][]*File)
	for _, f := range t.Files {
		packages[f.Dir] = append(packages[f.Dir], f)
	}
	return packages
}

// imports returns the paths that a file imports, with the node of each import.
func (f *File) imports() map[string]ast.Node {
	paths := make(map[string]ast.Node)
	for _, spec := range f.Syntax.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil {
			paths[p] = spec
		}
	}
	return paths
}

// ignored reports whether the file has the build constraint "ignore", so that only "go run" with the name of the file builds it. Such files
// are generators.
func (f *File) ignored() bool {
	for _, group := range f.Syntax.Comments {
		if group.Pos() > f.Syntax.Package {
			break
		}
		for _, c := range group.List {
			if strings.TrimSpace(c.Text) == "//go:build ignore" {
				return true
			}
		}
	}
	return false
}

// command reports whether the file belongs to a program and not to a library.
func (f *File) command() bool { return f.Syntax.Name.Name == "main" }

// within reports whether dir is one of the folders or inside one.
func within(dir string, folders ...string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool {
		return dir == folder || strings.HasPrefix(dir, folder+"/")
	})
}

// private reports whether other modules can't import packages in the folder, because a folder in its path is called internal.
func private(dir string) bool { return slices.Contains(strings.Split(dir, "/"), "internal") }
