package binaries

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBinaryIsFound checks the order in which a binary is looked for, and that a cache without one says how to build it.
func TestBinaryIsFound(t *testing.T) {
	for _, p := range []Program{ControlPlane(), Kueue()} {
		t.Run(p.Name, func(t *testing.T) { isFound(t, p) })
	}
}

func isFound(t *testing.T, p Program) {
	t.Setenv(p.Variable, "")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	if _, err := p.Find(t.Context()); !errors.Is(err, ErrNotBuilt) || !strings.Contains(err.Error(), "./up "+p.Flag) || !strings.Contains(err.Error(), p.Variable) {
		t.Fatalf("with an empty cache: got %v, want ErrNotBuilt, and how to build it", err)
	}
	s, err := p.findSource(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	path, err := s.cached()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(path, s.version) || !strings.Contains(path, s.key) {
		t.Errorf("the cached binary is %s, want Kubernetes' version %s and key %s in its name", path, s.version, s.key)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	if got, err := p.Find(t.Context()); got != path || err != nil {
		t.Errorf("with a binary in the cache: got %q, %v, want %q", got, err, path)
	}
	if got, err := p.Build(t.Context(), io.Discard); got != path || err != nil {
		t.Errorf("building what is there: got %q, %v, want %q", got, err, path)
	}
	named := filepath.Join(t.TempDir(), "named")
	t.Setenv(p.Variable, named)
	if _, err := p.Find(t.Context()); err == nil || !strings.Contains(err.Error(), p.Variable) {
		t.Errorf("with %s naming nothing: got %v, want an error that says so", p.Variable, err)
	}
	if err := os.WriteFile(named, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	if got, err := p.Find(t.Context()); got != named || err != nil {
		t.Errorf("got %q, %v, want the one named, %q", got, err, named)
	}
}

// TestVersionIsLinkedIn checks that programs are told which release they are.
func TestVersionIsLinkedIn(t *testing.T) {
	for _, c := range []struct {
		source
		want []string
	}{
		{source{Program: ControlPlane(), version: "v1.37.2"}, []string{"gitVersion=v1.37.2", "gitMajor=1", "gitMinor=37"}},
		{source{Program: Kueue(), version: "v0.17.1"}, []string{"GitVersion=v0.17.1"}},
	} {
		flags := c.linkerFlags()
		for _, want := range c.want {
			if !strings.Contains(flags, want) {
				t.Errorf("linker flags %q lack %s", flags, want)
			}
		}
	}
}
