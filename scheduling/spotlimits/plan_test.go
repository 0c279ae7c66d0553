package spotlimits_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/internal/planvalidator"
	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/scheduling"
)

// soldIn is an instance type of so many cores with 4Gi each, at a price on demand and a share of it on spot, in each zone.
func soldIn(name string, cores int, price, share float64, zones ...string) *cloudprovider.InstanceType {
	options := []build.TypeOption{build.CPU(fmt.Sprint(cores)), build.Memory(fmt.Sprintf("%dGi", 4*cores))}
	for _, zone := range zones {
		options = append(options, build.OnDemand(zone, price), build.Spot(zone, price*share))
	}
	return build.InstanceType(name, options...)
}

// limited is a snapshot with a pool that sells the types, and the pods.
func limited(types []*cloudprovider.InstanceType, pods ...*corev1.Pod) *scheduling.Snapshot {
	pool := build.Pool("default")
	return &scheduling.Snapshot{
		Pods: pods, Catalogs: map[string][]*cloudprovider.InstanceType{"all": types},
		NodePools: []scheduling.NodePool{{Key: v1.NewPoolKey("default"), Object: pool, Catalog: "all"}},
	}
}

// replicas are pods of a ReplicaSet, with annotations.
func replicas(name string, n int, cores string, annotations ...string) []*corev1.Pod {
	return build.Pods(name, n, build.CPU(cores), build.Labels("app", name), build.OwnedBy("apps/v1", "ReplicaSet", name), build.Annotations(annotations...))
}

// planned plans the snapshot and refuses a plan with faults.
func planned(t interface {
	Helper()
	Fatal(args ...any)
}, s *scheduling.Snapshot) *scheduling.Plan {
	t.Helper()
	m, err := scheduling.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Solve(context.Background(), scheduling.Query{})
	if err != nil {
		t.Fatal(err)
	}
	if faults := planvalidator.Check(s, p); len(faults) > 0 {
		t.Fatal(faults)
	}
	return p
}

// podsBy counts the pods on new nodes by the capacity type and by the offering of the cheapest option.
func podsBy(p *scheduling.Plan) (byKind, byPool map[string]int) {
	byKind, byPool = map[string]int{}, map[string]int{}
	for i := range p.NewNodes {
		o := p.NewNodes[i].InstanceTypes[0]
		byKind[o.CapacityType] += len(p.NewNodes[i].Pods)
		byPool[o.CapacityType+" "+o.Name+" "+o.Zone] += len(p.NewNodes[i].Pods)
	}
	return byKind, byPool
}

func TestSpotShareOfWorkload(t *testing.T) {
	types := []*cloudprovider.InstanceType{soldIn("m", 4, 0.2, 0.3, "a", "b"), soldIn("c", 4, 0.16, 0.35, "a", "b"), soldIn("l", 8, 0.4, 0.3, "a", "b")}
	for _, c := range []struct {
		name        string
		annotations []string
		spot        int
	}{
		{"without", nil, 10},
		{"70%", []string{v1.SpotMaxShareAnnotationKey, "70%"}, 7},
		{"none", []string{v1.SpotMaxShareAnnotationKey, "0%"}, 0},
		{"base", []string{v1.OnDemandBaseAnnotationKey, "4"}, 6},
		{"both", []string{v1.SpotMaxShareAnnotationKey, "50%", v1.OnDemandBaseAnnotationKey, "2"}, 5},
		{"base of more than there are", []string{v1.OnDemandBaseAnnotationKey, "40"}, 0},
		{"share of what is rounded down", []string{v1.SpotMaxShareAnnotationKey, "19.99%"}, 1},
		{"no cap", []string{v1.SpotMaxPriceAnnotationKey, "100%"}, 10},
		{"a cap below all", []string{v1.SpotMaxPriceAnnotationKey, "29%"}, 0},
		{"a cap below some", []string{v1.SpotMaxPriceAnnotationKey, "31%"}, 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := planned(t, limited(types, replicas("web", 10, "1", c.annotations...)...))
			byKind, byPool := podsBy(p)
			if len(p.Unschedulable) > 0 || byKind["spot"] > c.spot || byKind["spot"] < c.spot-1 {
				t.Errorf("pods on spot and on demand: %v, want at most %d on spot, and one less at least; %d without a place", byKind, c.spot, len(p.Unschedulable))
			}
			for pool := range byPool {
				if strings.Contains(pool, "spot c") && c.name == "a cap below some" {
					t.Errorf("%s costs more than its cap", pool)
				}
			}
			noted := slices.ContainsFunc(p.Notes, func(n scheduling.Note) bool { return n.Code == scheduling.NoteSpotLimits })
			if limits := c.annotations != nil; noted != limits || limits != (len(p.SpotSplits) == 1) {
				t.Errorf("notes %v, splits %v", p.Notes, p.SpotSplits)
			}
		})
	}
}

