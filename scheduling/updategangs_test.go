package scheduling_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/scheduling"
)

// withOtherGangs is the snapshot with other gangs: one more or fewer, or one that has changed, whose pods may have, too.
func withOtherGangs(t *rapid.T, s *scheduling.Snapshot, moment int) *scheduling.Snapshot {
	o := *s
	o.Gangs = slices.Clone(s.Gangs)
	at := -1
	if len(o.Gangs) > 0 {
		at = draw(t, len(o.Gangs))
		o.Gangs[at].Members = slices.Clone(o.Gangs[at].Members)
		o.Gangs[at].Topology = slices.Clone(o.Gangs[at].Topology)
	}
	switch what := draw(t, 6); {
	case what == 0 && at >= 0:
		o.Gangs = slices.Delete(o.Gangs, at, at+1)
	case what == 1 && at >= 0 && len(o.Gangs[at].Members) > 1:
		o.Gangs[at].Members = o.Gangs[at].Members[1:]
	case what == 2 && at >= 0:
		o.Gangs[at].Topology = []scheduling.GangTopology{{Key: oneOf(t, zoneKey, "team", corev1.LabelHostname, "rack"), Policy: oneOf(t, "", scheduling.GangTopologyPreferred)}}
	case what == 3 && at >= 0: // a member changes
		o.Pods = slices.Clone(s.Pods)
		for i, p := range o.Pods {
			if slices.Contains(o.Gangs[at].Members, scheduling.PodKey{Namespace: p.Namespace, Name: p.Name}) {
				o.Pods[i] = p.DeepCopy()
				o.Pods[i].Spec.NodeSelector = map[string]string{zoneKey: oneOf(t, "a", "b")}
				break
			}
		}
	case what == 4: // pods of no gang become one
		taken := map[scheduling.PodKey]bool{}
		for i := range o.Gangs {
			for _, key := range o.Gangs[i].Members {
				taken[key] = true
			}
		}
		g := scheduling.Gang{Namespace: "default", Name: string(rune('a' + moment)), Topology: []scheduling.GangTopology{{Key: zoneKey, Policy: oneOf(t, "", scheduling.GangTopologyPreferred)}}}
		add := func(p *corev1.Pod) {
			if key := (scheduling.PodKey{Namespace: p.Namespace, Name: p.Name}); !taken[key] && chance(t, 3) {
				g.Members = append(g.Members, key)
			}
		}
		for _, p := range o.Pods {
			add(p)
		}
		for i := range o.Nodes {
			for _, p := range o.Nodes[i].Pods {
				add(p)
			}
		}
		if len(g.Members) > 0 {
			o.Gangs = append(o.Gangs, g)
		}
	}
	return &o
}

// A chain of updates of snapshots with gangs gives, at each step, the model that compiling gives, whether gangs change, their pods, or
// others; and it plans alike. Most steps need no compiling.
func TestUpdatesWithGangsEqualCompile(t *testing.T) {
	inPlace, steps, moves, options := 0, 0, 0, 0
	seeded.Times(t, 40, func(t *rapid.T) {
		s := generated(randomRuledSnapshot(t))
		s.Gangs = randomGangs(t, s)
		model, err := scheduling.Compile(s)
		if err != nil {
			t.Skip("a snapshot that is refused")
		}
		for moment := range number(t, 3, 8) {
			switch draw(t, 4) {
			case 0:
				s = withOtherGangs(t, s, moment)
			case 1:
				s = strangers(t, s, moment)
			default:
				s = evolve(t, s, moment)
			}
			want, err := scheduling.Compile(s)
			if err != nil {
				if _, also := model.Update(s); also == nil {
					t.Fatalf("Compile refuses the snapshot and Update takes it: %v", err)
				}
				return
			}
			next := scheduling.UpdateInPlace(model, s)
			if steps++; next != nil {
				inPlace++
			} else if next, err = model.Update(s); err != nil {
				t.Fatal(err)
			}
			model = next
			if parts := scheduling.ModelDifferences(model, want); len(parts) > 0 {
				t.Fatalf("the updated model differs in %v", parts)
			}
			o, m := scheduling.GangChoices(model)
			options, moves = options+o, moves+m
		}
		want, err := scheduling.Compile(s)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(text(t, solvedBy(t, want)), text(t, solvedBy(t, model))); diff != "" {
			t.Fatalf("(-Compile +Update):\n%s", diff)
		}
	})
	if inPlace*2 < steps || !testing.Short() && (moves < 10 || options < 50) {
		t.Errorf("%d of %d steps were made without compiling, gangs had %d options and %d moves: too few to prove anything", inPlace, steps, options, moves)
	} else {
		t.Logf("%d of %d steps were made without compiling; gangs had %d options and %d moves", inPlace, steps, options, moves)
	}
}
