package v1

import (
	"strings"
	"testing"
)

// AWN-051, AWN-360: unknown keys are reported one by one at any depth, and a wrong type hides none of the others.
func TestKubeletShapes(t *testing.T) {
	for _, tc := range []struct {
		name, key, value string
		// wants are "path: text" of the errors, in order.
		wants []string
	}{
		{"fine", "authentication", `{"anonymous": {"enabled": false}, "webhook": {"cacheTTL": "2m0s", "enabled": true}, "x509": {"clientCAFile": "/x"}}`, nil},
		{"nested unknown key", "authentication", `{"webhook": {"cacheTtl": "2m"}}`, []string{"authentication.webhook.cacheTtl: check the spelling"}},
		{"several", "authentication", `{"anonymous": {"enabled": "no", "x": 1}, "webhok": {}}`,
			[]string{"authentication.anonymous.enabled: must be true or false", "authentication.anonymous.x: check the spelling", "authentication.webhok: check the spelling"}},
		{"in a list", "shutdownGracePeriodByPodPriority", `[{"priority": 1, "shutdownGracePeriodSeconds": 3}, {"priority": 1.5, "seconds": 3}]`,
			[]string{"shutdownGracePeriodByPodPriority[1].priority: must be a whole number", "shutdownGracePeriodByPodPriority[1].seconds: check the spelling"}},
		{"in a map", "featureGates", `{"A": true, "B": "true"}`, []string{"featureGates[B]: must be true or false"}},
		{"a number for a duration", "shutdownGracePeriod", `30`, []string{"shutdownGracePeriod: must be a duration such as 90s"}},
		{"no duration", "shutdownGracePeriod", `"soon"`, []string{"shutdownGracePeriod: must be a duration"}},
		{"a string for a number", "registryPullQPS", `"20"`, []string{"registryPullQPS: must be a whole number"}},
		{"a fraction", "memoryThrottlingFactor", `0.9`, nil},
		{"a string for a list", "tlsCipherSuites", `"TLS"`, []string{"tlsCipherSuites: must be a list"}},
		{"a list for a string", "clusterDomain", `["x"]`, []string{"clusterDomain: must be a string"}},
		{"an object for a number", "podPidsLimit", `{}`, []string{"podPidsLimit: must be a whole number"}},
		{"an object with keys for a number", "podPidsLimit", `{"a": 1, "b": 2}`, []string{"podPidsLimit: must be a whole number"}},
		{"null is a key that is not there", "podPidsLimit", `null`, nil},
		{"quantities", "reservedMemory", `[{"numaNode": 0, "limits": {"memory": "1Gi", "hugepages-2Mi": 3}}]`, nil},
		{"lists in a map", "staticPodURLHeader", `{"a": ["b"], "c": "d"}`, []string{"staticPodURLHeader[c]: must be a list"}},
		{"logging", "logging", `{"format": "json", "flushFrequency": 5000000000, "options": {"json": {"infoBufferSize": "0"}}, "vmodule": [{"filePattern": "x", "level": 3}]}`,
			[]string{"logging.vmodule[0].level: check the spelling"}},
		{"not JSON", "podPidsLimit", `{`, []string{"podPidsLimit: is not JSON"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			class := read(t, "full.yaml")
			class.Spec.Kubelet = &KubeletConfiguration{Other: map[string]RawJSON{tc.key: RawJSON(tc.value)}}
			errs := class.Validate()
			if len(errs) != len(tc.wants) {
				t.Fatalf("errors are %v, want %q", errs, tc.wants)
			}
			for i, want := range tc.wants {
				path, text, _ := strings.Cut(want, ": ")
				if errs[i].Field != "spec.kubelet."+path || !strings.Contains(errs[i].Error(), text) {
					t.Errorf("error %d is %v, want %s", i, errs[i], want)
				}
			}
		})
	}
}

// AWN-048, AWN-049: every key of the kubelet's configuration has a field or a shape, and none has both.
func TestKubeletKeysAreComplete(t *testing.T) {
	shapes := otherKubeletShapes()
	for _, key := range ManagedKubeletKeys() {
		if _, ok := shapes[key]; ok {
			t.Errorf("%s has a field and a shape", key)
		}
	}
	// Those of Kubernetes 1.37.
	if have := len(shapes) + len(ManagedKubeletKeys()); have != 128 {
		t.Errorf("%d keys", have)
	}
}

func FuzzKubeletShape(f *testing.F) {
	for _, seed := range []string{`{}`, `[1]`, `{"webhook":{"cacheTTL":"1s"}}`, `null`, `1e400`, `"x"`} {
		f.Add("authentication", []byte(seed))
		f.Add("logging", []byte(seed))
	}
	f.Fuzz(func(t *testing.T, key string, value []byte) {
		k := &KubeletConfiguration{Other: map[string]RawJSON{key: value}}
		for _, e := range (&EC2NodeClass{Spec: EC2NodeClassSpec{AMIFamily: AMIFamilyAL2023, Kubelet: k}}).Validate() {
			if e.Detail == "" {
				t.Fatalf("an error without a cure: %v", e)
			}
		}
	})
}
