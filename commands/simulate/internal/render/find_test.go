package render

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// inFolder writes files into a new folder, which becomes the working directory.
func inFolder(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFind(t *testing.T) {
	const chart, resources = "apiVersion: v2\nname: x\n", "resources: [a.yaml]"
	for name, c := range map[string]struct {
		files map[string]string
		paths []string
		want  Layout
	}{
		"no tool": {map[string]string{"d/a.yaml": ""}, []string{"d"}, Layout{Files: []string{"d"}}},
		"a chart": {map[string]string{"d/Chart.yaml": chart, "d/values.yaml": "", "d/templates/a.yaml": ""}, []string{"d"}, Layout{Folders: []Folder{{"d", Helm}}}},
		"charts and files": {map[string]string{"d/a/Chart.yaml": chart, "d/a/charts/sub/Chart.yaml": chart, "d/b/Chart.yaml": chart, "d/c.yaml": "", "d/notes.txt": ""}, []string{"d"},
			Layout{Folders: []Folder{{"d/a", Helm}, {"d/b", Helm}}, Files: []string{"d/c.yaml"}}},
		"a library":       {map[string]string{"d/a/Chart.yaml": chart + "type: library"}, []string{"d"}, Layout{Unused: []string{"d/a"}}},
		"a kustomization": {map[string]string{"d/kustomization.yaml": resources, "d/a.yaml": "", "d/patch.yaml": ""}, []string{"d"}, Layout{Folders: []Folder{{"d", Kustomize}}}},
		"an overlay of a base": {map[string]string{"d/base/kustomization.yml": resources, "d/base/a.yaml": "", "d/prod/Kustomization": "resources: [../base]", "d/other/b.yaml": ""}, []string{"d"},
			Layout{Folders: []Folder{{"d/prod", Kustomize}}, Files: []string{"d/other/b.yaml"}}},
		"the overlay that is named": {map[string]string{"d/base/kustomization.yaml": resources, "d/prod/kustomization.yaml": "bases: [../base]", "d/dev/kustomization.yaml": "bases: [../base]"},
			[]string{"d/dev"}, Layout{Folders: []Folder{{"d/dev", Kustomize}}}},
		"applications with a component": {map[string]string{
			"d/a/kustomization.yaml": "components: [../c]", "d/b/kustomization.yaml": "components: [../c]", "d/c/kustomization.yaml": "kind: Component",
		}, []string{"d"}, Layout{Folders: []Folder{{"d/a", Kustomize}, {"d/b", Kustomize}}}},
		"what the first folder does not refer to": {map[string]string{"d/kustomization.yaml": resources, "d/more/kustomization.yaml": resources, "d/chart/Chart.yaml": chart}, []string{"d"},
			Layout{Folders: []Folder{{"d", Kustomize}}, Unused: []string{"d/more", "d/chart"}}},
		"hidden":               {map[string]string{"d/.git/kustomization.yaml": resources, "d/a.yaml": ""}, []string{"d"}, Layout{Files: []string{"d"}}},
		"circles":              {map[string]string{"d/a/kustomization.yaml": "resources: [../b]", "d/b/kustomization.yaml": "resources: [../a]"}, []string{"d"}, Layout{Unused: []string{"d/a", "d/b"}}},
		"given twice":          {map[string]string{"d/Chart.yaml": chart, "x.yaml": ""}, []string{"d", "./d", "x.yaml", "missing"}, Layout{Folders: []Folder{{"d", Helm}}, Files: []string{"x.yaml", "missing"}}},
		"a base from outside":  {map[string]string{"base/kustomization.yaml": resources, "d/kustomization.yaml": "resources: [../base, https://example.com/x]"}, []string{"d"}, Layout{Folders: []Folder{{"d", Kustomize}}}},
		"a folder with itself": {map[string]string{"d/a/kustomization.yaml": "resources: [.]"}, []string{"d"}, Layout{Folders: []Folder{{"d/a", Kustomize}}}},
	} {
		t.Run(name, func(t *testing.T) {
			inFolder(t, c.files)
			got, err := Find(c.paths)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestFindRefuses(t *testing.T) {
	t.Run("alternatives", func(t *testing.T) {
		inFolder(t, map[string]string{
			"d/base/kustomization.yaml": "", "d/mid/kustomization.yaml": "resources: [../base]",
			"d/prod/kustomization.yaml": "resources: [../mid]", "d/dev/kustomization.yaml": "resources: [../base]",
		})
		_, err := Find([]string{"d"})
		var alternatives *AlternativesError
		if !errors.As(err, &alternatives) {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&AlternativesError{Folders: []string{"d/dev", "d/prod"}, Base: "d/base"}, alternatives); diff != "" {
			t.Error(diff)
		}
	})
	for name, c := range map[string]struct{ text, says string }{
		"no YAML":       {"resources: [", "kustomization.yaml"},
		"another shape": {"resources: {a: b}", "kustomization.yaml"},
		"too large":     {"# " + strings.Repeat("x", mostBytes), "larger than"},
	} {
		t.Run(name, func(t *testing.T) {
			inFolder(t, map[string]string{"d/kustomization.yaml": c.text})
			if _, err := Find([]string{"d"}); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Error(err)
			}
		})
	}
}

// Find returns a layout or an error for any kustomization, and renders no folder twice.
func FuzzFind(f *testing.F) {
	for _, text := range []string{"", "resources: [../b]", "bases: [., .., ../../x, /etc]", "kind: Component\ncomponents: [../b]", "resources: [\"\\0\"]", "&a [*a]", "resources: *x"} {
		f.Add(text, text)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		dir := t.TempDir()
		for name, text := range map[string]string{"a": a, "b": b} {
			if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name, "kustomization.yaml"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		layout, err := Find([]string{dir})
		if err != nil {
			return
		}
		seen := map[string]int{}
		for _, folder := range layout.Folders {
			seen[folder.Path]++
		}
		for _, unused := range layout.Unused {
			seen[unused]++
		}
		for path, times := range seen {
			if times > 1 || !strings.HasPrefix(path, dir) {
				t.Errorf("%s is %d times in %+v", path, times, layout)
			}
		}
	})
}
