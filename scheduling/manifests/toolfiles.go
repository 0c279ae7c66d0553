package manifests

import (
	"path/filepath"
	"strings"
)

const kindKustomization = "Kustomization"

// toolFile returns what to run instead of reading the file, if it belongs to a tool that writes manifests and the document is not a
// Kubernetes object, or "" for all other files.
func toolFile(name string, h header) string {
	dir, base := filepath.Dir(name), strings.ToLower(filepath.Base(name))
	group, _, _ := strings.Cut(h.apiVersion, "/")
	if h.kind == kindKustomization && group == "kustomize.config.k8s.io" {
		base = "kustomization.yaml"
	} else if h.kind != "" && h.apiVersion != "" {
		return ""
	}
	stem := strings.TrimSuffix(strings.TrimSuffix(base, ".yaml"), ".yml")
	switch {
	case stem == base: // the name of a stream, or a file of another kind
		return ""
	case stem == "kustomization":
		return "it lists files for Kustomize and is no object; plan what \"kubectl kustomize " + dir + "\" prints"
	case stem == "chart" || stem == "values" || strings.HasPrefix(stem, "values-") || strings.HasPrefix(stem, "values.") || strings.HasSuffix(stem, "-values") || strings.HasSuffix(stem, ".values"):
		return "it belongs to a Helm chart and is no object; plan what \"helm template " + dir + "\" prints"
	}
	return ""
}
