package scheduling_test

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/workload"
	"github.com/drawknife/drawknife/scheduling"
)

// BenchmarkPreferences plans pods whose wishes can't be kept, once respecting and once ignoring them: sixteen labels no
// node has, and the wishes of Karpenter's own benchmark, each pod away from the others.
func BenchmarkPreferences(b *testing.B) {
	for _, c := range []struct {
		name     string
		snapshot *scheduling.Snapshot
	}{
		{"sixteen", sixteenWishes(4_000)},
		{"karpenter", workload.Preferring(4_000, workload.Seed)},
	} {
		for _, policy := range []scheduling.PreferencePolicy{scheduling.PreferencesRespect, scheduling.PreferencesIgnore} {
			b.Run(fmt.Sprintf("%s/%s", c.name, policy), func(b *testing.B) {
				benchmarkQuery(b, c.snapshot, scheduling.Query{Preferences: policy})
			})
		}
	}
}

// sixteenWishes are identical pods with sixteen preferred terms none of which any node meets.
func sixteenWishes(pods int) *scheduling.Snapshot {
	s := workload.Named("a", pods)
	for _, pod := range s.Pods {
		wishes := make([]corev1.PreferredSchedulingTerm, 16)
		for i := range wishes {
			wishes[i] = corev1.PreferredSchedulingTerm{Weight: int32(i + 1), Preference: corev1.NodeSelectorTerm{
				MatchExpressions: []corev1.NodeSelectorRequirement{{
					Key: fmt.Sprintf("example.com/wish-%d", i), Operator: corev1.NodeSelectorOpIn, Values: []string{"granted"},
				}},
			}}
		}
		pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: wishes}}
	}
	return s
}

// BenchmarkBusyCluster plans 2,170 pods, of which 130 have no place anywhere, on 1,060 nodes that are 90 % full and
// 20 NodePools, some of them tainted or narrowed to a zone, an architecture or a capacity type. Explanations are
// included.
func BenchmarkBusyCluster(b *testing.B) {
	s := busyCluster()
	benchmarkQuery(b, s, scheduling.Query{})
	p := planFor(b, s)
	if len(p.Unschedulable) != 130 {
		b.Errorf("%d pods have no place, want 130", len(p.Unschedulable))
	}
}

func busyCluster() *scheduling.Snapshot {
	catalog := workload.Catalog()
	s := workload.Snapshot(catalog, workload.Constrained(2_170), workload.Existing(catalog, 1_060, 0.90))
	for i, pod := range s.Pods {
		if i%16 != 0 || i/16 >= 130 {
			continue
		}
		switch i / 16 % 4 {
		case 0: // too large for any node
			requests(fmt.Sprintf("cpu=%d", 500+i))(pod)
		case 1:
			pod.Spec.NodeSelector = map[string]string{"example.com/rack": fmt.Sprint(i % 5)}
		case 2:
			pod.Spec.NodeSelector = map[string]string{workload.LabelZone: "zone-z"}
		case 3:
			pod.Spec.NodeSelector = map[string]string{corev1.LabelInstanceTypeStable: "t3.medium"}
			requests("memory=64Gi")(pod)
		}
	}
	first := s.NodePools[0]
	s.NodePools = nil
	for i := range 20 {
		np := first
		np.Object = first.Object.DeepCopy()
		np.Object.Name = fmt.Sprintf("pool-%02d", i)
		np.Key = v1.NewPoolKey(np.Object.Name)
		spec := &np.Object.Spec.Template.Spec
		switch i % 5 {
		case 1:
			spec.Requirements = append(spec.Requirements, v1.NodeSelectorRequirementWithMinValues{
				Key: workload.LabelZone, Operator: corev1.NodeSelectorOpIn, Values: []string{workload.Zones()[i%3]},
			})
		case 2:
			spec.Taints = []corev1.Taint{{Key: "example.com/team", Value: fmt.Sprint(i), Effect: corev1.TaintEffectNoSchedule}}
		case 3:
			spec.Requirements = append(spec.Requirements, v1.NodeSelectorRequirementWithMinValues{
				Key: workload.LabelCapacityType, Operator: corev1.NodeSelectorOpIn, Values: []string{"on-demand"},
			})
		case 4:
			spec.Requirements = append(spec.Requirements, v1.NodeSelectorRequirementWithMinValues{
				Key: workload.LabelArch, Operator: corev1.NodeSelectorOpIn, Values: []string{"amd64"},
			})
		}
		s.NodePools = append(s.NodePools, np)
	}
	for i := range s.Nodes {
		key := s.NodePools[i%20].Key
		s.Nodes[i].Pool = key
		s.Nodes[i].Object.Labels["karpenter.sh/nodepool"] = key.Name
		s.Nodes[i].Object.Spec.Taints = s.NodePools[i%20].Object.Spec.Template.Spec.Taints
	}
	return s
}

// BenchmarkMixed plans the mix of Karpenter's own benchmark.
func BenchmarkMixed(b *testing.B) {
	for _, pods := range []int{1_000, 5_000, 20_000} {
		b.Run(fmt.Sprintf("%dk", pods/1000), func(b *testing.B) {
			benchmarkQuery(b, workload.Mixed(pods, workload.Seed), scheduling.Query{})
		})
	}
}

