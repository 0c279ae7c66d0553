package existing_test

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/internal/engine/daemonset"
	"github.com/drawknife/drawknife/internal/engine/existing"
	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/volumes"
	"github.com/drawknife/drawknife/scheduling/planning"
)

func pod(name string, owner ...string) *corev1.Pod {
	p := build.Pod(name, build.Namespace("n"))
	for _, kind := range owner {
		p.OwnerReferences = append(p.OwnerReferences, metav1.OwnerReference{Kind: kind, APIVersion: "apps/v1", UID: "d"})
	}
	return p
}

// node has a name, 4 CPU and labels; claimed nodes have a NodeClaim of 8 CPU.
func node(name string, labels map[string]string, pods ...*corev1.Pod) *planning.Node {
	object := build.Node(name, build.CPU("4"))
	object.Labels = labels
	return &planning.Node{Name: name, Pods: pods, Object: object}
}

func maker(sets []daemonset.Set, classes ...*podclass.Class) *existing.Maker {
	lookup := requirements.CoreVocabulary().Compile()
	return &existing.Maker{
		Resources: resources.NewTable(), Volumes: volumes.New(&volumes.Objects{Users: func(func(*corev1.Pod, bool) bool) {}}, lookup),
		Limits: existing.NewAttachLimits(nil, nil), DaemonSets: sets, Classes: classes, PoolIndex: map[v1.PoolKey]int{},
		Groups: existing.NewGroups(map[string]bool{"team": true}, lookup, nil),
	}
}

func made(m *existing.Maker, n *planning.Node, classes ...int32) (existing.Node, []int64) {
	view, free := existing.ViewOf(n), make([]int64, resources.Base)
	return m.Node(n, &view, classes, likeness.ReadPods(n.Pods), m.Groups.Number(&view), existing.NewArena(0), free), free
}

// Bound pods take what they request, DaemonSet pods that are yet to come as well; what is overcommitted is used up.
func TestFreeAmounts(t *testing.T) {
	request := func(n int64) []int64 { return []int64{n * 1000, 0, 0} }
	classes := []*podclass.Class{{Requests: request(1)}, {Requests: request(5)}}
	sets := []daemonset.Set{{Object: &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{UID: "d"}}, Requests: request(2), Terms: []match.Needs{{}}}}
	ended := pod("ended")
	ended.Status.Phase = corev1.PodSucceeded
	for _, c := range []struct {
		name          string
		sets          []daemonset.Set
		pods          []*corev1.Pod
		classes       []int32
		free, over    int64
		bound, moving int
	}{
		{"empty", nil, nil, nil, 4000, 0, 0, 0},
		{"a pod", nil, []*corev1.Pod{pod("p", "ReplicaSet")}, []int32{0}, 3000, 0, 1, 1},
		{"one that has ended", nil, []*corev1.Pod{ended}, []int32{0}, 4000, 0, 0, 0},
		{"too much", nil, []*corev1.Pod{pod("p")}, []int32{1}, 0, 1000, 1, 1},
		{"a DaemonSet's pod is yet to come", sets, nil, nil, 2000, 0, 0, 0},
	} {
		n, free := made(maker(c.sets, classes...), node("n", nil, c.pods...), c.classes...)
		over := int64(0)
		if n.Over != nil {
			over = n.Over[resources.CPU]
		}
		if free[resources.CPU] != c.free || over != c.over || len(n.Bound) != c.bound || len(n.Movable) != c.moving {
			t.Errorf("%s: %d free, %d over, %d bound, %d movable", c.name, free[resources.CPU], over, len(n.Bound), len(n.Movable))
		}
	}
	m := maker(sets, classes...)
	if n, _ := made(m, node("n", nil)); !slices.Equal(n.MissingDaemons(sets, &m.Groups.List[n.Group]), []int{0}) {
		t.Error("the DaemonSet has no pod there yet")
	}
}

