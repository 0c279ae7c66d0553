package convert

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
)

// noObject returns the reason why a document in a folder is no Kubernetes object, or "" if it may be an object. Folders of manifests may
// contain values and descriptions of charts, lists of files for Kustomize and patches. A document with metadata or a kind was meant as an
// object.
func (d *decoder) noObject(at Position, text []byte) string {
	if !d.found || at.Item > 0 {
		return ""
	}
	text = bytes.TrimSpace(text)
	if len(text) > 0 && text[0] != '{' {
		return "it is no object with apiVersion and kind"
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return ""
	}
	for _, name := range []string{"kind", "metadata", "items"} {
		if _, ok := fields[name]; ok {
			return ""
		}
	}
	if instead := instead(at.Source); instead != "" {
		return instead
	}
	return "it has no apiVersion and kind"
}

// instead returns a sentence for a file from which a tool makes manifests: it says that the tool's output should be converted. It returns
// "" for other files.
func instead(name string) string {
	folder := filepath.Dir(name)
	base := strings.ToLower(filepath.Base(name))
	switch stem := strings.TrimSuffix(base, filepath.Ext(base)); {
	case stem == "kustomization":
		return `it lists files for Kustomize: convert what "kubectl kustomize ` + folder + `" prints`
	case stem == "chart", strings.HasPrefix(stem, "values"), strings.HasSuffix(stem, "values"):
		return `it belongs to a Helm chart: convert what "helm template ` + folder + `" prints`
	}
	return ""
}
