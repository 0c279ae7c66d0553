package scheduling_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/drawknife/drawknife/internal/workload"
	"github.com/drawknife/drawknife/scheduling"
)

// The scenarios are those of docs/benchmarks.md: a identical pods, b 50 deployments, c b with constraints, d all
// different, e b on 2,000 nodes that are 60 % full. Metrics in addition to time: allocs/pod, cost/bound of the plan, pods/s.
func scenarios() []struct {
	name string
	pods int
} {
	return []struct {
		name string
		pods int
	}{
		{"a", 1_000}, {"a", 10_000}, {"a", 50_000}, {"a", 100_000},
		{"b", 10_000}, {"b", 50_000},
		{"c", 5_000}, {"c", 10_000},
		{"d", 5_000},
		{"e", 10_000},
	}
}

func title(name string, pods int) string { return fmt.Sprintf("%s/%dk", name, pods/1000) }

// BenchmarkCompile makes the model alone.
func BenchmarkCompile(b *testing.B) {
	for _, c := range scenarios() {
		b.Run(title(c.name, c.pods), func(b *testing.B) {
			s := workload.Named(c.name, c.pods)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := scheduling.Compile(s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkSolve plans on a model that is there.
func BenchmarkSolve(b *testing.B) {
	for _, c := range scenarios() {
		b.Run(title(c.name, c.pods), func(b *testing.B) {
			m, err := scheduling.Compile(workload.Named(c.name, c.pods))
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := m.Solve(context.Background(), scheduling.Query{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkPlan does both, as a caller with a new snapshot does, and reports what the plan is worth.
func BenchmarkPlan(b *testing.B) {
	for _, c := range scenarios() {
		b.Run(title(c.name, c.pods), func(b *testing.B) { benchmarkPlan(b, workload.Named(c.name, c.pods)) })
	}
}

// BenchmarkGrowth shows how time grows with the number of pods, of nodes and of instance types, the others fixed:
// ns/each must not rise from one line to the next.
func BenchmarkGrowth(b *testing.B) {
	catalog := workload.Catalog()
	for _, axis := range []struct {
		name     string
		from     int
		snapshot func(n int) *scheduling.Snapshot
	}{
		{"pods", 10_000, func(n int) *scheduling.Snapshot { return workload.Named("b", n) }},
		{"constrained", 5_000, func(n int) *scheduling.Snapshot { return workload.Named("c", n) }},
		{"nodes", 500, func(n int) *scheduling.Snapshot {
			return workload.Snapshot(catalog, workload.Deployments(5_000), workload.Existing(catalog, n, 0.60))
		}},
		{"types", 200, func(n int) *scheduling.Snapshot {
			return workload.Snapshot(manyTypes(n), workload.Constrained(2_000), nil)
		}},
	} {
		for n := axis.from; n <= 8*axis.from; n *= 2 {
			b.Run(fmt.Sprintf("%s/%d", axis.name, n), func(b *testing.B) {
				benchmarkPlan(b, axis.snapshot(n))
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/each")
			})
		}
	}
}

func benchmarkPlan(b *testing.B, s *scheduling.Snapshot) {
	var p *scheduling.Plan
	var before, after uint64
	b.ReportAllocs()
	before = mallocs()
	n := 0
	for b.Loop() {
		n++
		p = planFor(b, s)
	}
	after = mallocs()
	placed := len(s.Pods) - len(p.Unschedulable)
	b.ReportMetric(float64(after-before)/float64(n)/float64(max(placed, 1)), "allocs/pod")
	if p.LowerBound > 0 {
		b.ReportMetric(p.HourlyCost/p.LowerBound, "cost/bound")
	}
	b.ReportMetric(float64(len(p.Unschedulable)), "unplaced")
}

func planFor(b testing.TB, s *scheduling.Snapshot) *scheduling.Plan {
	m, err := scheduling.Compile(s)
	if err != nil {
		b.Fatal(err)
	}
	p, err := m.Solve(context.Background(), scheduling.Query{})
	if err != nil {
		b.Fatal(err)
	}
	return p
}

// BenchmarkTrial is what disruption does all day: hide a node, place its pods on the others, roll back.
func BenchmarkTrial(b *testing.B) {
	s := workload.Named("e", 0)
	m, err := scheduling.Compile(s)
	if err != nil {
		b.Fatal(err)
	}
	trial := m.Trial()
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		mark := trial.Mark()
		if _, err := trial.Hide(s.Nodes[i%len(s.Nodes)].Name); err != nil {
			b.Fatal(err)
		}
		if _, err := trial.Place(context.Background(), scheduling.PlaceOptions{ExistingOnly: true}); err != nil {
			b.Fatal(err)
		}
		if err := trial.Rollback(mark); err != nil {
			b.Fatal(err)
		}
		i++
	}
}
