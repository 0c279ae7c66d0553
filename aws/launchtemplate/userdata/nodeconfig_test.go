package userdata

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
)

// nodeadmFields are the fields of nodeadm's NodeConfig that are written, with the kind of their values (AWN-199). Below
// spec.kubelet.config everything is the kubelet's own configuration.
func nodeadmFields() map[string]string {
	return map[string]string{
		"apiVersion":                                      "string",
		"kind":                                            "string",
		"spec":                                            "object",
		"spec.cluster":                                    "object",
		"spec.cluster.name":                               "string",
		"spec.cluster.apiServerEndpoint":                  "string",
		"spec.cluster.certificateAuthority":               "string",
		"spec.cluster.cidr":                               "string",
		"spec.instance":                                   "object",
		"spec.instance.localStorage":                      "object",
		"spec.instance.localStorage.strategy":             "string",
		"spec.kubelet":                                    "object",
		"spec.kubelet.config":                             "object",
		"spec.kubelet.config.clusterDNS":                  "list",
		"spec.kubelet.config.maxPods":                     "number",
		"spec.kubelet.config.podsPerCore":                 "number",
		"spec.kubelet.config.systemReserved":              "object",
		"spec.kubelet.config.kubeReserved":                "object",
		"spec.kubelet.config.evictionHard":                "object",
		"spec.kubelet.config.evictionSoft":                "object",
		"spec.kubelet.config.evictionSoftGracePeriod":     "object",
		"spec.kubelet.config.evictionMaxPodGracePeriod":   "number",
		"spec.kubelet.config.imageGCHighThresholdPercent": "number",
		"spec.kubelet.config.imageGCLowThresholdPercent":  "number",
		"spec.kubelet.config.cpuCFSQuota":                 "bool",
		"spec.kubelet.config.registerWithTaints":          "list",
		"spec.kubelet.config.containerLogMaxSize":         "string",
		"spec.kubelet.flags":                              "list",
	}
}

func kindOf(value any) string {
	switch value.(type) {
	case string:
		return "string"
	case bool:
		return "bool"
	case float64:
		return "number"
	case []any:
		return "list"
	case map[string]any:
		return "object"
	}
	return "null"
}

func checkFields(t *testing.T, path string, object map[string]any, fields map[string]string) {
	t.Helper()
	for _, key := range slices.Sorted(maps.Keys(object)) {
		at := strings.TrimPrefix(path+"."+key, ".")
		want, known := fields[at]
		if !known {
			t.Errorf("%s is no field of a NodeConfig", at)
			continue
		}
		if have := kindOf(object[key]); have != want {
			t.Errorf("%s is a %s, want %s", at, have, want)
		}
		// Maps of the kubelet have keys of their own.
		if inner, ok := object[key].(map[string]any); ok && !strings.HasPrefix(at, "spec.kubelet.config.") {
			checkFields(t, at, inner, fields)
		}
	}
}

// AWN-199, AWN-203: the generated document has fields that nodeadm knows, of the types it wants, and no empty objects.
func TestNodeConfigFields(t *testing.T) {
	for name, config := range examples() {
		if config.Family != awsv1.AMIFamilyAL2023 {
			continue
		}
		rendered, err := Render(config)
		if err != nil {
			t.Fatal(err)
		}
		parts := readByStandardLibrary(t, rendered.Text)
		var document map[string]any
		if err := yaml.UnmarshalStrict([]byte(parts[len(parts)-1].body), &document); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		checkFields(t, "", document, nodeadmFields())
		if document["apiVersion"] != nodeConfigAPIVersion || document["kind"] != nodeConfigKind {
			t.Errorf("%s: a %v %v", name, document["apiVersion"], document["kind"])
		}
		if strings.Contains(parts[len(parts)-1].body, "{}") {
			t.Errorf("%s: has an empty object", name)
		}
	}
}

// AWN-056, AWN-199, AWN-202, AWN-207: the kubelet block comes over as it was written, keys of any depth included.
func TestNodeConfigKeepsTheKubeletBlock(t *testing.T) {
	c := with(demo(awsv1.AMIFamilyAL2023), serviceCIDR, kubeletOfB, func(c *Config) {
		c.Kubelet.Other = map[string]awsv1.RawJSON{
			"shutdownGracePeriodByPodPriority": awsv1.RawJSON(`[{"priority":1000000000,"shutdownGracePeriodSeconds":30}]`),
			"kubeAPIQPS":                       awsv1.RawJSON(`50`),
			"featureGates":                     awsv1.RawJSON(`{"B":true,"A":false}`),
		}
	})
	text, err := nodeConfig(&c)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"      - priority: 1000000000\n        shutdownGracePeriodSeconds: 30\n", "      kubeAPIQPS: 50\n",
		"      featureGates:\n        A: false\n        B: true\n", "        memory.available: 90s\n", "      maxPods: 29\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("lacks %q:\n%s", want, text)
		}
	}
}
