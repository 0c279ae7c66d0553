package doctree

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplitPath(t *testing.T) {
	for path, want := range map[string][]string{
		"":                          nil,
		"spec":                      {"spec"},
		"spec.containers[0].name":   {"spec", "containers", "0", "name"},
		"metadata.labels[a.b/c].x":  {"metadata", "labels", "a.b/c", "x"},
		"a[0][1]":                   {"a", "0", "1"},
		"broken[x":                  {"broken", "x"},
		"spec.requests[nvidia/gpu]": {"spec", "requests", "nvidia/gpu"},
	} {
		if diff := cmp.Diff(want, splitPath(path)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}
