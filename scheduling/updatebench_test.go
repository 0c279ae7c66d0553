package scheduling_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/internal/workload"
	"github.com/drawknife/drawknife/scheduling"
)

// busyNodes has so many nodes, about seven pods on each, and a class of volumes to make claims of.
func busyNodes(nodes int) *scheduling.Snapshot {
	catalog := workload.Catalog()
	s := workload.Snapshot(catalog, workload.Constrained(50), workload.Existing(catalog, nodes, 0.60))
	wait := storagev1.VolumeBindingWaitForFirstConsumer
	s.StorageClasses = []*storagev1.StorageClass{{ObjectMeta: metav1.ObjectMeta{Name: "waits"}, Provisioner: driverName, VolumeBindingMode: &wait}}
	disk := pod("disk", requests("cpu=100m"), volume("waits", false, ""))
	s.Pods = append(s.Pods, disk)
	makeClaims(s, disk, false)
	return s
}

// newcomers are pods of which no two are of one kind, and none of one that was there before.
func newcomers(s *scheduling.Snapshot, kind string, turn, n int) *scheduling.Snapshot {
	o := *s
	o.Pods, o.PersistentVolumeClaims = slices.Clone(s.Pods), slices.Clip(s.PersistentVolumeClaims)
	for i := range n {
		name := fmt.Sprintf("newcomer-%d-%d", turn, i)
		p := pod(name, requests("cpu=250m"), label("app", name))
		p.Spec.Containers[0].Resources.Requests[corev1.ResourceMemory] = *resource.NewQuantity(int64(1<<28+1000*turn+i), resource.DecimalSI)
		switch kind {
		case "spread":
			spreadOver(corev1.TopologySpreadConstraint{TopologyKey: zoneKey, MaxSkew: 1, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: matching("app", name)})(p)
		case "first": // in the order of classes, so that all others get new numbers
			p.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = *resource.NewMilliQuantity(int64(64), resource.DecimalSI)
		case "apart": // from pods that are there
			apart(corev1.PodAffinityTerm{TopologyKey: corev1.LabelHostname, LabelSelector: matching("app", fmt.Sprintf("run%02d", (turn+i)%50))})(p)
		case "claim":
			volume("waits", false, "")(p)
			makeClaims(&o, p, false)
		}
		o.Pods = append(o.Pods, p)
	}
	return &o
}

// BenchmarkUpdate makes the next model of a cluster where the pods of the last turn went and others came: of kinds that are
// known, or each of a kind of its own. compile is what compiling all takes, in the same run.
func BenchmarkUpdate(b *testing.B) {
	for _, nodes := range []int{625, 1_250, 2_500, 5_000} {
		s := busyNodes(nodes)
		b.Run(fmt.Sprintf("nodes=%d/compile", nodes), func(b *testing.B) {
			b.ReportAllocs()
			before, n := cpuTime(b), 0
			for b.Loop() {
				n++
				if _, err := scheduling.Compile(s); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/1000/float64(n), "cpu-ms/op")
		})
		for _, kind := range []string{"known", "plain", "first", "spread", "apart", "claim"} {
			for _, pods := range []int{1, 20, 100} {
				b.Run(fmt.Sprintf("nodes=%d/%s/pods=%d", nodes, kind, pods), func(b *testing.B) {
					benchmarkUpdates(b, s, kind, pods)
				})
			}
		}
	}
}

func benchmarkUpdates(b *testing.B, s *scheduling.Snapshot, kind string, pods int) {
	model, err := scheduling.Compile(s)
	if err != nil {
		b.Fatal(err)
	}
	turn, compiled := 0, -1
	var spent time.Duration
	next := func() {
		turn++
		o := newcomers(s, kind, turn, pods)
		if kind == "known" {
			o = newcomers(s, "plain", 1, pods)
		}
		b.StartTimer()
		before := cpuTime(b)
		updated := scheduling.UpdateInPlace(model, o)
		if updated == nil {
			compiled++
			if updated, err = model.Update(o); err != nil {
				b.Fatal(err)
			}
		}
		spent += cpuTime(b) - before
		b.StopTimer()
		model = updated
	}
	next()
	next()
	compiled, spent = 0, 0
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		next()
	}
	b.ReportMetric(float64(compiled)/float64(b.N), "compiled/op")
	b.ReportMetric(float64(spent.Microseconds())/1000/float64(b.N), "cpu-ms/op")
}

