package scheduling_test

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/planvalidator"
	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/scheduling"
)

// randomGangs makes gangs of some of the snapshot's pods, and of templates.
func randomGangs(t *rapid.T, s *scheduling.Snapshot) []scheduling.Gang {
	var out []scheduling.Gang
	taken := map[scheduling.PodKey]bool{}
	member := func(g *scheduling.Gang, pod *corev1.Pod, chanceOf int) {
		key := scheduling.PodKey{Namespace: pod.Namespace, Name: pod.Name}
		if !taken[key] && chance(t, chanceOf) {
			taken[key] = true
			g.Members = append(g.Members, key)
		}
	}
	for i := range number(t, 1, 3) {
		g := scheduling.Gang{Namespace: "default", Name: fmt.Sprintf("gang-%d", i), Minimum: oneOf(t, 0, 0, 0, 1, 2, 3)}
		for _, pod := range s.Pods {
			member(&g, pod, 3)
		}
		for j := range s.Nodes {
			for _, pod := range s.Nodes[j].Pods {
				member(&g, pod, 1)
			}
		}
		if chance(t, 3) || len(g.Members) == 0 {
			template := corev1.PodTemplateSpec{Spec: pod("", randomSpec(t)...).Spec}
			g.Templates = []scheduling.GangTemplate{{Count: number(t, 1, 4), Template: template}}
		}
		for _, key := range []string{zoneKey, "team"} {
			if chance(t, 3) {
				g.Topology = append(g.Topology, scheduling.GangTopology{Key: key, Policy: oneOf(t, "", scheduling.GangTopologyPreferred)})
			}
		}
		if chance(t, 2) {
			p := int32(oneOf(t, -1, 0, 5))
			g.Priority = &p
		}
		if chance(t, 1) {
			g.Deadline = s.Time.Add(time.Duration(number(t, -1, 1)) * time.Hour)
		}
		out = append(out, g)
	}
	return out
}

// No plan has a gang in part, or outside of the domain that it requires; what is placed follows all rules, what is not is explained, and
// the bound and its proof hold.
func TestPlansWithGangsAreValid(t *testing.T) {
	check := func(generate func(*rapid.T) *scheduling.Snapshot) func(*rapid.T) {
		return func(t *rapid.T) {
			s := withRandomGangs(generate)(t)
			p := solved(t, s)
			for i, fault := range planvalidator.Check(s, p) {
				if i == 0 {
					show(t, s)
				}
				t.Errorf("%v", fault)
			}
		}
	}
	seeded.Check(t, check(randomSnapshot))
	seeded.Times(t, 200, check(randomRuledSnapshot))
}

// The same gangs are placed the same way: again, on one processor or two, after a trip through a file, and by a model that was updated.
func TestPlansWithGangsAreDeterministic(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		s := randomSnapshot(t)
		without, err := scheduling.Compile(s)
		if err != nil {
			t.Fatal(err)
		}
		next := *s
		next.Gangs = randomGangs(t, s)
		want := text(t, solved(t, &next))
		same := func(how string, p *scheduling.Plan) {
			if diff := cmp.Diff(want, text(t, p)); diff != "" {
				t.Errorf("%s (-first +then):\n%s", how, diff)
			}
		}
		for _, n := range []int{1, 2} {
			before := runtime.GOMAXPROCS(n)
			p := solved(t, &next)
			runtime.GOMAXPROCS(before)
			same(fmt.Sprintf("on %d processors", n), p)
		}
		for name, encode := range encodings() {
			var b bytes.Buffer
			if err := encode(&next, &b); err != nil {
				t.Fatal(err)
			}
			decoded, err := scheduling.DecodeSnapshot(&b)
			if err != nil {
				t.Fatal(err)
			}
			same("from "+name, solved(t, decoded))
		}
		updated, err := without.Update(&next)
		if err != nil {
			t.Fatal(err)
		}
		same("updated", solvedBy(t, updated))
		again, err := updated.Update(&next)
		if err != nil {
			t.Fatal(err)
		}
		same("updated again", solvedBy(t, again))
		back, err := again.Update(s)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(text(t, solvedBy(t, without)), text(t, solvedBy(t, back))); diff != "" {
			t.Errorf("without gangs again:\n%s", diff)
		}
	})
}

// A gang that can never fit, of whatever priority, leaves all other pods the places that they have without it.
func TestHopelessGangsStarveNobody(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		s := randomSnapshot(t)
		without, next := solved(t, s), *s
		huge := corev1.PodTemplateSpec{Spec: pod("", requests("cpu=100000")).Spec}
		small := corev1.PodTemplateSpec{Spec: pod("", randomSpec(t)...).Spec}
		p := int32(oneOf(t, -1, 0, 100))
		next.Gangs = []scheduling.Gang{{
			Namespace: "hopeless", Name: "gang", Priority: &p,
			Templates: []scheduling.GangTemplate{{Name: "small", Count: number(t, 1, 5), Template: small}, {Name: "huge", Count: 1, Template: huge}},
		}}
		with := solved(t, &next)
		if with.Gangs[0].Reason == nil {
			t.Fatalf("the gang is placed: %s", with.Gangs[0].String())
		}
		if len(with.Order) != len(without.Order) || with.HourlyCost != without.HourlyCost {
			show(t, &next)
			t.Errorf("%d pods are placed for %v with the gang, and %d for %v without", len(with.Order), with.HourlyCost, len(without.Order), without.HourlyCost)
		}
	})
}
