package spelling_test

import (
	"slices"
	"testing"

	"github.com/drawknife/drawknife/internal/spelling"
)

func TestEdits(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "abc", 0}, {"nodegroup", "nodegrup", 1}, {"blue", "green", 4}, {"kitten", "sitting", 3}, {"reigon", "region", 1}, {"ab", "ba", 1}} {
		got, few := spelling.Edits(c.a, c.b, 9)
		back, _ := spelling.Edits(c.b, c.a, 9)
		if got != c.want || back != c.want || !few {
			t.Errorf("%q and %q: %d and %d, want %d", c.a, c.b, got, back, c.want)
		}
		if _, few := spelling.Edits(c.a, c.b, c.want-1); few {
			t.Errorf("%q and %q: at most %d edits are enough", c.a, c.b, c.want-1)
		}
	}
}

func TestNear(t *testing.T) {
	known := []string{"region", "reserved", "replay", "nvidia.com/gpu", "amd.com/gpu", "topology.kubernetes.io/zone", "team", "teal", "tear", "tea"}
	for _, c := range []struct {
		name, why     string
		near, nearest []string
	}{
		{"reigon", "two letters swapped", []string{"region"}, []string{"region"}},
		{"reigno", "two slips in a name of six are too many", nil, nil},
		{"Region", "capitals make no difference", []string{"region"}, []string{"region"}},
		{"replays", "one letter", []string{"replay"}, []string{"replay"}},
		{"failure-domain.beta.kubernetes.io/zone", "the part after the slash", []string{"topology.kubernetes.io/zone"}, []string{"topology.kubernetes.io/zone"}},
		{"intel.com/gpu", "both are as near", []string{"amd.com/gpu", "nvidia.com/gpu"}, []string{"amd.com/gpu", "nvidia.com/gpu"}},
		{"tean", "four are as near: no help", []string{"tea", "teal", "team", "tear"}, nil},
		{"team", "the name itself is none", []string{"tea", "teal", "tear"}, []string{"tea", "teal", "tear"}},
		{"", "nothing", nil, nil},
		{"x/", "nothing after the slash", nil, nil},
	} {
		if got := spelling.Near(c.name, known); !slices.Equal(got, c.near) {
			t.Errorf("%s: near to %q are %q, want %q", c.why, c.name, got, c.near)
		}
		if got := spelling.Nearest(c.name, known); !slices.Equal(got, c.nearest) {
			t.Errorf("%s: nearest to %q are %q, want %q", c.why, c.name, got, c.nearest)
		}
	}
}
