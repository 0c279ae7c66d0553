package manifests

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "rewrite the golden files under testdata")

// goldenResult is what a golden file shows. Of the vocabulary it is enough that it is there.
type goldenResult struct {
	Result   *Result  `json:"result"`
	Warnings []string `json:"warnings,omitempty"`
}

func TestGolden(t *testing.T) {
	inputs, err := filepath.Glob("testdata/*.in.yaml")
	if err != nil || len(inputs) == 0 {
		t.Fatalf("no inputs: %v", err)
	}
	for _, input := range inputs {
		t.Run(filepath.Base(input), func(t *testing.T) {
			sources, err := Files(input)
			if err != nil {
				t.Fatal(err)
			}
			result := loadAll(t, Options{Now: now}, sources...)
			golden := goldenResult{Result: result}
			for _, w := range result.Warnings {
				golden.Warnings = append(golden.Warnings, w.String())
			}
			result.Warnings = nil
			got, err := yaml.Marshal(golden)
			if err != nil {
				t.Fatal(err)
			}
			path := strings.TrimSuffix(input, ".in.yaml") + ".golden.yaml"
			if *update {
				if err := os.WriteFile(path, got, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatalf("%v (run with -update to make it)", err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", path, diff)
			}
		})
	}
}
