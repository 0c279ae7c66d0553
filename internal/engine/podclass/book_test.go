package podclass_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/topology"
	"github.com/drawknife/drawknife/internal/engine/volumes"
)

func pod(name, cpu string, changes ...func(*corev1.PodSpec)) *corev1.Pod {
	p := build.Pod(name, build.Namespace("n"), build.CPU(cpu))
	for _, change := range changes {
		change(&p.Spec)
	}
	return p
}

func zones(required, preferred string) func(*corev1.PodSpec) {
	term := func(zone string) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{zone}}}}
	}
	return func(spec *corev1.PodSpec) {
		a := &corev1.NodeAffinity{}
		if required != "" {
			a.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{term(required)}}
		}
		if preferred != "" {
			a.PreferredDuringSchedulingIgnoredDuringExecution = []corev1.PreferredSchedulingTerm{{Weight: 1, Preference: term(preferred)}}
		}
		spec.Affinity = &corev1.Affinity{NodeAffinity: a}
	}
}

// pool sells nodes of so many CPU in zones a, for 1 USD, and b, for 2.
func pool(name, cpu string, weight int32) *nodepool.Pool {
	it := build.InstanceType(name, build.CPU(cpu), build.Memory("8Gi"), build.OnDemand("a", 1), build.OnDemand("b", 2))
	c := market.NewCatalog(name, []*cloudprovider.InstanceType{it})
	p := &nodepool.Pool{Key: v1.PoolKey{Name: name}, Weight: weight, Table: nodepool.NewTable(c, resources.NewTable(), nil, nil)}
	p.Open()
	return p
}

// book classes the pods; it returns the class of each, and the stages.
func book(t *testing.T, pools []*nodepool.Pool, pods ...*corev1.Pod) (*podclass.Book, []*podclass.Class, *podclass.Stages) {
	t.Helper()
	vocabulary := requirements.CoreVocabulary()
	terms := match.Terms{Vocabulary: vocabulary.Compile(), Pods: vocabulary.Compile()}
	vols := volumes.New(&volumes.Objects{Users: func(func(*corev1.Pod, bool) bool) {}}, terms.Vocabulary)
	asked := map[string]bool{}
	x := topology.NewIndex(terms, vols, asked, &topology.Cluster{})
	x.Seal()
	table := resources.NewTable()
	b := podclass.NewBook(&podclass.Reader{Terms: terms, Volumes: vols, Resources: table, Pools: pools, Asked: asked}, x)
	w := likeness.NewWriter(table, vols)
	at := make([]int32, len(pods))
	for i, p := range pods {
		at[i] = b.ClassOf(&likeness.Pattern{First: p, Rules: x.Remember(p)}, w)
	}
	number := b.SortClasses()
	b.ShapeClasses()
	stages := podclass.NewStages(0)
	for _, c := range b.Classes {
		if c.Invalid == nil {
			stages.Find(pools, c, b.Shapes[c.Shape])
		}
	}
	classes := make([]*podclass.Class, len(pods))
	for i := range pods {
		classes[i] = b.Classes[number[at[i]]]
	}
	return b, classes, stages
}

// Pods that ask for the same are one class, whatever their names; those that differ in requests share a shape.
func TestClassesAndShapes(t *testing.T) {
	pods := []*corev1.Pod{pod("x", "1"), pod("y", "1"), pod("z", "2"), pod("a", "1", zones("a", ""))}
	b, of, _ := book(t, []*nodepool.Pool{pool("p", "4", 0)}, pods...)
	if of[0] != of[1] || of[0] == of[2] || of[0].Shape != of[2].Shape || of[0].Shape == of[3].Shape {
		t.Errorf("%d classes of %d shapes", len(b.Classes), len(b.Shapes))
	}
	if of[0].Sample.Name != "x" {
		t.Errorf("the sample is %s, want the first pod", of[0].Sample.Name)
	}
	slices.Reverse(pods)
	again, _, _ := book(t, []*nodepool.Pool{pool("p", "4", 0)}, pods...)
	for i, c := range again.Classes {
		if !slices.Equal(c.Requests, b.Classes[i].Requests) {
			t.Errorf("class %d is another one in another order of pods", i)
		}
	}
	if !b.Asked[corev1.LabelTopologyZone] {
		t.Error("nobody asked about zones")
	}
}

// Stages go from the heaviest pool to the lightest, and keep preferences first; one without a node that is large enough is none.
func TestStages(t *testing.T) {
	pools := []*nodepool.Pool{pool("large", "4", 9), pool("small", "1", 1)}
	_, of, stages := book(t, pools, pod("small", "1"), pod("large", "3"), pod("picky", "1", zones("", "b")), pod("nowhere", "1", zones("c", "")))
	names := func(c *podclass.Class) []string {
		var out []string
		for _, st := range c.Stages {
			name := ""
			for _, u := range stages.List[st].Uses {
				name += pools[u.Pool].Key.Name
			}
			if stages.List[st].Kept > 0 {
				name += " in b"
			}
			out = append(out, name)
		}
		return out
	}
	for i, want := range [][]string{{"large", "small"}, {"large"}, {"large in b", "small in b", "large", "small"}, nil} {
		if got := names(of[i]); !slices.Equal(got, want) {
			t.Errorf("stages of pod %d are %q, want %q", i, got, want)
		}
	}
	if picky := of[2]; picky.Costs[0] != 2*picky.Costs[2] || picky.PlainCost() != picky.Costs[2] {
		t.Errorf("keeping the preference costs %v", picky.Costs)
	}
}

// A later book has the stages of a shape that it keeps, with the numbers that profiles have in its own pools.
func TestKeptShapes(t *testing.T) {
	pools := []*nodepool.Pool{pool("p", "4", 0)}
	b, of, stages := book(t, pools, pod("other", "1"), pod("stays", "1", zones("b", "")))
	next := []*nodepool.Pool{pools[0].WithoutProfiles()}
	numbers := podclass.NewProfileNumbers(pools, next)
	b.Reader.Pools = next
	kept := b.KeepShape(b.Shapes[of[1].Shape], of[1].Requests, numbers)
	want := stages.List[of[1].Stages[0]]
	if got := numbers.Stage(want); len(next[0].Profiles) != 1 || got.Uses[0].Profile != 0 || kept.Demands[0].Uses[0] != got.Uses[0] {
		t.Errorf("the stage is %+v of %d profiles, was %+v", got, len(next[0].Profiles), want)
	}
}