// Until a node has registered its claim speaks for it, and startup taints don't count; once it is initialized, the node does.
func TestViews(t *testing.T) {
	taint := corev1.Taint{Key: "starting", Effect: corev1.TaintEffectNoSchedule}
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"team": "claim"}}}
	claim.Status.Allocatable, claim.Spec.StartupTaints = build.Amounts("cpu", "8"), []corev1.Taint{taint}
	n := node("n", map[string]string{"team": "node"})
	n.Object.Spec.Taints, n.Claim = []corev1.Taint{taint}, claim
	for _, phase := range []struct {
		labels map[string]string
		team   string
		taints int
	}{
		{nil, "claim", 0},
		{map[string]string{v1.NodeRegisteredLabelKey: "true"}, "node", 0},
		{map[string]string{v1.NodeRegisteredLabelKey: "true", v1.NodeInitializedLabelKey: "true"}, "node", 1},
	} {
		n.Object.Labels = map[string]string{"team": "node"}
		for k, v := range phase.labels {
			n.Object.Labels[k] = v
		}
		m := maker(nil)
		view := existing.ViewOf(n)
		if g := m.Groups.List[m.Groups.Number(&view)]; view.Labels["team"] != phase.team || len(g.Taints) != phase.taints {
			t.Errorf("with labels %v: of team %s with taints %v", phase.labels, view.Labels["team"], g.Taints)
		}
	}
}

// Nodes are one group unless somebody asks about a label that they differ in; groups stay apart when more is asked.
func TestGroups(t *testing.T) {
	m := maker(nil)
	nodes := []*planning.Node{node("a", map[string]string{"team": "x", "zone": "1"}), node("b", map[string]string{"team": "x", "zone": "2"}), node("c", map[string]string{"team": "y", "zone": "2"})}
	var before []int32
	for _, n := range nodes {
		compiled, _ := made(m, n)
		before = append(before, compiled.Group)
	}
	if !slices.Equal(before, []int32{0, 0, 1}) {
		t.Fatalf("groups are %v", before)
	}
	lookup := requirements.CoreVocabulary().Compile()
	for _, c := range []struct {
		asked map[string]bool
		want  []int32
		same  bool
	}{
		{map[string]bool{"team": true}, []int32{0, 0, 1}, true},
		{map[string]bool{"team": true, "zone": true}, []int32{0, 1, 2}, false},
	} {
		next := existing.NewRegrouping(existing.NewGroups(c.asked, lookup, nil), m.Groups.List, m.Groups.Asked)
		var got []int32
		for i, n := range nodes {
			got = append(got, next.Of(n, before[i]))
		}
		if !slices.Equal(got, c.want) || next.Same != c.same {
			t.Errorf("with %v asked about groups are %v", c.asked, got)
		}
	}
}

// Nodes take pods whose taints they tolerate and whose terms they meet, fully if no preference is given up.
func TestAcceptance(t *testing.T) {
	groups := []existing.Group{
		{Labels: requirements.NewSet(requirements.In("team", "x"))},
		{Labels: requirements.NewSet(requirements.In("team", "y"))},
		{Taints: []corev1.Taint{{Key: "k", Effect: corev1.TaintEffectNoSchedule}}},
	}
	any, wish := []match.Needs{{}}, match.Needs{requirements.In("team", "x")}
	shapes := []*podclass.Shape{{Terms: any, Preferred: []match.Preference{{Weight: 1, Set: wish}}}, {Terms: []match.Needs{wish}}}
	a := existing.NewAcceptance(groups, shapes)
	for shape, want := range [][]bool{{true, true, false}, {true, false, false}} {
		for g, ok := range want {
			if a.Accepts(int32(g), int32(shape)) != ok {
				t.Errorf("group %d accepts shape %d: %t", g, shape, !ok)
			}
		}
	}
	if a.FitOf(0, 0) != existing.FitFully || a.FitOf(1, 0) != existing.FitGivingUp {
		t.Error("a preference given up is no full fit")
	}
	b := existing.NewAcceptance(groups, shapes[:1])
	b.TakeOver(a, []int32{0})
	if b.Len() != 3 || b.FitOf(1, 0) != existing.FitGivingUp {
		t.Error("what is known is taken over")
	}
}
