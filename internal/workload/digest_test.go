package workload

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/scheduling"
)

// The digests are those of the measured baseline in docs/benchmarks.md: a generator that drifts makes its figures void.
func TestDigests(t *testing.T) {
	catalog := Catalog()
	for _, c := range []struct {
		name string
		pods []Pod
		want string
	}{
		{"catalog", nil, "7b12d39b0ccfffbb"},
		{"a 1k", Homogeneous(1000), "8b57e45ca964eea9"},
		{"b 10k", Deployments(10000), "930db36c3c930507"},
		{"c 10k", Constrained(10000), "e3c694a045718ba4"},
		{"d 5k", Diverse(5000), "5532266967f4817c"},
	} {
		if got := Digest(catalog, c.pods, nil); got != c.want {
			t.Errorf("%s: digest %s, want %s", c.name, got, c.want)
		}
	}
}

// Every scenario but a, whose pods are all alike, depends on the seed; the default seed is that of Named.
func TestSeeds(t *testing.T) {
	encoded := func(s *scheduling.Snapshot) string {
		var b strings.Builder
		if err := s.EncodeJSON(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	for _, name := range []string{"b", "c", "d", "e", "f", "g"} {
		named := encoded(Named(name, 10))
		if got := encoded(Seeded(name, 10, Seed)); got != named {
			t.Errorf("%s: the default seed gives something else than Named", name)
		}
		if got := encoded(Seeded(name, 10, Seed+4)); got == named {
			t.Errorf("%s: another seed gives the same", name)
		}
	}
	if Named("x", 10) != nil {
		t.Error("an unknown name gives a snapshot")
	}
}

// Each fifth of f has its own kind of rule; the pods of g differ in nothing but their names.
func TestKarpenterMixes(t *testing.T) {
	kinds := map[string]int{}
	for _, pod := range Mixed(103, Seed).Pods {
		kind := "plain"
		switch a, s := pod.Spec.Affinity, pod.Spec.TopologySpreadConstraints; {
		case len(s) > 0:
			kind = "spread " + s[0].TopologyKey
		case a != nil && a.PodAffinity != nil:
			kind = "together"
		case a != nil:
			kind = "apart"
		}
		kinds[kind]++
	}
	want := map[string]int{"plain": 23, "spread " + LabelZone: 20, "spread kubernetes.io/hostname": 20, "together": 20, "apart": 20}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Error(diff)
	}
	pods := Preferring(10, Seed).Pods
	for _, pod := range pods[1:] {
		if diff := cmp.Diff(pods[0].Spec, pod.Spec); diff != "" {
			t.Error(diff)
		}
	}
}