func TestSpotShareOfPool(t *testing.T) {
	types := []*cloudprovider.InstanceType{soldIn("m", 4, 0.2, 0.3, "a", "b"), soldIn("c", 4, 0.22, 0.3, "a", "b"), soldIn("l", 8, 0.44, 0.3, "a", "b")}
	p := planned(t, limited(types, replicas("web", 12, "1", v1.SpotPoolMaxShareAnnotationKey, "34%")...))
	byKind, byPool := podsBy(p)
	if byKind["spot"] != 12 || len(byPool) < 3 {
		t.Fatalf("%v", byPool)
	}
	for pool, n := range byPool {
		if n > 4 {
			t.Errorf("%d pods on %s, at most 4", n, pool)
		}
	}
	// Four pods fill a node of m at a quarter of $0.06 each, or half of l at $0.132: the third part of the pods takes c, the others m.
	if want := 2*0.06 + 0.066; math.Abs(p.HourlyCost-want) > 1e-9 {
		t.Errorf("costs $%.4f, want $%.4f: %v", p.HourlyCost, want, byPool)
	}
}

// Pods of one workload that run count, wherever they are, and stay where they are.
func TestSpotShareCountsWhatRuns(t *testing.T) {
	types := []*cloudprovider.InstanceType{soldIn("m", 4, 0.2, 0.3, "a", "b"), soldIn("l", 8, 0.4, 0.3, "a", "b")}
	all := replicas("web", 10, "1", v1.SpotMaxShareAnnotationKey, "60%")
	s := limited(types, all[5:]...)
	s.Nodes = append(s.Nodes, runs("spot-a", types[0], "a", "spot", all[:3]...), runs("od-a", types[0], "a", "on-demand", all[3:5]...))
	s.Nodes[0].Object.Spec.Unschedulable = true
	p := planned(t, s)
	byKind, _ := podsBy(p)
	// Six of ten may be on spot, three are; two of five find room on the node on demand, three are on spot.
	if byKind["spot"] != 3 || byKind["on-demand"] != 0 || len(p.Existing) != 1 || len(p.Existing[0].Pods) != 2 {
		t.Errorf("%v, existing %v", byKind, p.Existing)
	}
	if !slices.ContainsFunc(p.Notes, func(n scheduling.Note) bool {
		return n.Code == scheduling.NoteSpotLimits && n.Object == "ReplicaSet default/web" && strings.Contains(n.Message, "of 10 pods, at most 6 may be on spot nodes: 2 of the 5 that wait may not")
	}) {
		t.Errorf("notes: %v", p.Notes)
	}
}

// runs is a node of the type with pods.
func runs(name string, it *cloudprovider.InstanceType, zone, kind string, pods ...*corev1.Pod) scheduling.Node {
	n := scheduling.Node{Name: name, Pool: v1.NewPoolKey("default"), Object: build.Node(name, build.OfType(it, zone, kind), build.OfPool("default"), build.Initialized(time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)))}
	for _, pod := range pods {
		pod.Spec.NodeName = name
		n.Pods = append(n.Pods, pod)
	}
	return n
}

// A pod that its workload's limits keep off spot says so.
func TestSpotLimitsInReasons(t *testing.T) {
	spotOnly := build.InstanceType("m", build.CPU("4"), build.Memory("16Gi"), build.Spot("a", 0.1))
	p := planned(t, limited([]*cloudprovider.InstanceType{spotOnly}, replicas("web", 4, "1", v1.SpotMaxShareAnnotationKey, "50%")...))
	if len(p.Unschedulable) != 2 {
		t.Fatalf("%d without a place, want 2", len(p.Unschedulable))
	}
	for _, u := range p.Unschedulable {
		want := "its workload, ReplicaSet default/web, has drawknife.dev/spot-max-share 50%: of 4 pods, at most 2 may be on spot nodes, and it is not one of these"
		if first := u.Reasons[0]; first.Code != scheduling.ReasonSpotLimits || first.String() != want {
			t.Errorf("%s: %s", u.Pod, first)
		}
	}
}

