package certify_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/engine/answering"
	"github.com/drawknife/drawknife/internal/parts"
	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// A plan's certificate proves no more than the plan costs, and the whole cost where no cheaper nodes could hold the pods.
func TestCertificate(t *testing.T) {
	for _, c := range []struct {
		name string
		pods []any
		// what the bound is of the plan's cost, at least
		least float64
	}{
		{"pods that fill their nodes", []any{parts.Pods("p", 4, parts.Requests("cpu=2", "memory=8Gi"))}, 1},
		{"one pod that needs the largest type", []any{parts.Pod("p", parts.Requests("cpu=7"))}, 1},
		{"pods that leave room", []any{parts.Pods("p", 3, parts.Requests("cpu=1500m"))}, 0.7},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := answering.Solve(t.Context(), parts.Compile(t, parts.Cluster(c.pods...)).Engine(), planning.Query{})
			if err != nil {
				t.Fatal(err)
			}
			if bound, cost := p.LowerBound, p.HourlyCost; bound > cost+1e-9 || bound < c.least*cost-1e-8 {
				t.Errorf("a bound of %g for a cost of %g", bound, cost)
			}
		})
	}
}

// Whatever is planned, its certificate proves no more than the plan costs.
func TestCertificatesNeverExceedTheCost(t *testing.T) {
	seeded.Check(t, func(rt *rapid.T) {
		m, err := scheduling.Compile(parts.RandomSnapshot(rt))
		if err != nil {
			rt.Skip(err)
		}
		p, err := answering.Solve(t.Context(), m.Engine(), planning.Query{})
		if err != nil {
			rt.Fatal(err)
		}
		if bound, cost := p.LowerBound, p.HourlyCost; bound > cost+1e-9 {
			rt.Fatalf("a bound of %g for a cost of %g", bound, cost)
		}
	})
}
