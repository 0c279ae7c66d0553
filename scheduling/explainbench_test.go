package scheduling_test

import (
	"fmt"
	"testing"

	"github.com/drawknife/drawknife/internal/workload"
	"github.com/drawknife/drawknife/scheduling"
)

// BenchmarkExplain plans pods of many kinds none of which has a place, in 20 pools with a whole catalog each: what it
// takes beyond BenchmarkSolve is the explanations. ns/kind is per kind of pod, all pools together.
func BenchmarkExplain(b *testing.B) {
	for _, c := range []struct {
		name    string
		options func(i int) []podOption
	}{
		{"too large", func(i int) []podOption { return []podOption{requests(fmt.Sprintf("cpu=%d", 1000+i))} }},
		{"nowhere", func(i int) []podOption {
			return []podOption{requests(fmt.Sprintf("cpu=%d", 1+i)), selector(zoneKey + "=nowhere")}
		}},
		{"by zone and nowhere", func(i int) []podOption {
			return []podOption{requests(fmt.Sprintf("cpu=%d", 1+i)), selector(capacityKey + "=none"), labelled("w"), spreadBy(zoneKey, 1, "w")}
		}},
		{"affinity to nobody", func(i int) []podOption {
			return []podOption{requests(fmt.Sprintf("cpu=%d", 1+i)), labelled("w"), closeTo(zoneKey, "nobody")}
		}},
	} {
		for _, kinds := range []int{1, 50, 500} {
			b.Run(fmt.Sprintf("%s/%d", c.name, kinds), func(b *testing.B) {
				s := workload.Named("a", 1_000)
				s.Pods = nil
				for i := range kinds {
					s.Pods = append(s.Pods, pod(fmt.Sprintf("p%d", i), c.options(i)...))
				}
				first := s.NodePools[0]
				s.NodePools = nil
				for i := range 20 {
					np := first
					np.Object = np.Object.DeepCopy()
					np.Object.Name = fmt.Sprintf("pool-%d", i)
					np.Key.Name = np.Object.Name
					s.NodePools = append(s.NodePools, np)
				}
				m := compile(b, s)
				for b.Loop() {
					p, err := m.Solve(b.Context(), scheduling.Query{})
					if err != nil || len(p.Unschedulable) == 0 {
						b.Fatal(err, "every pod has a place")
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(kinds), "ns/kind")
			})
		}
	}
}
