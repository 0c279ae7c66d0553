package answering_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/answering"
	"github.com/drawknife/drawknife/internal/parts"
	"github.com/drawknife/drawknife/internal/trialtest"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// solved is the plan for the cluster.
func solved(t *testing.T, of ...any) *planning.Plan {
	t.Helper()
	p, err := answering.Solve(t.Context(), parts.Compile(t, parts.Cluster(of...)).Engine(), planning.Query{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// order are the names of the pods in the order in which they can be bound.
func order(p *planning.Plan) (out []string) {
	for _, key := range p.Order {
		out = append(out, key.Name)
	}
	return out
}

// A pod that must follow another is bound after it, whatever their names and sizes; pods of a spread take turns between domains.
func TestBindOrder(t *testing.T) {
	zone := func(app string) corev1.PodAffinityTerm {
		return corev1.PodAffinityTerm{TopologyKey: parts.ZoneKey, LabelSelector: parts.Selecting(app)}
	}
	p := solved(t,
		parts.Pod("a-follows", parts.Requests("cpu=3"), parts.Near(zone("leads"))),
		parts.Pod("b-leads", parts.Requests("cpu=1"), parts.Labelled("leads")),
	)
	if got := order(p); !slices.Equal(got, []string{"b-leads", "a-follows"}) {
		t.Errorf("bound in the order %v", got)
	}
	spread := parts.Pods("s", 4, parts.Labelled("x"), parts.SpreadBy(parts.ZoneKey, 1, "x"))
	p = solved(t, spread)
	zones, count := map[string]string{}, map[string]int{}
	for i := range p.NewNodes {
		for _, key := range p.NewNodes[i].Pods {
			zones[key.Name] = p.NewNodes[i].InstanceTypes[0].Zone
		}
	}
	for _, name := range order(p) {
		count[zones[name]]++
		if skew := count["a"] - count["b"]; skew > 1 || skew < -1 {
			t.Errorf("after %s, zones have %v in the order %v", name, count, order(p))
		}
	}
	if count["a"] != 2 || count["b"] != 2 {
		t.Errorf("zones have %v, want two each", count)
	}
}

// Where rules let pods be bound in any order, it is that of kube-scheduler's queue, not that of placing, in which large pods come first.
func TestBindOrderIsThatOfTheQueue(t *testing.T) {
	spread := parts.SpreadBy(parts.ZoneKey, 1, "x")
	p := solved(t,
		parts.Pod("a-small", parts.Requests("cpu=1"), parts.Labelled("x"), spread),
		parts.Pod("b-large", parts.Requests("cpu=7"), parts.Labelled("x"), spread),
	)
	if got := order(p); !slices.Equal(got, []string{"a-small", "b-large"}) {
		t.Errorf("bound in the order %v", got)
	}
}

// A plan says where each pod goes: on which node that is there, on which new one, or nowhere and why.
func TestSolveSaysWhereEachPodGoes(t *testing.T) {
	p := solved(t,
		parts.Node("n", parts.Bound(parts.Pod("there", parts.Requests("cpu=2")))),
		parts.Pod("fits", parts.Requests("cpu=2")), parts.Pod("new", parts.Requests("cpu=7")), parts.Pod("huge", parts.Requests("cpu=70")),
	)
	for name, want := range map[string]string{"fits": "on n", "new": "new large/a/spot", "huge": "nowhere"} {
		parts.WantPlace(t, p, name, want)
	}
	if len(p.Unschedulable) != 1 || p.Unschedulable[0].Pod.Name != "huge" || len(p.Unschedulable[0].Reasons) == 0 {
		t.Errorf("unschedulable: %+v", p.Unschedulable)
	}
	if got := order(p); len(got) != 2 || slices.Contains(got, "huge") {
		t.Errorf("bound are %v", got)
	}
	if len(p.NewNodes) != 1 || p.NewNodes[0].Name != "default-1" || len(p.NewNodes[0].InstanceTypes) != 1 {
		t.Errorf("new nodes: %+v", p.NewNodes)
	}
}

// Types of a new node are listed cheapest first, as many as are asked for, and only those opened since the mark.
func TestPlanned(t *testing.T) {
	m := parts.Compile(t, parts.Cluster(parts.Node("a", parts.Bound(parts.Pod("p", parts.Requests("cpu=1")))), parts.Node("b", parts.Bound(parts.Pod("q", parts.Requests("cpu=1"))))))
	trial := trialtest.New(m.Engine())
	var marks []trialtest.Mark
	for _, name := range []string{"a", "b"} {
		marks = append(marks, trial.Mark())
		parts.MustHide(t, trial, name)
		if _, ok := trial.Launch(planning.Query{}, 1); !ok {
			t.Fatalf("nothing is launched for the pod of %s", name)
		}
	}
	for i, want := range []int{2, 1} {
		if got := trial.Planned(marks[i], 0); len(got) != want {
			t.Errorf("%d new nodes since mark %d, want %d", len(got), i, want)
		}
	}
	for types, want := range map[int][]string{1: {"small"}, 2: {"small", "arm"}, 0: {"small", "arm", "medium", "large"}} {
		var names []string
		for _, o := range trial.Planned(marks[1], types)[0].InstanceTypes {
			names = append(names, o.Name)
		}
		if !slices.Equal(names, want) {
			t.Errorf("of %d types, %v are listed, want %v", types, names, want)
		}
	}
}

// Asked twice, a trial gives the same plan, and one that has done more since gives another.
func TestPlanIsRepeatable(t *testing.T) {
	m := parts.Compile(t, parts.Cluster(parts.Pods("p", 3, parts.Requests("cpu=1"))))
	trial := trialtest.New(m.Engine())
	parts.MustPlace(t, trial, scheduling.PlaceOptions{})
	first := parts.Text(t, parts.PlanOf(t, trial))
	if again := parts.Text(t, parts.PlanOf(t, trial)); again != first {
		t.Error("two plans of one trial differ")
	}
	if empty := trialtest.New(m.Engine()); len(parts.PlanOf(t, empty).Order) != 0 {
		t.Error("a trial on which nothing was placed binds pods")
	}
}
