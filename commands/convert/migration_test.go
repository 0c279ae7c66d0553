package convert

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/internal/rules"
)

// docs/migration.md shows what the command makes of manifests of v1alpha5 and of v1beta1, and what it warns of. S0-037, S0-044:
// there is an object of v1 for each old one, with nothing lost, in the order definitions, objects, nodes.
func TestMigrationGuide(t *testing.T) {
	path, err := filepath.Abs("../../docs/migration.md")
	if err != nil {
		t.Fatal(err)
	}
	guide := read(t, path)
	t.Chdir(t.TempDir())
	for _, name := range []string{"old.yaml", "beta.yaml"} {
		manifests, err := rules.Fence(guide, "<!-- "+name+" -->", "yaml")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(manifests), 0o600); err != nil {
			t.Fatal(err)
		}
		const shell = "\ngo run ./examples/convert "
		_, line, found := strings.Cut(guide, shell+"-f "+name)
		line, _, redirected := strings.Cut(line, " > new.yaml\n")
		if !found || !redirected || strings.Contains(line, "\n") {
			t.Fatalf("the guide does not convert %s to new.yaml", name)
		}
		args := append([]string{"-f", name}, strings.Fields(line)...)
		code, out, errs := exec(t, "", args...)
		if code != exitConverted {
			t.Fatalf("%s: status %d: %s", name, code, errs)
		}
		if code, strict, errs := exec(t, "", append(args, "--strict")...); code != exitConverted || strict != out {
			t.Errorf("%s --strict: status %d: %s", name, code, errs)
		}
		if n := strings.Count(manifests, "\nkind: "); strings.Count(out, "\nkind: ") != n || strings.Count(out, "/v1\n") != n {
			t.Errorf("%s: %d objects became\n%s", name, n, out)
		}
		for _, shown := range []struct{ marker, language, want string }{
			{"<!-- " + name + " becomes -->", "yaml", out}, {"<!-- " + name + " warns -->", "text", errs},
		} {
			got, err := rules.Fence(guide, shown.marker, shown.language)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(got, shown.want); diff != "" && !*update {
				t.Errorf("%s (-shown +printed); refresh with -update:\n%s", shown.marker, diff)
			}
			if guide, err = rules.SetFence(guide, shown.marker, shown.language, shown.want); err != nil {
				t.Fatal(err)
			}
		}
	}
	// API-413, API-415: from v1beta1 by way of releases that convert, and expired nodes first.
	for _, advice := range []string{
		"first to a release between 0.33 and 0.37 with conversion webhooks, and then to 1.0.", "Before you upgrade to 1.0, replace nodes that are older than `expireAfter`",
		// API-422, S1-030: what the old controller leaves.
		"Name=launch-template-name,Values=Karpenter-demo-*",
	} {
		if !strings.Contains(strings.Join(strings.Fields(guide), " "), advice) {
			t.Errorf("the guide does not say %q", advice)
		}
	}
	at := 0
	for _, step := range []string{"install drawknife-crd ", "apply --filename new.yaml", "karpenter.sh/legacy", "Roll the nodes"} {
		_, flow, _ := strings.Cut(guide, "\n### Definitions first\n")
		i := strings.Index(flow, step)
		if i < at {
			t.Errorf("%q is missing, or comes too early", step)
		}
		at = i
	}
	if *update && !t.Failed() {
		if err := os.WriteFile(path, []byte(guide), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
