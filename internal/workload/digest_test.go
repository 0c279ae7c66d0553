package workload

import "testing"

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
