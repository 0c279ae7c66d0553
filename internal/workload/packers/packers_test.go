package packers

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/workload"
	"github.com/drawknife/drawknife/scheduling"
)

func ordinary(t *testing.T, name string) *scheduling.Snapshot {
	t.Helper()
	o, err := workload.ParseOrdinary(name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := o.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func problem(t *testing.T, s *scheduling.Snapshot) *Problem {
	t.Helper()
	p, err := Of(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The figures were recorded from a greedy of the same kind in Python, cluster by cluster.
func TestVectorGreedy(t *testing.T) {
	data, err := os.ReadFile("testdata/greedy.json")
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]struct {
		Cost  float64
		Nodes int
	}
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	if len(want) < 10 {
		t.Fatalf("only %d figures", len(want))
	}
	for name, w := range want {
		if got := problem(t, ordinary(t, name)).VectorGreedy(); math.Abs(got.Cost-w.Cost) > 6e-5 || got.Nodes != w.Nodes {
			t.Errorf("%s: %+v, recorded are %+v", name, got, w)
		}
	}
}

// cluster has pods of the given CPUs, in thousandths, and types of the given CPUs and prices with room for plenty of pods.
func cluster(cpus []int64, types map[string][2]float64, names ...string) *Problem {
	p := &Problem{Resources: []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourcePods}}
	for _, name := range names {
		p.Types = append(p.Types, Type{name, []int64{int64(types[name][0]), 100}, types[name][1]})
	}
	for _, n := range cpus {
		p.Classes = append(p.Classes, Class{[]int64{n, 1}, 1})
	}
	return p
}

func TestFirstFitDecreasing(t *testing.T) {
	types := map[string][2]float64{"ten": {10, 1}, "five": {5, 0.6}}
	for _, c := range []struct {
		name  string
		cpus  []int64
		types []string
		want  Packing
	}{
		{"6+4, 5+3 and a 2 that fits both", []int64{2, 3, 4, 5, 6}, []string{"ten"}, Packing{2, 2}},
		{"what the last holds fits a smaller one", []int64{6, 4, 3}, []string{"ten", "five"}, Packing{1.6, 2}},
		{"the small type to start from is dropped, since 6 doesn't fit it", []int64{6}, []string{"five", "ten"}, Packing{1, 1}},
		{"no type holds 11", []int64{11}, []string{"five", "ten"}, Packing{math.Inf(1), 0}},
		{"no pods", nil, []string{"ten"}, Packing{}},
	} {
		p := cluster(c.cpus, types, c.types...)
		if got := p.FirstFitDecreasing(); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
		if got := p.VectorGreedy(); got != c.want {
			t.Errorf("%s: greedy %+v, want %+v", c.name, got, c.want)
		}
	}
	// Ten pods at most, whatever their size.
	p := cluster([]int64{0}, types, "ten")
	p.Classes[0].Count = 250
	if got := p.FirstFitDecreasing(); got.Nodes != 3 {
		t.Errorf("%+v", got)
	}
}

// No packing costs less than all CPUs at the best price for one.
func TestPackingsArePossible(t *testing.T) {
	p := problem(t, ordinary(t, "m5+c5-none-3z-5-300p"))
	var cpus int64
	for _, c := range p.Classes {
		cpus += c.Need[0] * int64(c.Count)
	}
	least := math.Inf(1)
	for _, typ := range p.Types {
		least = min(least, typ.Price/float64(typ.Room[0])*float64(cpus))
	}
	for name, got := range map[string]Packing{"greedy": p.VectorGreedy(), "first fit": p.FirstFitDecreasing()} {
		if got.Cost < least || got.Cost > 3*least || got.Nodes == 0 {
			t.Errorf("%s: %+v, at least %v", name, got, least)
		}
	}
}

func TestOf(t *testing.T) {
	s := ordinary(t, "m5-both-3z-1-200p")
	p := problem(t, s)
	if p.Ruled == 0 || p.Ruled >= 200 || len(p.Types) != 8 || p.Types[0].Room[0] != 1790 || p.Types[0].Price != 0.096 {
		t.Errorf("%d with rules, types %+v", p.Ruled, p.Types)
	}
	if p := problem(t, workload.Named("g", 30)); p.Ruled != 30 {
		t.Errorf("%d pods of g have wishes", p.Ruled)
	}
	one := func() *scheduling.Snapshot {
		s := ordinary(t, "m5-none-3z-1-10p")
		s.Pods = s.Pods[:1]
		s.Pods[0] = s.Pods[0].DeepCopy()
		return s
	}
	for name, change := range map[string]func(s *scheduling.Snapshot){
		"a node":          func(s *scheduling.Snapshot) { s.Nodes = make([]scheduling.Node, 1) },
		"a node selector": func(s *scheduling.Snapshot) { s.Pods[0].Spec.NodeSelector = map[string]string{"a": "b"} },
		"a limit": func(s *scheduling.Snapshot) {
			s.NodePools[0].Object.Spec.Limits = corev1.ResourceList{"cpu": resource.MustParse("1")}
		},
		"a taint": func(s *scheduling.Snapshot) {
			s.NodePools[0].Object.Spec.Template.Spec.Taints = make([]corev1.Taint, 1)
		},
		"an odd operator": func(s *scheduling.Snapshot) {
			s.NodePools[0].Object.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{{Key: "a", Operator: "Is"}}
		},
		"an init container": func(s *scheduling.Snapshot) { s.Pods[0].Spec.InitContainers = make([]corev1.Container, 1) },
	} {
		s := one()
		change(s)
		if _, err := Of(s); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

// DaemonSets take room on every node; what the pool can't buy is no type.
func TestTypes(t *testing.T) {
	s := ordinary(t, "m5-none-3z-1-10p")
	set := &appsv1.DaemonSet{}
	set.Spec.Template.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("250m")}}}}
	s.DaemonSets = []*appsv1.DaemonSet{set}
	s.NodePools[0].Object.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{
		{Key: corev1.LabelInstanceTypeStable, Operator: corev1.NodeSelectorOpIn, Values: []string{"m5.large", "m5.xlarge"}},
		{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{"zone-b", "zone-c"}},
	}
	types := s.Catalogs[s.NodePools[0].Catalog]
	types[0].Offerings[0].Price, types[0].Offerings[1].Available = 0.01, false // zone-a is not the pool's, zone-b has none left
	types[0].Offerings[2].Price = 0.05
	p := problem(t, s)
	if len(p.Types) != 2 || p.Types[0].Name != "m5.large" || p.Types[0].Price != 0.05 {
		t.Fatalf("%+v", p.Types)
	}
	if room := p.Types[0].Room; room[0] != 1790-250 || room[len(room)-1] != 28 {
		t.Errorf("room %v of %v", room, p.Resources)
	}
	set.Spec.Template.Spec.NodeSelector = map[string]string{"a": "b"}
	if _, err := Of(s); err == nil {
		t.Error("a DaemonSet that chooses nodes is taken")
	}
}
