package userdata

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// nodeLabels returns the labels that a kubelet may set on itself.
func nodeLabels(labels map[string]string) map[string]string {
	kept := make(map[string]string, len(labels))
	for key, value := range labels {
		if !restricted(key) {
			kept[key] = value
		}
	}
	return kept
}

// restricted reports whether a key's domain is, or is below, a domain that belongs to Kubernetes or to the cluster's administrators.
func restricted(key string) bool {
	domain, _, ok := strings.Cut(key, "/")
	if !ok {
		return false
	}
	for _, reserved := range []string{"kubernetes.io", "k8s.io", "node-restriction.kubernetes.io"} {
		if domain == reserved || strings.HasSuffix(domain, "."+reserved) {
			return true
		}
	}
	return false
}

// taintTexts formats taints for the kubelet's flag.
func taintTexts(taints []corev1.Taint) []string {
	texts := make([]string, 0, len(taints))
	for _, taint := range taints {
		text := taint.Key
		if taint.Value != "" {
			text += "=" + taint.Value
		}
		texts = append(texts, text+":"+string(taint.Effect))
	}
	return texts
}

// pairs formats a map for a flag, sorted by key.
func pairs(m map[string]string, between string) string {
	texts := make([]string, 0, len(m))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		texts = append(texts, key+between+m[key])
	}
	return strings.Join(texts, ",")
}