// A pod whose annotation can't be read is refused, and no other.
func TestSpotLimitsThatCannotBeRead(t *testing.T) {
	types := []*cloudprovider.InstanceType{soldIn("m", 4, 0.2, 0.3, "a")}
	pods := append(replicas("bad", 1, "1", v1.SpotMaxShareAnnotationKey, "a third"), replicas("good", 1, "1")...)
	p := planned(t, limited(types, pods...))
	if len(p.Unschedulable) != 1 || p.Unschedulable[0].Pod.Name != "bad-0" || p.Unschedulable[0].Reasons[0].Code != scheduling.ReasonPodInvalid ||
		!strings.Contains(p.Unschedulable[0].Reasons[0].Detail, `annotation drawknife.dev/spot-max-share is "a third": write a percentage`) {
		t.Errorf("%v", p.Unschedulable)
	}
}

// drawnLimits are annotations of a workload.
func drawnLimits(t *rapid.T, label string) []string {
	var out []string
	for _, key := range []string{v1.SpotMaxShareAnnotationKey, v1.SpotPoolMaxShareAnnotationKey, v1.SpotMaxPriceAnnotationKey} {
		if rapid.Bool().Draw(t, label+key) {
			out = append(out, key, fmt.Sprintf("%d%%", rapid.SampledFrom([]int{20, 30, 50, 70, 100}).Draw(t, label+key+"%")))
		}
	}
	if rapid.Bool().Draw(t, label+"base") {
		out = append(out, v1.OnDemandBaseAnnotationKey, fmt.Sprint(rapid.IntRange(0, 4).Draw(t, label+"n")))
	}
	return out
}

// drawnLimited is a cluster with workloads that have limits, some of whose pods run.
func drawnLimited(t *rapid.T) *scheduling.Snapshot {
	types := []*cloudprovider.InstanceType{
		soldIn("m", 4, 0.2, 0.3, "a", "b"), soldIn("c", 4, 0.17, 0.4, "a", "b", "c"), soldIn("l", 8, 0.39, 0.28, "a", "c"), soldIn("r", 2, 0.11, 0.6, "b", "c"),
	}
	s := limited(types)
	var nodes []scheduling.Node
	for i := range rapid.IntRange(0, 5).Draw(t, "nodes") {
		it := rapid.SampledFrom(types).Draw(t, "type")
		o := rapid.SampledFrom(it.Offerings).Draw(t, "offering")
		n := runs(fmt.Sprintf("n-%d", i), it, o.Zone(), o.CapacityType())
		n.Leaving = rapid.IntRange(0, 9).Draw(t, "leaving") == 0
		nodes = append(nodes, n)
	}
	for w := range rapid.IntRange(1, 4).Draw(t, "workloads") {
		name := fmt.Sprintf("w-%d", w)
		for _, pod := range replicas(name, rapid.IntRange(1, 12).Draw(t, name), rapid.SampledFrom([]string{"500m", "1", "2"}).Draw(t, name+"cpu"), drawnLimits(t, name)...) {
			if at := rapid.IntRange(-6, len(nodes)-1).Draw(t, "on"); at >= 0 {
				pod.Spec.NodeName = nodes[at].Name
				nodes[at].Pods = append(nodes[at].Pods, pod)
			} else {
				s.Pods = append(s.Pods, pod)
			}
		}
	}
	s.Nodes = nodes
	return s
}

// No plan has more pods on spot, on a pool, or at a price than their workload's limits allow, whatever runs already.
func TestSpotLimitsAreKept(t *testing.T) {
	seeded.Check(t, func(rt *rapid.T) { planned(rt, drawnLimited(rt)) })
}

// The order of the pods plays no part, and neither does what was planned before.
func TestSpotLimitsUpdate(t *testing.T) {
	seeded.Times(t, 40, func(rt *rapid.T) {
		before, after := drawnLimited(rt), drawnLimited(rt)
		m, err := scheduling.Compile(before)
		for range 2 {
			if err == nil {
				m, err = m.Update(after)
			}
		}
		if err != nil {
			rt.Fatal(err)
		}
		got, err := m.Solve(context.Background(), scheduling.Query{})
		want := planned(rt, after)
		if d := cmp.Diff(want, got); err != nil || d != "" {
			rt.Fatal(err, d)
		}
	})
}

