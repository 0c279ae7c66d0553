package plane

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
	t.Setenv(BinaryVariable, "")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	if _, err := Binary(t.Context()); !errors.Is(err, ErrNotBuilt) {
		t.Fatalf("with an empty cache: got %v, want ErrNotBuilt", err)
	}
	s, err := findSource(t.Context())
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
	if got, err := Binary(t.Context()); got != path || err != nil {
		t.Errorf("with a binary in the cache: got %q, %v, want %q", got, err, path)
	}
	if got, err := Build(t.Context(), io.Discard); got != path || err != nil {
		t.Errorf("building what is there: got %q, %v, want %q", got, err, path)
	}
	named := filepath.Join(t.TempDir(), "controlplane")
	t.Setenv(BinaryVariable, named)
	if _, err := Binary(t.Context()); err == nil || !strings.Contains(err.Error(), BinaryVariable) {
		t.Errorf("with %s naming nothing: got %v, want an error that says so", BinaryVariable, err)
	}
	if err := os.WriteFile(named, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	if got, err := Binary(t.Context()); got != named || err != nil {
		t.Errorf("got %q, %v, want the one named, %q", got, err, named)
	}
}

// TestVersionIsLinkedIn checks that the binary is told which Kubernetes it is.
func TestVersionIsLinkedIn(t *testing.T) {
	flags := source{version: "v1.37.2"}.linkerFlags()
	for _, want := range []string{"gitVersion=v1.37.2", "gitMajor=1", "gitMinor=37"} {
		if !strings.Contains(flags, want) {
			t.Errorf("linker flags %q lack %s", flags, want)
		}
	}
}

// TestStartRefuses checks that a start without a binary, or with one that ends at once, is an error that says which.
func TestStartRefuses(t *testing.T) {
	if _, err := Start(t.Context(), Options{}); err == nil || !strings.Contains(err.Error(), "Options.Binary") {
		t.Errorf("without a binary: got %v", err)
	}
	dir := t.TempDir()
	broken := filepath.Join(dir, "broken")
	if err := os.WriteFile(broken, []byte("#!/bin/sh\necho it is broken\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := Start(t.Context(), Options{Binary: broken, Dir: filepath.Join(dir, "data")})
	if err == nil || !strings.Contains(err.Error(), "ended by itself") || !strings.Contains(err.Error(), "it is broken") {
		t.Errorf("with a broken binary: got %v, want the end of the component and its log", err)
	}
}
