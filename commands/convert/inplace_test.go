package convert

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// repository is a folder as people keep it in git: comments, other kinds, several documents.
func repository() map[string]string {
	return map[string]string{
		"pool.yaml": `# The pool of the shop.
apiVersion: karpenter.sh/v1beta1
kind: NodePool
metadata:
  name: default   # do not rename
spec:
  template:
    spec:
      nodeClassRef: {name: default}
      # Only what we have tested.
      requirements:
      - key: "karpenter.sh/capacity-type"   # spot is for batch
        operator: In
        values: [on-demand]
  limits:
    cpu: "1000"
---
# not ours
apiVersion: v1
kind: ConfigMap
metadata: {name: other}
data: {a: 'b'}   # kept
`,
		"app/deployment.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:   {template: {spec: {containers: []}}}\n",
		"app/values.yaml":     "replicas:   3 # of web\n",
	}
}

// --diff prints what --in-place does, and --in-place leaves everything that is not converted as it was.
func TestInPlace(t *testing.T) {
	dir := folder(t, repository())
	code, printed, errs := exec(t, "", "-R", "-f", dir, "--diff")
	if code != exitWouldChange || !strings.Contains(errs, "convert: 1 of 3 files would change; 2 documents of other kinds stay as they are") {
		t.Fatalf("status %d: %s", code, errs)
	}
	for _, want := range []string{"-apiVersion: karpenter.sh/v1beta1\n+apiVersion: karpenter.sh/v1\n", "@@ -1,", "/pool.yaml\n"} {
		if !strings.Contains(printed, want) {
			t.Errorf("no %q in\n%s", want, printed)
		}
	}
	for name, text := range repository() {
		if now, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(now) != text {
			t.Fatalf("--diff has changed %s: %v", name, err)
		}
	}
	if code, printed, errs := exec(t, "", "-R", "-f", dir, "--in-place"); code != exitConverted || printed != "" || !strings.Contains(errs, "1 of 3 files changed") {
		t.Fatalf("status %d: %s%s", code, printed, errs)
	}
	for name, text := range repository() {
		now, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if name != "pool.yaml" {
			if string(now) != text {
				t.Errorf("%s has changed:\n%s", name, now)
			}
			continue
		}
		for _, want := range []string{
			"# The pool of the shop.\napiVersion: karpenter.sh/v1\n", "  name: default   # do not rename\n", "      # Only what we have tested.\n      requirements:\n",
			"      - key: \"karpenter.sh/capacity-type\"   # spot is for batch\n", "        values: [on-demand]\n", "    cpu: \"1000\"\n", text[strings.Index(text, "---\n"):],
		} {
			if !strings.Contains(string(now), want) {
				t.Errorf("no %q in\n%s", want, now)
			}
		}
	}
	// What is converted stays as it is.
	if code, printed, errs := exec(t, "", "-R", "-f", dir, "--diff"); code != exitConverted || printed != "" || !strings.Contains(errs, "0 of 3 files would change") {
		t.Errorf("again: status %d: %s%s", code, printed, errs)
	}
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("%v %v are left", err, left)
	}
}

// Lists, JSON and Provisioners that become two objects are changed in their files, too, and read again they are what is printed.
func TestInPlaceForms(t *testing.T) {
	provisioner, err := os.ReadFile("testdata/provisioner.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const class = `{"apiVersion": "karpenter.k8s.aws/v1beta1", "kind": "EC2NodeClass", "metadata": {"name": "default"}, "spec": {"amiFamily": "AL2023", "role": "r", "subnetSelectorTerms": [{"id": "subnet-1"}], "securityGroupSelectorTerms": [{"id": "sg-1"}]}}`
	for name, text := range map[string]string{
		"provisioner.yaml": string(provisioner), "class.json": class + "\n", "list.yaml": "apiVersion: v1\nkind: List\nitems: # all\n- " + class + " # one\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n",
		"indented.yaml": "---\n" + strings.ReplaceAll(string(provisioner), "\n", "\r\n"),
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, map[string]string{name: text})
			file := filepath.Join(dir, name)
			code, want, errs := exec(t, "", "-f", file)
			if code != exitConverted {
				t.Fatalf("status %d: %s", code, errs)
			}
			if code, _, errs := exec(t, "", "-f", file, "--in-place"); code != exitConverted {
				t.Fatalf("status %d: %s", code, errs)
			}
			code, again, errs := exec(t, "", "-f", file)
			if diff := cmp.Diff(want, again); code != exitConverted || diff != "" {
				now, _ := os.ReadFile(file)
				t.Errorf("status %d: %s\n(-printed +in place)\n%s\n%s", code, errs, diff, now)
			}
		})
	}
}

// Flags that exclude each other are refused, and a file keeps its permissions.
func TestInPlaceUsage(t *testing.T) {
	for args, want := range map[string]string{
		"--in-place --diff -f x": "exclude each other", "--in-place -f -": "they cannot be used with standard input", "--diff -o json -f x": "each file keeps its format", "--diff --output-dir y -f x": "exclude each other",
	} {
		if code, _, errs := exec(t, "", strings.Fields(args)...); code != exitInput || !strings.Contains(errs, want) {
			t.Errorf("%s: status %d: %s", args, code, errs)
		}
	}
	dir := folder(t, repository())
	file := filepath.Join(dir, "pool.yaml")
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link.yaml")
	if err := os.Symlink("pool.yaml", link); err != nil {
		t.Skip(err)
	}
	if code, _, errs := exec(t, "", "-f", link, "--in-place"); code != exitConverted {
		t.Fatalf("status %d: %s", code, errs)
	}
	info, err := os.Lstat(link)
	if err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestUnifiedDiff(t *testing.T) {
	before := "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\n"
	after := "a\nB\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\nn"
	want := "--- a/x\n+++ b/x\n@@ -1,5 +1,5 @@\n a\n-b\n+B\n c\n d\n e\n@@ -11,3 +11,4 @@\n k\n l\n m\n+n\n\\ No newline at end of file\n"
	if diff := cmp.Diff(want, unifiedDiff("x", before, after)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := unifiedDiff("x", before, before); got != "" {
		t.Errorf("%q", got)
	}
	if got := unifiedDiff("x", "", "a\n"); got != "--- a/x\n+++ b/x\n@@ -0,0 +1,1 @@\n+a\n" {
		t.Errorf("%q", got)
	}
}
