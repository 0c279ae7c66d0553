package scheduling_test

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/workload"
	"github.com/drawknife/drawknife/scheduling"
)

// manyGangs are 1,000 gangs of 8 to 64 pods on 5,000 nodes in two zones, half of them full, and what new nodes it takes. Each has to be in
// one zone.
func manyGangs(constrained bool) *scheduling.Snapshot {
	s := cluster(nodePool("p"))
	for i := range 5000 {
		n := node(fmt.Sprintf("n-%d", i), nodeLabel(zoneKey, string("ab"[i%2])), nodeLabel("rack", fmt.Sprint(i/40)))
		if i%2 == i/2%2 {
			bound(pod(fmt.Sprintf("old-%d", i), requests("cpu=3", "memory=12Gi")))(&n)
		}
		s.Nodes = append(s.Nodes, n)
	}
	for i := range 1000 {
		list := pods(fmt.Sprintf("gang-%d", i), 8<<(i%4), requests([]string{"cpu=500m", "cpu=1", "cpu=1500m"}[i%3], "memory=1Gi"))
		s.Pods = append(s.Pods, list...)
		g := gangOf(fmt.Sprintf("gang-%d", i), list)
		if constrained {
			g.Topology = []scheduling.GangTopology{{Key: corev1.LabelTopologyZone}}
		}
		s.Gangs = append(s.Gangs, g)
	}
	return s
}

// BenchmarkGangs compiles and solves; gangs have to be in one zone or not, there is no room at all, or hundreds of instance types are on sale.
func BenchmarkGangs(b *testing.B) {
	full, sold := manyGangs(true), manyGangs(true)
	for i := range full.Nodes {
		full.Nodes[i].Object.Spec.Unschedulable = true
	}
	limit("cpu=0")(&full.NodePools[0])
	large := workload.Named("a", 1)
	sold.Catalogs, sold.NodePools, sold.Vocabulary = large.Catalogs, large.NodePools, large.Vocabulary
	for _, c := range []struct {
		name string
		s    *scheduling.Snapshot
	}{{"anywhere", manyGangs(false)}, {"zone", manyGangs(true)}, {"full", full}, {"types", sold}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			before, n := cpuTime(b), 0
			var p *scheduling.Plan
			for b.Loop() {
				m, err := scheduling.Compile(c.s)
				if err != nil {
					b.Fatal(err)
				}
				if p, err = m.Solve(context.Background(), scheduling.Query{}); err != nil {
					b.Fatal(err)
				}
				n++
			}
			b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/1000/float64(n), "cpu-ms/op")
			b.ReportMetric(float64(len(p.Unschedulable)), "unplaced")
			b.ReportMetric(float64(len(p.NewNodes)), "nodes")
		})
	}
}