// A workload without limits that gets some is dealt with by Update as by Compile.
func TestSpotLimitsComeWithUpdate(t *testing.T) {
	types := []*cloudprovider.InstanceType{soldIn("m", 4, 0.2, 0.3, "a")}
	s := limited(types, replicas("web", 4, "2")...)
	m, err := scheduling.Compile(s)
	for range 3 { // the second and later go by what is remembered
		next := *s
		if err == nil {
			m, err = m.Update(&next)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	next := *s
	next.Pods = replicas("web", 4, "2", v1.SpotMaxShareAnnotationKey, "50%")
	if m, err = m.Update(&next); err != nil {
		t.Fatal(err)
	}
	p, err := m.Solve(context.Background(), scheduling.Query{})
	if err != nil {
		t.Fatal(err)
	}
	if byKind, _ := podsBy(p); byKind["spot"] != 2 {
		t.Errorf("%v, want 2 on spot", byKind)
	}
	if faults := planvalidator.Check(&next, p); len(faults) > 0 {
		t.Error(errors.Join(faults[0]))
	}
}

// cheapestSplit is the least that a workload of equal pods of one core costs, of which at most so many may be on spot and so many on one spot
// pool: all ways to fill nodes of the types are tried.
func cheapestSplit(types []*cloudprovider.InstanceType, pods, most, onPool int) float64 {
	type pool struct {
		cores int
		price float64
		most  int
	}
	var spot, other []pool
	for _, it := range types {
		for _, o := range it.Offerings {
			p := pool{int(it.Capacity.Cpu().Value()), o.Price, pods}
			if o.CapacityType() == v1.CapacityTypeSpot {
				p.most = onPool
				spot = append(spot, p)
			} else {
				other = append(other, p)
			}
		}
	}
	// costs[n] is the least for n pods on nodes of one pool.
	costs := func(p pool) []float64 {
		out := make([]float64, pods+1)
		for n := 1; n <= pods; n++ {
			out[n] = math.Inf(1)
			if n <= p.most {
				out[n] = float64((n+p.cores-1)/p.cores) * p.price
			}
		}
		return out
	}
	sum := func(pools []pool) []float64 {
		total := make([]float64, pods+1)
		for n := 1; n <= pods; n++ {
			total[n] = math.Inf(1)
		}
		for _, p := range pools {
			of, next := costs(p), slices.Clone(total)
			for n := range next {
				for k := 0; k <= n; k++ {
					next[n] = math.Min(next[n], total[n-k]+of[k])
				}
			}
			total = next
		}
		return total
	}
	onSpot, off := sum(spot), sum(other)
	best := math.Inf(1)
	for n := 0; n <= min(most, pods); n++ {
		best = math.Min(best, onSpot[n]+off[pods-n])
	}
	return best
}

// One workload of equal pods with a share costs what the best way to split it costs. With a share of each pool, parts have pools of their own, which could
// cost more: by how much is bounded here.
func TestSpotSharesCost(t *testing.T) {
	worst := 1.0
	seeded.Times(t, 60, func(rt *rapid.T) {
		var types []*cloudprovider.InstanceType
		for i := range rapid.IntRange(2, 4).Draw(rt, "types") {
			cores := rapid.SampledFrom([]int{2, 4, 8}).Draw(rt, "cores")
			price := float64(cores) * float64(rapid.IntRange(40, 60).Draw(rt, "price")) / 1000
			types = append(types, soldIn(fmt.Sprintf("t%d", i), cores, price, float64(rapid.IntRange(25, 60).Draw(rt, "share"))/100, "a", "b"))
		}
		pods := rapid.IntRange(1, 12).Draw(rt, "pods")
		share := rapid.SampledFrom([]int{30, 50, 80, 100}).Draw(rt, "spot share")
		annotations := []string{v1.SpotMaxShareAnnotationKey, fmt.Sprintf("%d%%", share)}
		onPool := pods
		if rapid.Bool().Draw(rt, "pool share") {
			annotations = append(annotations, v1.SpotPoolMaxShareAnnotationKey, "34%")
			onPool = max(34*pods/100, 1)
		}
		p := planned(rt, limited(types, replicas("web", pods, "1", annotations...)...))
		if len(p.Unschedulable) > 0 {
			rt.Fatal(p.Unschedulable)
		}
		best := cheapestSplit(types, pods, share*pods/100, onPool)
		if p.HourlyCost < best-1e-9 {
			rt.Fatalf("costs $%.4f, less than the least, $%.4f", p.HourlyCost, best)
		}
		more := p.HourlyCost / best
		if onPool == pods && more > 1+1e-9 {
			rt.Fatalf("costs $%.4f, the best split $%.4f", p.HourlyCost, best)
		}
		worst = max(worst, more)
	})
	t.Logf("the worst plan costs %.3f times the best split", worst)
	if worst > 1.05 {
		t.Errorf("the worst plan costs %.3f times the best split", worst)
	}
}
