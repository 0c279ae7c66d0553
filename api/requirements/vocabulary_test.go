package requirements_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"

	"github.com/drawknife/drawknife/api/requirements"
)

// labelKeys is what Vocabulary and Lookup both answer.
type labelKeys interface {
	Canonical(key string) string
	CanonicalValue(key, value string) string
	IsWellKnown(key string) bool
	Restricted(key string) string
}

// provider is a vocabulary as a cloud provider would add it.
func provider() requirements.Vocabulary {
	return requirements.Vocabulary{
		WellKnown:         []string{"cloud.example/cpu", "cloud.example/partition"},
		RestrictedDomains: []string{"cloud.example"},
		RestrictedKeys:    []string{"example.com/forbidden"},
		Aliases:           map[string]string{"csi.cloud.example/zone": "topology.kubernetes.io/zone", "old.example/partition": "cloud.example/partition"},
		ValueAliases:      map[string]map[string]string{"cloud.example/partition": {"": "0", "none": "0"}},
	}
}

// eachForm runs a test on the vocabulary and on its index, which must agree.
func eachForm(t *testing.T, v requirements.Vocabulary, test func(*testing.T, labelKeys)) {
	t.Run("Vocabulary", func(t *testing.T) { test(t, v) })
	t.Run("Lookup", func(t *testing.T) { test(t, v.Compile()) })
}

// API-037: pools are known by the label of v1, and Windows builds are among the keys.
func TestSCH001WellKnownKeysOfTheCoreAndOfAProvider(t *testing.T) {
	core := []string{
		"karpenter.sh/nodepool", "karpenter.sh/capacity-type", "topology.kubernetes.io/zone", "topology.kubernetes.io/region",
		"node.kubernetes.io/instance-type", "node.kubernetes.io/windows-build", "kubernetes.io/arch", "kubernetes.io/os",
	}
	if diff := cmp.Diff(core, requirements.CoreVocabulary().WellKnown); diff != "" {
		t.Errorf("core keys (-want +got):\n%s", diff)
	}
	eachForm(t, requirements.CoreVocabulary(), func(t *testing.T, v labelKeys) {
		for _, k := range core {
			if !v.IsWellKnown(k) {
				t.Errorf("%s should be well known", k)
			}
		}
		for _, k := range []string{"kubernetes.io/hostname", "cloud.example/cpu", "zone", ""} {
			if v.IsWellKnown(k) {
				t.Errorf("%q should not be well known", k)
			}
		}
	})
	eachForm(t, requirements.CoreVocabulary().Merge(provider()), func(t *testing.T, v labelKeys) {
		if !v.IsWellKnown("cloud.example/cpu") || !v.IsWellKnown("kubernetes.io/os") {
			t.Error("a merged vocabulary knows the keys of both")
		}
	})
	if requirements.CoreVocabulary().IsWellKnown("cloud.example/cpu") {
		t.Error("a provider's keys leaked into the core vocabulary")
	}
}

