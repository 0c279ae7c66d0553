package convert

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// folder writes files into a new folder.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A folder as GitOps has it: charts, lists for Kustomize and patches among manifests stop nothing, and --strict says that they were
// left out.
func TestFolderOfGitOps(t *testing.T) {
	dir := folder(t, map[string]string{
		"pool.yaml": pool, "kustomization.yaml": "resources: [pool.yaml]\n", "chart/Chart.yaml": "apiVersion: v2\nname: x\n",
		"chart/values.yaml": "replicas: 2\n", "patch.yaml": "- {op: remove, path: /spec}\n",
	})
	code, out, errs := exec(t, "", "-R", "-f", dir, "-o", "name")
	if code != exitConverted || out != "nodepool.karpenter.sh/a\n" || strings.Count(errs, "WARN W607") != 4 {
		t.Errorf("status %d, printed %q\n%s", code, out, errs)
	}
	if code, out, errs := exec(t, "", "-R", "-f", dir, "--strict"); code != exitLost || out != "" || !strings.Contains(errs, "W607") {
		t.Errorf("--strict: status %d, printed %q\n%s", code, out, errs)
	}
	if code, _, errs := exec(t, "", "-f", filepath.Join(dir, "chart", "values.yaml")); code != exitInput || !strings.Contains(errs, "must say what it is") {
		t.Errorf("a file that was named: status %d\n%s", code, errs)
	}
}

// One document that can't be read keeps the others back, and says how they are converted without it.
func TestSkipUnreadable(t *testing.T) {
	dir := folder(t, map[string]string{"a.yaml": strings.Replace(pool, "name: a", "name: b, labels: {x: true}", 1), "b.yaml": pool, "c.yaml": "a: {{ .x }}\n"})
	code, out, errs := exec(t, "", "-f", dir)
	if code != exitInput || out != "" || !strings.Contains(errs, "--skip-unreadable converts the rest") || !strings.Contains(errs, "it looks like a template") {
		t.Errorf("status %d, printed %q\n%s", code, out, errs)
	}
	code, out, errs = exec(t, "", "-f", dir, "--skip-unreadable", "-o", "name")
	if code != exitLost || out != "nodepool.karpenter.sh/a\n" || strings.Count(errs, "ERROR W608") != 2 {
		t.Errorf("--skip-unreadable: status %d, printed %q\n%s", code, out, errs)
	}
}

// Values that are yet to be filled in are refused with what to do, and kept on request.
func TestPlaceholders(t *testing.T) {
	in := strings.Replace(pool, "name: a", "name: '${POOL}'", 1)
	if code, _, errs := exec(t, in, "-f", "-"); code != exitLost || !strings.Contains(errs, "Placeholders such as ${POOL} are no values of the API: fill them in before (with envsubst, say), or let them through with --allow-variables") {
		t.Errorf("status %d\n%s", code, errs)
	}
	if code, out, errs := exec(t, in, "-f", "-", "--force"); code != exitConverted || !strings.Contains(out, "${POOL}") {
		t.Errorf("--force: status %d\n%s\n%s", code, out, errs)
	}
	if _, _, errs := exec(t, strings.Replace(pool, "name: a", "name: A_B", 1), "-f", "-"); strings.Contains(errs, "Placeholders") {
		t.Errorf("a name without placeholder: %s", errs)
	}
}

// --output-dir writes what comes of each file where it was, in its format, and overwrites nothing.
func TestOutputDir(t *testing.T) {
	dir := folder(t, map[string]string{
		"a.yaml": pool + "---\n" + strings.Replace(pool, "name: a", "name: a2", 1), "deep/b.yml": strings.Replace(pool, "name: a", "name: b", 1),
		"deep/c.json": `{"apiVersion":"karpenter.sh/v1","kind":"NodePool","metadata":{"name":"c"},"spec":{"template":{"spec":{"requirements":[],"nodeClassRef":{"group":"g","kind":"K","name":"n"}}}}}`,
		"cm.yaml":     "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n",
	})
	to := filepath.Join(t.TempDir(), "new")
	code, out, errs := exec(t, "", "-R", "-f", dir, "--output-dir", to)
	if code != exitConverted || out != "" {
		t.Fatalf("status %d, printed %q\n%s", code, out, errs)
	}
	for name, want := range map[string][]string{"a.yaml": {"metadata: {name: a}\n", "---\n", "metadata: {name: a2}\n"}, "deep/b.yml": {"metadata: {name: b}\n"}, "deep/c.json": {`"metadata":{"name":"c"}`}} {
		text := read(t, filepath.Join(to, name))
		for _, part := range want {
			if !strings.Contains(text, part) {
				t.Errorf("%s lacks %q:\n%s", name, part, text)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(to, "cm.yaml")); err == nil {
		t.Error("a file of which nothing is left was written")
	}
	if code, _, errs := exec(t, "", "-R", "-f", dir, "--output-dir", dir); code != exitOutput || !strings.Contains(errs, "is not overwritten") {
		t.Errorf("into the folder itself: status %d\n%s", code, errs)
	}
	if code, _, errs := exec(t, "", "-f", filepath.Join(dir, "a.yaml"), "-f", filepath.Join(folder(t, map[string]string{"a.yaml": strings.Replace(pool, "name: a", "name: z", 1)}), "a.yaml"), "--output-dir", t.TempDir()); code != exitOutput || !strings.Contains(errs, "would be written to it") {
		t.Errorf("two files of one name: status %d\n%s", code, errs)
	}
	for _, args := range [][]string{{"-f", "-"}, {"-f", dir, "-o", "json"}} {
		if code, _, errs := exec(t, pool, append(args, "--output-dir", t.TempDir())...); code != exitInput || !strings.Contains(errs, "--output-dir") {
			t.Errorf("%v: status %d\n%s", args, code, errs)
		}
	}
}
