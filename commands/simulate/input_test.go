package simulate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An input whose workloads or static pools have 0 replicas says that, not that there was no object.
func TestZeroReplicas(t *testing.T) {
	const (
		deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {replicas: 0, template: {spec: {containers: [{name: c}]}}}\n"
		set        = "---\napiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: b}\nspec: {replicas: 0, template: {spec: {containers: [{name: c}]}}}\n"
		pool       = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: fixed}\nspec: {replicas: 0, template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: x}, requirements: []}}}\n"
	)
	for input, want := range map[string]string{
		deployment:       "there is nothing to plan: Deployment default/a has 0 replicas. ",
		deployment + set: "Deployment default/a and 1 other object have 0 replicas. ",
		pool:             "NodePool fixed has 0 replicas. ",
	} {
		if a := simulate(t, input, "-"); a.code != exitInput || !strings.Contains(a.stderr, want) || strings.Contains(a.stderr, "no object") {
			t.Errorf("status %d, no %q in %s", a.code, want, a.stderr)
		}
		if a := simulate(t, input, "-", "--allow-empty"); a.code != exitPlaced {
			t.Errorf("--allow-empty: status %d, %s", a.code, a.stderr)
		}
	}
}

// A kubelet block in a NodePool of v1 is answered with where it belongs, also by --strict and in the file of --diff.
func TestKubeletInPool(t *testing.T) {
	const pool = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: d}\nspec:\n  template:\n    spec:\n      kubelet: {maxPods: 20}\n" +
		"      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}\n      requirements: []\n"
	const want = "line 7: NodePool d: spec.template.spec.kubelet: in v1 this belongs in spec.kubelet of the pool's EC2NodeClass; convert moves it there if the class is in the same input"
	file := filepath.Join(t.TempDir(), "pool.yaml")
	if err := os.WriteFile(file, []byte(pool), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{file, "testdata/deployment.yaml"}, {"testdata/fleet", "--diff", file}, {file, "--strict"}} {
		a := simulate(t, "", args...)
		if !strings.Contains(a.stderr, want) || (a.code == exitInput) != (len(args) == 2 && args[1] == "--strict") {
			t.Errorf("%v: status %d, %s", args, a.code, a.stderr)
		}
	}
	a := simulate(t, "", file, "testdata/deployment.yaml", "-o", "json")
	if !strings.Contains(a.stdout, "belongs in spec.kubelet of the pool's EC2NodeClass") {
		t.Errorf("the notes lack it: %s", a.stderr)
	}
}

// Templates in a folder are refused with what to do, as convert refuses them.
func TestTemplatesInFolder(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"Chart.yaml":      "apiVersion: v2\nname: x\nversion: 1.0.0\n",
		"deployment.yaml": "apiVersion: v1\nkind: Pod\nmetadata:\n  {{- include \"labels\" . | nindent 2 }}\n",
		"pod.yaml":        "apiVersion: v1\nkind: Pod\nmetadata: {name: \"${NAME}\"}\nspec: {containers: [{name: c}]}\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a := simulate(t, "", folder)
	for _, want := range []string{`deployment.yaml: document 1, line `, `it looks like a template: plan what it is rendered to ("helm template" does so for charts)`, "it looks like a placeholder: plan what it is filled in to"} {
		if a.code != exitInput || !strings.Contains(a.stderr, want) {
			t.Errorf("status %d, no %q in\n%s", a.code, want, a.stderr)
		}
	}
}
