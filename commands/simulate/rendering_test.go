//go:build unix

package simulate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// With --render, the folders of Kustomize and Helm are what the user's own tools make of them. Without it, the answer says what to do.
func TestRendering(t *testing.T) {
	t.Chdir(t.TempDir())
	const pod = "{apiVersion: v1, kind: Pod, metadata: {name: NAME}, spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}}"
	for name, text := range map[string]string{
		"deploy/chart/Chart.yaml":              "apiVersion: v2\nname: chart\n",
		"deploy/chart/values.yaml":             "replicas: 1",
		"deploy/chart/templates/pod.yaml":      "name: {{ .Values.name }}",
		"deploy/app/kustomization.yaml":        "resources: [pod.yaml]",
		"deploy/app/pod.yaml":                  strings.Replace(pod, "NAME", "not-rendered", 1),
		"deploy/plain.yaml":                    strings.Replace(pod, "NAME", "plain", 1),
		"overlays/base/kustomization.yaml":     "",
		"overlays/dev/kustomization.yaml":      "resources: [../base]",
		"overlays/prod/kustomization.yaml":     "resources: [../base]",
		"bin/helm":                             "#!/bin/sh\n[ \"$*\" = \"template chart deploy/chart --values prod.yaml\" ] || exit 3\ncat <<END\n" + strings.Replace(pod, "NAME", "from-helm", 1) + "\nEND\n",
		"bin/kubectl":                          "#!/bin/sh\n[ \"$*\" = \"kustomize deploy/app\" ] || { echo bad arguments >&2; exit 3; }\ncat <<END\n" + strings.Replace(pod, "NAME", "from-kustomize", 1) + "\nEND\n",
		"only/kustomized/kustomization.yaml":   "resources: [pod.yaml]",
		"only/kustomized/pod.yaml":             strings.Replace(pod, "NAME", "kept", 1),
		"unused/kustomization.yaml":            "resources: [pod.yaml]",
		"unused/elsewhere/kustomization.yaml":  "resources: [pod.yaml]",
		"unused/elsewhere/nested/Chart.yaml":   "name: x",
		"unused/elsewhere/nested/ignored.yaml": "",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	tools, err := filepath.Abs("bin")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", tools+":/usr/bin:/bin")

	a := simulate(t, "", "--render", "--helm-values", "prod.yaml", "-o", "json", "deploy")
	if a.code != exitPlaced {
		t.Fatalf("%d\n%s", a.code, a.stderr)
	}
	d := a.plan(t)
	var placed []string
	for _, node := range d.Nodes {
		placed = append(placed, node.Pods...)
	}
	for _, want := range []string{"default/from-helm", "default/from-kustomize", "default/plain"} {
		if !strings.Contains(strings.Join(placed, " "), want) || len(placed) != 3 {
			t.Errorf("%s is missing, or more than three pods: %v", want, placed)
		}
	}
	if want := `deploy/app: planning what "kubectl kustomize deploy/app" prints`; !strings.Contains(a.stderr, want) {
		t.Errorf("%q is missing:\n%s", want, a.stderr)
	}

	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"a hint":           {[]string{"only"}, exitPlaced, "--render plans what your own tools make of only/kustomized (Kustomize)"},
		"with an error":    {[]string{"deploy"}, exitInput, "--render plans what your own tools make of deploy/app (Kustomize), deploy/chart (Helm)"},
		"a tool fails":     {[]string{"--render", "only"}, exitInput, "kubectl kustomize only/kustomized: exit status 3: bad arguments"},
		"alternatives":     {[]string{"--render", "overlays"}, exitInput, "overlays/dev and overlays/prod are alternatives"},
		"nothing vanishes": {[]string{"--render", "unused"}, exitInput, "unused/elsewhere is not rendered"},
		"values alone":     {[]string{"--helm-values", "x", "only"}, exitInput, "use it only with --render"},
	} {
		if a := simulate(t, "", c.args...); a.code != c.code || !strings.Contains(a.stderr, c.says) {
			t.Errorf("%s: %d, want %d and %q\n%s", name, a.code, c.code, c.says, a.stderr)
		}
	}
}
