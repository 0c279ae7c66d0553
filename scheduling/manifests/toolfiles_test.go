package manifests

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Files of Kustomize and Helm are left out with a warning of what to run instead, and refused by strict reading.
func TestToolFiles(t *testing.T) {
	const pod = "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c}]}}"
	for name, c := range map[string]struct{ text, says string }{
		"kustomization.yaml":   {"resources: [pod.yaml]", "kubectl kustomize"},
		"kustomization.yml":    {"apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [pod.yaml]", "kubectl kustomize"},
		"Chart.yaml":           {"apiVersion: v2\nname: x\nversion: 1.0.0", "helm template"},
		"values.yaml":          {"kind: DaemonSet\nreplicas: 2", "helm template"},
		"values-prod.yaml":     {"replicas: 2", "helm template"},
		"staging.values.yml":   {"replicas: 2", "helm template"},
		"values-are-kept.yaml": {strings.Replace(pod, "name: a", "name: b", 1), ""},
	} {
		dir := t.TempDir()
		for file, text := range map[string]string{"pod.yaml": pod, name: c.text} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		sources, err := Files(dir)
		if err != nil {
			t.Fatal(err)
		}
		result, err := Load(sources, Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if c.says == "" {
			if len(result.Snapshot.Pods) != 2 || len(result.Warnings) > 0 {
				t.Errorf("%s: %d pods, %v", name, len(result.Snapshot.Pods), result.Warnings)
			}
			continue
		}
		if len(result.Snapshot.Pods) != 1 || len(result.Warnings) != 1 || result.Warnings[0].Code != WarningToolFile ||
			!strings.Contains(result.Warnings[0].Message, c.says+" "+dir) {
			t.Errorf("%s: %d pods, %v", name, len(result.Snapshot.Pods), result.Warnings)
		}

		_, err = Load(sources, Options{Strict: true})
		var refused *LoadError
		if !errors.As(err, &refused) || len(refused.Problems) != 1 || !strings.Contains(refused.Problems[0].Message, c.says+" "+dir) {
			t.Errorf("%s, strict: %v", name, err)
		}
	}
	// Other documents without a kind stop a folder, as before.
	if _, err := Load([]Source{{Name: "x/other.yaml", Data: []byte("replicas: 2")}}, Options{}); err == nil {
		t.Error("a file of another name is taken")
	}
}
