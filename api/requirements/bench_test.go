package requirements_test

import (
	"fmt"
	"testing"

	"github.com/drawknife/drawknife/api/requirements"
)

// typeLabels is about what an instance type of a large provider states: 30 keys with one value each, and the zones.
func typeLabels() requirements.Set {
	labels := map[string]string{"kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux", "karpenter.sh/capacity-type": "spot"}
	for i := range 27 {
		labels[fmt.Sprintf("cloud.example/instance-attribute-%02d", i)] = fmt.Sprint(i * 1024)
	}
	return requirements.FromLabels(labels).With(requirements.In("topology.kubernetes.io/zone", "a", "b", "c"))
}

func podDemands() requirements.Set {
	return requirements.NewSet(
		requirements.In("kubernetes.io/arch", "amd64", "arm64"),
		requirements.Gt("cloud.example/instance-attribute-05", 4),
		requirements.NotIn("cloud.example/instance-attribute-20", "0"),
		requirements.In("topology.kubernetes.io/zone", "b", "c", "d"),
	)
}

func BenchmarkIntersect(b *testing.B) {
	many := make([]string, 200)
	for i := range many {
		many[i] = fmt.Sprintf("type-%03d", i)
	}
	for _, bm := range []struct {
		name string
		a, b requirements.Requirement
	}{
		{"same lists", in("a", "b", "c"), in("a", "b", "c")},
		{"narrowing lists", in("a", "b", "c"), in("b", "c", "d")},
		{"list and bounds", in("2", "4", "8", "16"), gt(4)},
		{"two bounds", gt(4), lt(64)},
		{"200 values, one excluded", in(many...), notIn(many[100])},
	} {
		b.Run(bm.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_ = bm.a.Intersect(bm.b)
			}
		})
	}
}

func BenchmarkCompatible(b *testing.B) {
	lookup := requirements.CoreVocabulary().Compile()
	have, want := typeLabels(), podDemands()
	refused := want.With(requirements.In("kubernetes.io/os", "windows"))
	b.Run("compatible", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := lookup.Compatible(have, want); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("refused", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if lookup.Compatible(have, refused) == nil {
				b.Fatal("windows pod on linux")
			}
		}
	})
}

func BenchmarkMerge(b *testing.B) {
	have, want := typeLabels(), podDemands()
	b.ReportAllocs()
	for b.Loop() {
		_ = have.Merge(want)
	}
}
