package v1

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/seeded"
)

func TestPoolKeyString(t *testing.T) {
	for _, tc := range []struct {
		name string
		key  PoolKey
		want string
	}{
		{"current generation reads as the bare name", NewPoolKey("banana"), "banana"},
		{"no generation reads as the bare name", PoolKey{Name: "banana"}, "banana"},
		{"older generation is named", PoolKey{GenerationV1Alpha5, "banana"}, "v1alpha5/banana"},
		{"no pool", PoolKey{}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := tc.key.String(); got != tc.want {
				t.Errorf("String() = %q, want %q", got, tc.want)
			}
		})
	}
}

// API-011, API-262: a name alone doesn't say which object is meant.
func TestPoolKeyTellsGenerationsApart(t *testing.T) {
	old, new := PoolKey{GenerationV1Alpha5, "banana"}, NewPoolKey("banana")
	if old == new {
		t.Error("pools of two generations with one name have equal keys")
	}
	if old.IsZero() || new.IsZero() {
		t.Error("the key of a pool is zero")
	}
	if !(PoolKey{}).IsZero() {
		t.Error("the zero key is not zero")
	}
	pool := &NodePool{}
	pool.Name = "banana"
	if pool.Key() != new {
		t.Errorf("Key() = %v, want %v", pool.Key(), new)
	}
}

func TestPoolKeyCompareIsATotalOrder(t *testing.T) {
	key := rapid.Custom(func(t *rapid.T) PoolKey {
		return PoolKey{
			Generation: rapid.SampledFrom([]Generation{"", GenerationV1, GenerationV1Alpha5}).Draw(t, "generation"),
			Name:       rapid.SampledFrom([]string{"", "a", "b", "ba"}).Draw(t, "name"),
		}
	})
	seeded.Check(t, func(t *rapid.T) {
		a, b, c := key.Draw(t, "a"), key.Draw(t, "b"), key.Draw(t, "c")
		if (a.Compare(b) == 0) != (a == b) {
			t.Fatalf("%v and %v: Compare says %d", a, b, a.Compare(b))
		}
		if a.Compare(b) != -b.Compare(a) {
			t.Fatalf("%v and %v: not antisymmetric", a, b)
		}
		keys := []PoolKey{a, b, c}
		slices.SortFunc(keys, PoolKey.Compare)
		if keys[0].Compare(keys[1]) > 0 || keys[1].Compare(keys[2]) > 0 || keys[0].Compare(keys[2]) > 0 {
			t.Fatalf("not transitive: %v", keys)
		}
		if keys[0].Name > keys[2].Name {
			t.Fatalf("names out of order: %v", keys)
		}
	})
}

// API-011, API-220, API-262: what an object was born as goes with it in memory, and the labels of nodes name pools of either
// generation, the later one first.
func TestGenerationOf(t *testing.T) {
	pool := &NodePool{}
	pool.Name = "web"
	if GenerationOf(pool) != GenerationV1 || QualifiedName(pool) != "web" {
		t.Errorf("a NodePool is of %s, %q", GenerationOf(pool), QualifiedName(pool))
	}
	SetGenerationOf(pool, GenerationV1Alpha5)
	if want := (PoolKey{GenerationV1Alpha5, "web"}); pool.Key() != want || QualifiedName(pool) != "v1alpha5/web" {
		t.Errorf("a Provisioner's pool is %v, %q", pool.Key(), QualifiedName(pool))
	}
	SetGenerationOf(pool, GenerationV1)
	if pool.Namespace != "" {
		t.Errorf("a NodePool is in namespace %q", pool.Namespace)
	}
	for _, c := range []struct {
		labels map[string]string
		want   PoolKey
	}{
		{nil, PoolKey{}},
		{map[string]string{provisionerNameLabelKey: "web"}, PoolKey{GenerationV1Alpha5, "web"}},
		{map[string]string{provisionerNameLabelKey: "old", NodePoolLabelKey: "web"}, NewPoolKey("web")},
	} {
		if got := PoolOf(c.labels); got != c.want {
			t.Errorf("%v: %v, want %v", c.labels, got, c.want)
		}
	}
}

// API-220: each generation has a label of its own that names the pool, and what bears it is of that pool.
func TestLabelKey(t *testing.T) {
	for key, label := range map[PoolKey]string{
		NewPoolKey("web"): "karpenter.sh/nodepool", {Name: "web"}: "karpenter.sh/nodepool", {GenerationV1Alpha5, "web"}: "karpenter.sh/provisioner-name",
	} {
		if got := key.LabelKey(); got != label {
			t.Errorf("%s: %s, want %s", key, got, label)
		}
		if got := PoolOf(map[string]string{label: "web"}); got.String() != key.String() {
			t.Errorf("%s: its label is of %s", key, got)
		}
	}
}