// BenchmarkHeap plans 20,000 pods on 5,000 nodes and 1,000 types in 6 zones and 3 capacity types, and reports the most
// that the heap grew beyond the snapshot, in MiB.
func BenchmarkHeap(b *testing.B) {
	s := largeCluster(20_000, 5_000, 1_000)
	runtime.GC()
	base := heap()
	var most uint64
	for b.Loop() {
		b.StopTimer()
		runtime.GC() // what the plan before left is not this one's
		b.StartTimer()
		stop := watchHeap(&most)
		planFor(b, s)
		stop()
	}
	b.ReportMetric(float64(base)/(1<<20), "snapshot-MiB")
	b.ReportMetric(float64(most-base)/(1<<20), "peak-MiB")
	runtime.KeepAlive(s)
}

func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// watchHeap raises most to the size of the heap again and again until the function it returns is called.
func watchHeap(most *uint64) (stop func()) {
	done := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			*most = max(*most, heap())
			select {
			case <-done:
				return
			case <-tick.C:
			}
		}
	})
	return func() { close(done); wait.Wait() }
}

// largeCluster is deployments' pods on nodes 60 % full, and as many types as asked for, each on-demand, spot and
// reserved in six zones; types of a zone share ten reservations, of which most are used up.
func largeCluster(pods, nodes, types int) *scheduling.Snapshot {
	catalog := workload.Catalog()
	s := workload.Snapshot(manyTypes(types), workload.Deployments(pods), workload.Existing(catalog, nodes, 0.60))
	for i, t := range s.Catalogs[workload.PoolName] {
		price := t.Offerings[0].Price
		t.Offerings = nil
		for zone := range 6 {
			for _, kind := range []struct {
				capacityType string
				price        float64
			}{{"on-demand", price}, {"spot", price * (0.3 + 0.01*float64((i+3*zone)%10))}, {"reserved", price * 1e-6}} {
				labels := requirements.NewSet(requirements.In(workload.LabelZone, fmt.Sprintf("zone-%c", 'a'+zone)), requirements.In(workload.LabelCapacityType, kind.capacityType))
				o := cloudprovider.Offering{Requirements: labels, Price: kind.price, Available: true}
				if kind.capacityType == "reserved" {
					o.Requirements = labels.With(requirements.In("example.com/reservation", fmt.Sprintf("r-%d-%d", zone, i%10)))
					o.ReservationCapacity = i % 10 / 9
				}
				t.Offerings = append(t.Offerings, o)
			}
		}
	}
	r := &s.NodePools[0].Object.Spec.Template.Spec.Requirements[2]
	r.Values = append(r.Values, "reserved")
	return s
}

// manyTypes are those of the catalog, evenly chosen, or again and again if more are asked for than it has.
func manyTypes(n int) []*workload.Type {
	catalog := workload.Catalog()
	out := make([]*workload.Type, n)
	for i := range out {
		t := *catalog[i%len(catalog)]
		if n < len(catalog) {
			t = *catalog[i*len(catalog)/n]
		}
		if turn := i / len(catalog); turn > 0 {
			t.Name = fmt.Sprintf("%s-%d", t.Name, turn)
		}
		out[i] = &t
	}
	return out
}

func benchmarkQuery(b *testing.B, s *scheduling.Snapshot, q scheduling.Query) {
	var p *scheduling.Plan
	b.ReportAllocs()
	for b.Loop() {
		m, err := scheduling.Compile(s)
		if err != nil {
			b.Fatal(err)
		}
		if p, err = m.Solve(b.Context(), q); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(p.NewNodes)), "machines")
	b.ReportMetric(float64(len(p.Unschedulable)), "unplaced")
	if p.LowerBound > 0 {
		b.ReportMetric(p.HourlyCost/p.LowerBound, "cost/bound")
	}
}

// BenchmarkCostModel plans the constrained mix by list prices, and with fees, Reserved Instances and a Savings Plan.
func BenchmarkCostModel(b *testing.B) {
	fee, off := 0.01, -9.0
	terms := []scheduling.CostTerm{
		{Name: "ri", Source: "s", Commitment: &scheduling.Commitment{Amount: 400, ByType: map[string]float64{}}},
		{Name: "sp", Source: "s", Commitment: &scheduling.Commitment{Amount: 20, PercentOfPrice: 72}},
		{Name: "discount", Source: "s", Percent: &off},
		{Name: "fee", Source: "s", PerNode: &fee},
	}
	for n := 0; n <= len(terms); n += 2 {
		b.Run([]string{"list", "terms", "commitments"}[n/2], func(b *testing.B) {
			s := workload.Named("c", 10_000)
			for _, types := range s.Catalogs {
				for _, it := range types[:len(types)/8] {
					cpu := it.Capacity[corev1.ResourceCPU]
					terms[0].Commitment.ByType[it.Name] = cpu.AsApproximateFloat64()
				}
			}
			if n > 0 {
				s.CostModel = &scheduling.CostModel{Terms: terms[len(terms)-n:]}
			}
			benchmarkPlan(b, s)
		})
	}
}
