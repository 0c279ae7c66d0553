package rules_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/internal/rules"
)

// files are a small tree, text by name.
type files map[string]string

// ruleCase is a tree and what a rule must find in it.
type ruleCase struct {
	name  string
	files files
	// want are the faults as text; none for a tree that keeps the rule.
	want []string
}

func (c ruleCase) run(t *testing.T, rule func(*rules.Tree) []rules.Fault) {
	t.Helper()
	var got []string
	for _, f := range rule(c.files.parse(t)) {
		got = append(got, f.String())
	}
	if diff := cmp.Diff(c.want, got); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
}

func (f files) parse(t *testing.T) *rules.Tree {
	t.Helper()
	fsys := make(fstest.MapFS)
	for name, text := range f {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	tree, err := rules.ParseTree(fsys)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// imports is a file of a package that imports others of the module, one a line from line 3 on.
func imports(name string, paths ...string) string {
	var b strings.Builder
	b.WriteString("package " + name + "\n\n")
	for _, p := range paths {
		b.WriteString("import _ \"" + rules.Module + "/" + p + "\"\n")
	}
	return b.String()
}

func TestParseTreeRefusesWhatIsNoGo(t *testing.T) {
	_, err := rules.ParseTree(fstest.MapFS{"x.go": {Data: []byte("pakage x")}})
	if err == nil || !strings.Contains(err.Error(), "x.go:1") {
		t.Errorf("got %v, want an error that names the line", err)
	}
}

func TestParseTreeLeavesOutWhatIsNotTheModule(t *testing.T) {
	tree := files{
		"a/a.go": "package a", "a/testdata/b.go": "no go", ".ci/c.go": "no go", "_old/d.go": "no go",
		"nested/go.mod": "module nested", "nested/e.go": "no go", "nested/deeper/f.go": "no go",
	}.parse(t)
	if len(tree.Files) != 1 || tree.Files[0].Name != "a/a.go" {
		t.Errorf("got %v", tree.Files)
	}
}

// A fault in a nested module names the file and line there, whatever the outer module's files are like.
func TestFaultsInNestedModules(t *testing.T) {
	outer := files{"a.go": "package a\n", "b/b.go": "package b\n\n\n\n\n\n\n\n"}.parse(t)
	nested := files{
		"c.go":   "package c\n",
		"d/d.go": "package d\n\nfunc f() {\n\tlog.Info(\"Node launched.\")\n}\n",
	}.parse(t)
	all, err := outer.With("examples/nested", nested)
	if err != nil {
		t.Fatal(err)
	}
	faults := rules.CheckLogs(all, nil)
	if len(faults) == 0 {
		t.Fatal("the message is not found")
	}
	for _, f := range faults {
		if want := "examples/nested/d/d.go:4: "; !strings.HasPrefix(f.String(), want) {
			t.Errorf("got %q, want it to begin with %q", f, want)
		}
	}
	if len(outer.Files) != 2 || len(all.Files) != 4 {
		t.Errorf("%d files outside and %d in all, want 2 and 4", len(outer.Files), len(all.Files))
	}
}
