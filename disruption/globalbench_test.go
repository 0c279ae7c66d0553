package disruption_test

import (
	"fmt"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/internal/trialtest"
	"github.com/drawknife/drawknife/scheduling"
)

// BenchmarkGlobal plans for fleets that are two fifths full, after Survey. USD/h are what they cost before and after, evictions
// the pods that have to move for it, by USD/h saved; heap-MB is what the heap holds in the end, cpu-ms the time that all
// processors spend on one plan, whatever else the node does.
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
			before := processorTime(b)
			for b.Loop() {
				var err error
				if plan, err = thrifty().Plan(b.Context(), f); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64((processorTime(b)-before).Milliseconds())/float64(b.N), "cpu-ms")
			report(b, f, plan)
		})
	}
}

// BenchmarkGlobalAgain plans with the memory of a plan: after nothing has changed but the time, and after one pod in a hundred has
// ended, been replaced by another, or moved to another node. saved is what the plan saves of what one from nothing does, cpu-ms
// as in BenchmarkGlobal.
func BenchmarkGlobalAgain(b *testing.B) {
	for _, spec := range []fleetSpec{{nodes: 500, fill: 0.4, mixed: true}, {nodes: 5000, fill: 0.4}, {nodes: 5000, fill: 0.4, mixed: true}} {
		for _, share := range []float64{0, 0.01} {
			b.Run(fmt.Sprintf("%s/changed=%g", spec, share), func(b *testing.B) {
				s := spec.snapshot()
				model, err := scheduling.Compile(s)
				if err != nil {
					b.Fatal(err)
				}
				survey := func(s *scheduling.Snapshot) *disruption.Fleet {
					if model, err = model.Update(s); err != nil {
						b.Fatal(err)
					}
					f, err := disruption.Survey(disruption.Input{View: disruption.ViewOf(s), Model: model})
					if err != nil {
						b.Fatal(err)
					}
					return f
				}
				planner := &disruption.Global{}
				_, memory, err := planner.PlanAgain(b.Context(), survey(s), nil)
				if err != nil {
					b.Fatal(err)
				}
				f := survey(churned(s, share, 1))
				b.ReportAllocs()
				var plan *disruption.Plan
				before := processorTime(b)
				for b.Loop() {
					if plan, _, err = planner.PlanAgain(b.Context(), f, memory); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64((processorTime(b)-before).Microseconds())/1000/float64(b.N), "cpu-ms")
				b.StopTimer()
				before = processorTime(b)
				fresh, err := planner.Plan(b.Context(), f)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64((processorTime(b) - before).Milliseconds()), "cpu-ms-from-nothing")
				b.ReportMetric(savedBy(plan)/savedBy(fresh), "saved")
			})
		}
	}
}

// processorTime is what the process has used so far.
func processorTime(b *testing.B) time.Duration {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		b.Fatal(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

// BenchmarkProbe asks of one node after the other whether it could go: the node is hidden, its pods are placed, on a new node
// if there is no other way, and all is rolled back.
func BenchmarkProbe(b *testing.B) {
	for _, spec := range []fleetSpec{{nodes: 1000, fill: 0.4}, {nodes: 1000, fill: 0.8}, {nodes: 1000, fill: 0.4, mixed: true}, {nodes: 1000, fill: 0.8, mixed: true}} {
		b.Run(fmt.Sprintf("%s/fill=%g", spec, spec.fill), func(b *testing.B) {
			s := spec.snapshot()
			model, err := scheduling.Compile(s)
			if err != nil {
				b.Fatal(err)
			}
			names := make([]string, len(s.Nodes))
			for i := range s.Nodes {
				names[i] = s.Nodes[i].Name
			}
			trial := trialtest.New(model.Engine())
			if err := trial.Rank(names); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			before, i := processorTime(b), 0
			for b.Loop() {
				mark := trial.Mark()
				if _, err := trial.Hide(names[i%len(names)]); err != nil {
					b.Fatal(err)
				}
				if trial.Move(scheduling.Query{}) > 0 {
					trial.Launch(scheduling.Query{}, 1e6)
				}
				if err := trial.Rollback(mark); err != nil {
					b.Fatal(err)
				}
				i++
			}
			b.ReportMetric(float64((processorTime(b)-before).Microseconds())/float64(b.N), "cpu-us")
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