// SCH-002: capacity types and architectures.
func TestSCH002CapacityTypesAndArchitectures(t *testing.T) {
	got := []string{v1.CapacityTypeSpot, v1.CapacityTypeOnDemand, v1.CapacityTypeReserved, v1.ArchitectureAmd64, v1.ArchitectureArm64}
	if diff := cmp.Diff([]string{"spot", "on-demand", "reserved", "amd64", "arm64"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// API-036: the keys that Kubernetes gave up stand for those that replaced them.
func TestSCH003AliasesAreRewritten(t *testing.T) {
	eachForm(t, requirements.CoreVocabulary().Merge(provider()), func(t *testing.T, v labelKeys) {
		for alias, canonical := range map[string]string{
			"failure-domain.beta.kubernetes.io/zone":   "topology.kubernetes.io/zone",
			"failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
			"beta.kubernetes.io/arch":                  "kubernetes.io/arch",
			"beta.kubernetes.io/os":                    "kubernetes.io/os",
			"beta.kubernetes.io/instance-type":         "node.kubernetes.io/instance-type",
			"csi.cloud.example/zone":                   "topology.kubernetes.io/zone",
			"topology.kubernetes.io/zone":              "topology.kubernetes.io/zone",
			"example.com/unknown":                      "example.com/unknown",
		} {
			if got := v.Canonical(alias); got != canonical {
				t.Errorf("Canonical(%s) = %s, want %s", alias, got, canonical)
			}
		}
		for _, k := range []string{"cloud.example/partition", "old.example/partition"} {
			if got := v.CanonicalValue(k, ""); got != "0" {
				t.Errorf("CanonicalValue(%s, empty) = %q, want 0", k, got)
			}
			if got := v.CanonicalValue(k, "7"); got != "7" {
				t.Errorf("CanonicalValue(%s, 7) = %q", k, got)
			}
		}
		if got := v.CanonicalValue("example.com/unknown", ""); got != "" {
			t.Errorf("a value of another key was rewritten to %q", got)
		}
	})
}

func TestSCH003AliasesAreRewrittenFromEverySource(t *testing.T) {
	l := requirements.CoreVocabulary().Merge(provider()).Compile()
	r, err := l.Parse(v1.NodeSelectorRequirementWithMinValues{Key: "old.example/partition", Operator: "In", Values: []string{"3", "none", ""}, MinValues: ptr(2)})
	if want := requirements.In("cloud.example/partition", "0", "3").WithMinValues(2); err != nil || !r.Equal(want) {
		t.Errorf("entry: %s, %v, want %s", r, err, want)
	}
	r, err = l.ParseNodeSelectorRequirement(corev1.NodeSelectorRequirement{Key: "beta.kubernetes.io/os", Operator: "NotIn", Values: []string{"windows"}})
	if want := requirements.NotIn("kubernetes.io/os", "windows"); err != nil || !r.Equal(want) {
		t.Errorf("expression: %s, %v, want %s", r, err, want)
	}
	s := l.FromLabels(map[string]string{"failure-domain.beta.kubernetes.io/zone": "a", "csi.cloud.example/zone": "a", "team": "x"})
	if want := requirements.FromLabels(map[string]string{"topology.kubernetes.io/zone": "a", "team": "x"}); !s.Equal(want) {
		t.Errorf("labels: {%s}, want {%s}", s, want)
	}
	s, err = l.ParseSet([]v1.NodeSelectorRequirementWithMinValues{
		{Key: "beta.kubernetes.io/arch", Operator: "In", Values: []string{"amd64", "arm64"}},
		{Key: "kubernetes.io/arch", Operator: "NotIn", Values: []string{"arm64"}},
	})
	if want := requirements.NewSet(requirements.In("kubernetes.io/arch", "amd64")); err != nil || !s.Equal(want) {
		t.Errorf("set: {%s}, %v, want {%s}", s, err, want)
	}
	for _, untouched := range []requirements.Requirement{in("a"), notIn(""), requirements.Gt("old.example/x", 3)} {
		if got := l.Rewrite(untouched); !got.Equal(untouched) {
			t.Errorf("%s became %s", untouched, got)
		}
	}
	if _, err := l.Parse(entry("In")); err == nil {
		t.Error("a meaningless entry was accepted")
	}
	if _, err := l.ParseNodeSelectorRequirement(corev1.NodeSelectorRequirement{Key: "a", Operator: "Gte", Values: []string{"1"}}); err == nil {
		t.Error("a pod may not use Gte")
	}
}

// API-032, API-033: by the rules of release 1.9 and later, under which domains that were excepted are restricted no more.
func TestSCH004RestrictedKeys(t *testing.T) {
	tests := []struct {
		key        string
		restricted bool
	}{
		{"karpenter.sh/registered", true},
		{"sub.karpenter.sh/anything", true},
		{"karpenter.sh/capacity-type", false}, // well known
		{"kubernetes.io/hostname", true},
		{"kubernetes.io/role", false},
		{"node-role.kubernetes.io/worker", false},
		{"k8s.io/anything", false},
		{"kops.k8s.io/instancegroup", false},
		{"sub.node.kubernetes.io/anything", false},
		{"node-restriction.kubernetes.io/team", false},
		{"notkarpenter.sh/key", false}, // ends in the domain, but is no sub-domain of it
		{"karpenter.sh", false},        // no slash, no domain
		{"team", false},
		{"cloud.example/cpu", false},
		{"cloud.example/other", true},
		{"example.com/forbidden", true},
		{"beta.kubernetes.io/os", false},
		{"alias.example/host", true}, // alias of a restricted key
	}
	v := requirements.CoreVocabulary().Merge(provider()).Merge(requirements.Vocabulary{Aliases: map[string]string{"alias.example/host": "kubernetes.io/hostname"}})
	eachForm(t, v, func(t *testing.T, v labelKeys) {
		for _, tt := range tests {
			reason := v.Restricted(tt.key)
			if (reason != "") != tt.restricted {
				t.Errorf("Restricted(%s) = %q, want restricted %v", tt.key, reason, tt.restricted)
			}
			if reason != "" && !strings.Contains(reason, v.Canonical(tt.key)) {
				t.Errorf("Restricted(%s) = %q does not name the key", tt.key, reason)
			}
		}
	})
}

func TestSCH006NodeClassLabelKey(t *testing.T) {
	if got, want := requirements.NodeClassLabelKey("karpenter.k8s.aws", "EC2NodeClass"), "karpenter.k8s.aws/ec2nodeclass"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestMergeTakesFromBothAndChangesNeither(t *testing.T) {
	a := requirements.Vocabulary{
		WellKnown:    []string{"b", "a"},
		Aliases:      map[string]string{"x": "1", "y": "1"},
		ValueAliases: map[string]map[string]string{"k": {"p": "1", "q": "1"}},
	}
	b := requirements.Vocabulary{
		WellKnown:    []string{"c", "a"},
		Aliases:      map[string]string{"y": "2"},
		ValueAliases: map[string]map[string]string{"k": {"q": "2"}, "l": {"r": "3"}},
	}
	want := requirements.Vocabulary{
		WellKnown:    []string{"a", "b", "c"},
		Aliases:      map[string]string{"x": "1", "y": "2"},
		ValueAliases: map[string]map[string]string{"k": {"p": "1", "q": "2"}, "l": {"r": "3"}},
	}
	if diff := cmp.Diff(want, a.Merge(b)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if a.Aliases["y"] != "1" || a.ValueAliases["k"]["q"] != "1" || a.WellKnown[0] != "b" || len(b.ValueAliases["k"]) != 1 {
		t.Errorf("Merge changed its arguments: %v, %v", a, b)
	}
	if got := (requirements.Vocabulary{}).Merge(requirements.Vocabulary{}); !got.IsZero() {
		t.Errorf("nothing merged with nothing is %v", got)
	}
}

func TestVocabularyComesBackFromJSON(t *testing.T) {
	want := requirements.CoreVocabulary().Merge(provider())
	data, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got requirements.Vocabulary
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if requirements.CoreVocabulary().IsZero() {
		t.Error("the core vocabulary is not nothing")
	}
}

func TestLookupIsCutOffFromItsVocabulary(t *testing.T) {
	v := requirements.CoreVocabulary()
	l := v.Compile()
	v.Aliases["new.example/zone"] = "topology.kubernetes.io/zone"
	v.WellKnown[0] = "changed"
	if l.Canonical("new.example/zone") != "new.example/zone" || l.IsWellKnown("changed") {
		t.Error("a change to the vocabulary reached the lookup")
	}
}

func TestNilLookupKnowsNothing(t *testing.T) {
	var l *requirements.Lookup
	if l.Canonical("a") != "a" || l.CanonicalValue("a", "b") != "b" || l.IsWellKnown("a") || l.Restricted("karpenter.sh/a") != "" {
		t.Error("a nil lookup knows something")
	}
	if got := l.Rewrite(in("a")); !got.Equal(in("a")) {
		t.Errorf("rewritten to %s", got)
	}
	if err := l.Compatible(requirements.Set{}, requirements.NewSet(in("a"))); err == nil || err.Error() == "" {
		t.Errorf("got %v", err)
	}
}
