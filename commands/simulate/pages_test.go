package simulate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each question that plans nodes writes its answer as a page, too; what is printed stays the same.
func TestPages(t *testing.T) {
	for _, c := range []struct {
		name string
		args string
		says []string
	}{
		{"plan", "", []string{"Plan for the built-in cluster", "pods with a place", "What the new nodes cost", "lower bound", "New nodes", "Cost by namespace", "Cost by workload", `class="block f0"`, "Prices of", "(idle)", "DaemonSets"}},
		{"consolidate", "testdata/fleet --consolidate", []string{"Consolidation of testdata/fleet", "after one pass of Karpenter", "1. Delete 1 node (wave 1)", "removed", "Cost by label app", "Nodes before", "Nodes after all commands", "cost per hour before"}},
		{"diff", "testdata/gate/main.yaml --diff testdata/gate/pr.yaml", []string{"Difference between testdata/gate/main.yaml and testdata/gate/pr.yaml", "NodePools", "cost per hour after"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "page.html")
			args := strings.Fields(c.args)
			without, with := simulate(t, "", args...), simulate(t, "", append(args, "--html", file, "--cost-label", "app")...)
			if with.code != without.code || len(with.stdout) == 0 {
				t.Errorf("status %d and %d bytes, without the page status %d: %s", with.code, len(with.stdout), without.code, with.stderr)
			}
			page, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range c.says {
				if !strings.Contains(string(page), want) {
					t.Errorf("the page has no %q", want)
				}
			}
		})
	}
}
