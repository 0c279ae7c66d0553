package manifests

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// writeFiles makes a folder of files with their own names as content.
func writeFiles(t *testing.T, names ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, name := range names {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestFilesSearchesFolders(t *testing.T) {
	root := writeFiles(t, "b.yaml", "a/z.yml", "a/b/c.JSON", "a/readme.md", ".git/x.yaml", "a/.hidden.yaml", "notes.txt")
	if err := os.Symlink(filepath.Join(root, "notes.txt"), filepath.Join(root, "link.yaml")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(root, filepath.Join(root, "loop.yaml")); err != nil {
		t.Fatal(err)
	}
	sources, err := Files(root, filepath.Join(root, "notes.txt"), filepath.Join(root, "a"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range sources {
		name, err := filepath.Rel(root, s.Name)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, filepath.ToSlash(name)+" "+string(s.Data))
	}
	want := []string{"a/b/c.JSON a/b/c.JSON", "a/z.yml a/z.yml", "b.yaml b.yaml", "link.yaml notes.txt", "notes.txt notes.txt"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sources (-want +got):\n%s", diff)
	}
}

func TestFilesNamesWhatItCantRead(t *testing.T) {
	_, err := Files(filepath.Join(t.TempDir(), "missing.yaml"))
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "missing.yaml") {
		t.Errorf("error %v", err)
	}
}

func TestFilesIsBounded(t *testing.T) {
	root := writeFiles(t, "12345.yaml", "67890.yaml")
	if _, err := filesWithin([]string{root}, 20); err != nil {
		t.Errorf("exactly as much as allowed: %v", err)
	}
	if _, err := filesWithin([]string{root}, 19); err == nil || !strings.Contains(err.Error(), "67890.yaml") {
		t.Errorf("error %v, want one that names the file that went over", err)
	}
}

func TestRead(t *testing.T) {
	got, err := Read("-", strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Source{"-", []byte("x")}, got); diff != "" {
		t.Errorf("source (-want +got):\n%s", diff)
	}
	broken := errors.New("broken pipe")
	if _, err := Read("-", iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
	if _, err := readWithin("-", strings.NewReader("1234"), 3); err == nil {
		t.Error("a stream beyond the bound was read")
	}
}
