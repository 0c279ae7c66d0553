package disruption_test

import (
	"fmt"
	"testing"

	"github.com/drawknife/drawknife/disruption"
)

// BenchmarkReference plans for fleets whose nodes are two fifths full: one pass, the what-ifs of multi-node and, where that
// finds nothing, single-node consolidation included. Half of the fleets are full, so that every node is tried in vain.
func BenchmarkReference(b *testing.B) {
	for _, full := range []bool{false, true} {
		for _, n := range []int{100, 200, 400} {
			b.Run(fmt.Sprintf("full=%v/nodes=%d", full, n), func(b *testing.B) {
				w := newWorld()
				for i := range n {
					count := 3
					if full {
						count = 8
					}
					w.node(fmt.Sprintf("n-%04d", i), "c8", holding(pods(fmt.Sprintf("p%d", i), count, "1")...))
				}
				f := w.fleet(b)
				b.ReportAllocs()
				for b.Loop() {
					if _, err := (&disruption.Reference{}).Plan(b.Context(), f); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
