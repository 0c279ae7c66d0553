package plane

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

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

// TestGatesReachEveryComponent checks that gates are set in all components that have them, and API versions in the API server alone.
func TestGatesReachEveryComponent(t *testing.T) {
	c := &ControlPlane{options: Options{FeatureGates: []string{"A=true", "B=false"}, RuntimeConfig: []string{"example.com/v1beta1=true"}}}
	for name, flags := range map[string][]string{
		APIServer: c.apiServerFlags(), ControllerManager: c.controllerManagerFlags(), Scheduler: c.schedulerFlags(),
	} {
		if !slices.Contains(flags, "--feature-gates=A=true,B=false") {
			t.Errorf("%s runs with %v, want the gates among its flags", name, flags)
		}
		if got := slices.Contains(flags, "--runtime-config=example.com/v1beta1=true"); got != (name == APIServer) {
			t.Errorf("%s runs with %v, want the API versions in the API server's alone", name, flags)
		}
	}
	if flags := (&ControlPlane{}).apiServerFlags(); slices.ContainsFunc(flags, func(f string) bool { return strings.Contains(f, "gates") || strings.Contains(f, "runtime") }) {
		t.Errorf("without options: %v", flags)
	}
}