// withSomeGangs adds gangs of 8 to 64 pods: ten that wait, and ten of pods that run. All have to be in one zone.
func withSomeGangs(s *scheduling.Snapshot) *scheduling.Snapshot {
	o := *s
	o.Pods = slices.Clone(s.Pods)
	zone := []scheduling.GangTopology{{Key: zoneKey}}
	next := 0
	for i := range 10 {
		list := pods(fmt.Sprintf("gang-%d", i), 8<<(i%4), requests("cpu=500m", "memory=1Gi"))
		waiting, running := gangOf(fmt.Sprintf("gang-%d", i), list), scheduling.Gang{Namespace: "default", Name: fmt.Sprintf("running-%d", i), Topology: zone}
		o.Pods, waiting.Topology = append(o.Pods, list...), zone
		for ; len(running.Members) < 8<<(i%4); next++ {
			for _, p := range o.Nodes[next].Pods[:1] {
				running.Members = append(running.Members, scheduling.PodKey{Namespace: p.Namespace, Name: p.Name})
			}
		}
		o.Gangs = append(o.Gangs, waiting, running)
	}
	return &o
}

// BenchmarkUpdateWithGangs is BenchmarkUpdate of 5,000 nodes with gangs and without, in one run.
func BenchmarkUpdateWithGangs(b *testing.B) {
	without := busyNodes(5_000)
	with := withSomeGangs(without)
	b.Run("gangs/compile", func(b *testing.B) {
		before, n := cpuTime(b), 0
		for b.Loop() {
			n++
			if _, err := scheduling.Compile(with); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/1000/float64(n), "cpu-ms/op")
	})
	for _, pods := range []int{1, 20, 100} {
		for name, s := range map[string]*scheduling.Snapshot{"none": without, "gangs": with} {
			b.Run(fmt.Sprintf("%s/pods=%d", name, pods), func(b *testing.B) { benchmarkUpdates(b, s, "plain", pods) })
		}
	}
}

// BenchmarkUpdateToPlan places 100 constrained pods of 50 Deployments that were not there before on nodes that have room for them: from the
// snapshot to the plan. Each turn those of the turn before are gone.
func BenchmarkUpdateToPlan(b *testing.B) {
	catalog := workload.Catalog()
	for _, nodes := range []int{625, 1_250, 2_500, 5_000} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			s := workload.Snapshot(catalog, workload.Constrained(50), workload.Existing(catalog, nodes, 0.60))
			s.Pods = s.Pods[:25]
			model, err := scheduling.Compile(s)
			if err != nil {
				b.Fatal(err)
			}
			var update, solve time.Duration
			for turn := range b.N + 2 {
				if turn == 2 {
					update, solve = 0, 0
					b.ResetTimer()
				}
				o := *s
				o.Pods = slices.Clone(s.Pods)
				for i, p := range workload.Snapshot(catalog[:1], workload.Constrained(100), nil).Pods {
					o.Pods = append(o.Pods, renamed(p, fmt.Sprintf("turn-%d-%d", turn, i), fmt.Sprintf("%s-%d", p.Labels["app"], turn)))
				}
				before := cpuTime(b)
				if model, err = model.Update(&o); err != nil {
					b.Fatal(err)
				}
				updated := cpuTime(b)
				p, err := model.Solve(b.Context(), scheduling.Query{})
				if err != nil {
					b.Fatal(err)
				}
				update, solve = update+updated-before, solve+cpuTime(b)-updated
				if len(p.NewNodes)+len(p.Unschedulable) > 0 {
					b.Fatalf("%d nodes are bought and %d pods left out: there is no room", len(p.NewNodes), len(p.Unschedulable))
				}
			}
			b.ReportMetric(float64(update.Microseconds())/1000/float64(b.N), "update-cpu-ms/op")
			b.ReportMetric(float64(solve.Microseconds())/1000/float64(b.N), "solve-cpu-ms/op")
		})
	}
}

// renamed is a pod of another workload.
func renamed(p *corev1.Pod, name, app string) *corev1.Pod {
	out := p.DeepCopy()
	out.Name, out.Labels["app"] = name, app
	for i := range out.Spec.TopologySpreadConstraints {
		out.Spec.TopologySpreadConstraints[i].LabelSelector = matching("app", app)
	}
	if a := out.Spec.Affinity; a != nil {
		for i := range a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[i].LabelSelector = matching("app", app)
		}
	}
	return out
}
