package rules_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"testing"

	"github.com/drawknife/drawknife/internal/rules"
)

// TestPages holds the documents of this very tree to the rules about documents.
func TestPages(t *testing.T) {
	documents := pages(t)
	t.Run("links lead somewhere", func(t *testing.T) {
		faults, err := rules.CheckLinks(os.DirFS(root), documents)
		if err != nil {
			t.Fatal(err)
		}
		report(t, faults)
	})
	tree, err := rules.ParseTree(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	t.Run("tests that are named exist", func(t *testing.T) {
		all := tree
		for _, nested := range nestedModules(t) {
			all = with(t, all, nested)
		}
		report(t, rules.CheckNamedTests(all, documents))
	})
	t.Run("examples are there and run", func(t *testing.T) {
		const examples = "docs/examples.md"
		report(t, rules.CheckJourneys(tree, examples, documents[examples]))
	})
	t.Run("drawings parse", func(t *testing.T) { report(t, rules.CheckMermaid(documents)) })
	t.Run("floors are as the page has them", func(t *testing.T) {
		report(t, rules.CheckFloorTable(architecture, documents[architecture]))
	})
	t.Run("rooms of the engine are as the page has them", func(t *testing.T) {
		report(t, rules.CheckEngine(tree, architecture, documents[architecture]))
		report(t, rules.CheckConsolidate(tree, architecture, documents[architecture]))
	})
	t.Run("places that are named exist", func(t *testing.T) {
		report(t, rules.CheckWhere(with(t, tree, "examples/controller"), architecture, documents[architecture]))
	})
	t.Run("imports are as drawn", func(t *testing.T) {
		if *update {
			page, err := rules.SetFence(documents[architecture], "<!-- imports -->", "mermaid", rules.DrawImports(tree))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(root, architecture), []byte(page), 0o644); err != nil {
				t.Fatal(err)
			}
			return
		}
		report(t, rules.CheckDrawing(tree, architecture, documents[architecture]))
	})
}

const architecture = "docs/architecture.md"

// pages are all documents of the repository, by path, but the CHANGELOG: it speaks of what was.
func pages(t *testing.T) map[string]string {
	t.Helper()
	documents := make(map[string]string)
	walk(t, func(name string) {
		if path.Ext(name) == ".md" && name != "CHANGELOG.md" {
			documents[name] = read(t, name)
		}
	})
	return documents
}

// nestedModules are the folders with a go.mod of their own.
func nestedModules(t *testing.T) []string {
	t.Helper()
	var folders []string
	walk(t, func(name string) {
		if path.Base(name) == "go.mod" && name != "go.mod" {
			folders = append(folders, path.Dir(name))
		}
	})
	return folders
}

// walk goes over all files of the repository but test data and hidden ones.
func walk(t *testing.T, visit func(name string)) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		switch base := path.Base(name); {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (base == "testdata" || base[0] == '.'):
			return fs.SkipDir
		case !d.IsDir():
			visit(name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
