package manifests

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestAmountsThatCantBeMeant(t *testing.T) {
	for _, c := range []struct {
		resource corev1.ResourceName
		amount   string
		verdict  verdict
		message  string
	}{
		{"cpu", "0", fine, ""},
		{"cpu", "100m", fine, ""},
		{"cpu", "192", fine, ""},
		{"cpu", "500", unlikely, `500 whole CPUs are asked for; did you mean "500m"?`},
		{"cpu", "2000", impossible, `2000 CPUs are more than any node has; did you mean "2000m"?`},
		{"cpu", "1000000", impossible, `1000000 CPUs are more than any node has; did you mean "1000m"?`},
		{"cpu", "-1", impossible, `must not be negative, but is -1; did you mean "1"?`},
		{"cpu", "9E", impossible, `9000000000000000000 CPUs are more than any node has; did you mean "9000m"?`},
		{"memory", "0", fine, ""},
		{"memory", "1Gi", fine, ""},
		{"memory", "24Ti", fine, ""},
		{"memory", "512", impossible, `"512" is 512 bytes of memory; did you mean "512Mi"?`},
		{"memory", "100m", impossible, `"100m" is less than one byte of memory; did you mean "100Mi"?`},
		{"memory", "64k", impossible, `"64k" is 64000 bytes of memory; did you mean "64Mi"?`},
		{"memory", "512Ki", unlikely, `"512Ki" is only 524288 bytes of memory; is the unit right?`},
		{"memory", "512Ti", impossible, "512Ti of memory is more than any node has; check the unit: Mi is 2^20 bytes, Gi is 2^30"},
		{"memory", "-1Gi", impossible, `must not be negative, but is -1Gi; did you mean "1Gi"?`},
		{"ephemeral-storage", "10", impossible, `"10" is 10 bytes of ephemeral-storage; did you mean "10Mi"?`},
		{"ephemeral-storage", "200Ti", fine, ""},
		{"cpu", "1e9999999", impossible, "1e9999999 CPUs are more than any node has"},
		{"memory", "1e9999999", impossible, "1e9999999 of memory is more than any node has; check the unit: Mi is 2^20 bytes, Gi is 2^30"},
		{"nvidia.com/gpu", "1e9999999", impossible, "1e9999999 of nvidia.com/gpu is more than any node has"},
		{"nvidia.com/gpu", "8", fine, ""},
		{"nvidia.com/gpu", "500m", impossible, "must be a whole number, but is 500m"},
		{"nvidia.com/gpu", "-1", impossible, `must not be negative, but is -1; did you mean "1"?`},
		{"example.com/bandwidth", "25k", fine, ""},
		{"hugepages-2Mi", "2Mi", fine, ""},
	} {
		t.Run(string(c.resource)+" "+c.amount, func(t *testing.T) {
			verdict, message := judgeAmount(c.resource, resource.MustParse(c.amount))
			if verdict != c.verdict || message != c.message {
				t.Errorf("verdict %d %q, want %d %q", verdict, message, c.verdict, c.message)
			}
		})
	}
}

func TestAmountsAreJudgedWhereverTheyStand(t *testing.T) {
	const bad = "{cpu: 5000}"
	for path, text := range map[string]string{
		"spec.containers[1].resources.requests[cpu]":                                "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers: [{name: a}, {name: b, resources: {requests: BAD}}]\n",
		"spec.containers[0].resources.limits[cpu]":                                  "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers: [{name: a, resources: {limits: BAD}}]\n",
		"spec.initContainers[0].resources.requests[cpu]":                            "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  initContainers: [{name: a, resources: {requests: BAD}}]\n  containers: [{name: b}]\n",
		"spec.resources.requests[cpu]":                                              "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  resources: {requests: BAD}\n  containers: [{name: a}]\n",
		"spec.overhead[cpu]":                                                        "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  overhead: BAD\n  containers: [{name: a}]\n",
		"spec.template.spec.containers[0].resources.requests[cpu]":                  "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec:\n  template: {spec: {containers: [{resources: {requests: BAD}}]}}\n",
		"spec.jobTemplate.spec.template.spec.containers[0].resources.requests[cpu]": "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: a}\nspec:\n  jobTemplate: {spec: {template: {spec: {containers: [{resources: {requests: BAD}}]}}}}\n",
		"overhead.podFixed[cpu]":                                                    "apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: a}\nhandler: x\noverhead: {podFixed: BAD}\n",
		"spec.limits[0].defaultRequest[cpu]":                                        "apiVersion: v1\nkind: LimitRange\nmetadata: {name: a}\nspec:\n  limits: [{type: Container, defaultRequest: BAD}]\n",
	} {
		t.Run(path, func(t *testing.T) {
			refused := refusal(t, Options{}, Source{"in", []byte(strings.Replace(text, "BAD", bad, 1))})
			if got := refused.Problems[0]; len(refused.Problems) != 1 || got.Path != path || got.Code != ProblemRequest || got.Line < 4 {
				t.Errorf("problems %v, want one at %s", refused, path)
			}
		})
	}
}

func TestUnlikelyAmountsAreNamedOnce(t *testing.T) {
	text := strings.Replace(simplePod("a", ""), "cpu: 100m", "cpu: 500", 1)
	result := load(t, text+"---\n"+strings.Replace(text, "name: a", "name: b", 1))
	w := wantWarning(t, result, WarningRequest)
	if w.More != 1 || w.Line != 7 {
		t.Errorf("warning %+v, want it on line 7 and for one more pod", w)
	}
}
