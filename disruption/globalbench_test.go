package disruption_test

import (
	"runtime"
	"testing"

	"github.com/drawknife/drawknife/disruption"
)

// BenchmarkGlobal plans for fleets that are two fifths full, after Survey. USD/h are what they cost before and after, evictions
// the pods that have to move for it, by USD/h saved; heap-MB is what the heap holds in the end, cpu-ms the time that all
// processors spend on one plan, whatever else the machine does.
func BenchmarkGlobal(b *testing.B) {
	for _, spec := range []fleetSpec{
		{nodes: 500, fill: 0.4}, {nodes: 500, fill: 0.4, mixed: true},
		{nodes: 2000, fill: 0.4}, {nodes: 2000, fill: 0.4, mixed: true},
		{nodes: 625, fill: 0.4, dense: true}, {nodes: 1250, fill: 0.4, dense: true}, {nodes: 2500, fill: 0.4, dense: true}, {nodes: 5000, fill: 0.4, dense: true},
		{nodes: 5000, fill: 0.4, dense: true, mixed: true},
	} {
		name := spec.String()
		if spec.dense {
			name = "dense/" + name
		}
		b.Run(name, func(b *testing.B) {
			f := surveyed(b, spec.snapshot())
			b.ReportAllocs()
			var plan *disruption.Plan
			for b.Loop() {
				var err error
				if plan, err = thrifty().Plan(b.Context(), f); err != nil {
					b.Fatal(err)
				}
			}
			report(b, f, plan)
		})
	}
}

func report(b *testing.B, f *disruption.Fleet, plan *disruption.Plan) {
	before, saved, pods := 0.0, 0.0, 0
	for _, c := range f.Candidates {
		before += c.Price
	}
	for _, c := range plan.Commands {
		saved += c.Savings
		pods += c.Pods()
	}
	b.ReportMetric(before, "USD/h-before")
	b.ReportMetric(before-saved, "USD/h-after")
	b.ReportMetric(float64(pods)/saved, "evictions/USD")
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.HeapAlloc)/(1<<20), "heap-MB")
}
