package disruption_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// gangOf is a gang of the pods, which is moved as a whole.
func gangOf(name string, members ...string) scheduling.Gang {
	g := scheduling.Gang{Namespace: "default", Name: name}
	for _, member := range members {
		g.Members = append(g.Members, scheduling.PodKey{Namespace: "default", Name: member})
	}
	return g
}

// gangWorld has a gang on two nodes, of which the second has drifted, and one on a third.
func gangWorld(change func(w *world, wide, small *scheduling.Gang)) *world {
	w := newWorld()
	w.node("n0", "c4", holding(pod("wide-0")))
	w.node("n1", "c4", holding(pod("wide-1")), drifted(time.Hour), grace(time.Hour))
	w.node("n2", "c4", holding(pod("small-0"), pod("small-1")))
	w.snapshot.Gangs = []scheduling.Gang{gangOf("wide", "wide-0", "wide-1"), gangOf("small", "small-0", "small-1")}
	if change != nil {
		change(w, &w.snapshot.Gangs[0], &w.snapshot.Gangs[1])
	}
	return w
}

// protect has the pod not disrupted.
func protect(w *world, node int) {
	pod := w.snapshot.Nodes[node].Pods[0]
	pod.Annotations = map[string]string{v1.DoNotDisruptAnnotationKey: "true"}
}

// No member is moved without the others: what keeps one node of a gang keeps all, and says so. Members of a PodGroup that says so are moved
// like any pods.
func TestWhatKeepsGangs(t *testing.T) {
	const gang = disruption.BlockGang
	for name, tt := range map[string]struct {
		change func(w *world, wide, small *scheduling.Gang)
		// want keeps the nodes from consolidation, drift the second from drift.
		want  [3]disruption.BlockCode
		drift disruption.BlockCode
		says  string
	}{
		"nothing": {},
		"a protected pod": {
			func(w *world, _, _ *scheduling.Gang) { protect(w, 0) }, [3]disruption.BlockCode{disruption.BlockPod, gang, ""}, gang,
			"pod default/wide-1 is a member of gang default/wide, which runs on 2 nodes and can only be moved as a whole: node n0: pod default/wide-0 must not be disrupted",
		},
		"a protected pod where members are moved one by one": {
			func(w *world, wide, _ *scheduling.Gang) {
				protect(w, 0)
				wide.DisruptionMode = planning.GangDisruptedSingly
			}, [3]disruption.BlockCode{disruption.BlockPod, "", ""}, "", "",
		},
		"a protected pod with a grace period": { // with which drift goes on all the same
			func(w *world, _, _ *scheduling.Gang) { protect(w, 1) }, [3]disruption.BlockCode{gang, disruption.BlockPod, ""}, "", "",
		},
		"a PodDisruptionBudget": {
			func(w *world, _, _ *scheduling.Gang) {
				app("x")(w.snapshot.Nodes[0].Pods[0])
				w.pdb("b", "x", 0)
			}, [3]disruption.BlockCode{disruption.BlockPodDisruptionBudget, gang, ""}, gang, "node n0: pod disruption budget default/b does not let pod default/wide-0 go now",
		},
		"a node that nobody manages": {
			func(w *world, _, _ *scheduling.Gang) { w.snapshot.Nodes[0].Claim = nil }, [3]disruption.BlockCode{disruption.BlockUnmanaged, gang, ""}, gang, "node n0: no nodeclaim made it",
		},
		"a member that waits": {
			func(w *world, wide, _ *scheduling.Gang) {
				w.snapshot.Pods = append(w.snapshot.Pods, pod("wide-2"))
				wide.Members = append(wide.Members, scheduling.PodKey{Namespace: "default", Name: "wide-2"})
			}, [3]disruption.BlockCode{gang, gang, ""}, gang, "members of it wait for a place: default/wide-2",
		},
		"a pool whose nodes go only empty": {
			func(w *world, _, _ *scheduling.Gang) {
				w.pool("other", policy(v1.ConsolidationPolicyWhenEmpty))
				ofPool("other")(&w.snapshot.Nodes[0])
				w.snapshot.Nodes[0].Pool = v1.NewPoolKey("other")
			}, [3]disruption.BlockCode{disruption.BlockPolicy, gang, ""}, "", "",
		},
		"another gang on one of its nodes": {
			func(w *world, _, _ *scheduling.Gang) {
				w.node("n3", "c4", holding(pod("more-0")))
				w.snapshot.Nodes[2].Pods = append(w.snapshot.Nodes[2].Pods, pod("more-1"))
				w.snapshot.Nodes[0].Pods = append(w.snapshot.Nodes[0].Pods, pod("more-2"))
				w.snapshot.Gangs = append(w.snapshot.Gangs, gangOf("more", "more-0", "more-1", "more-2"))
				protect(w, 3)
			}, [3]disruption.BlockCode{gang, gang, gang}, gang, "pod default/wide-1 is a member of gang default/wide, which runs on 2 nodes and can only be moved as a whole: node n3: ",
		},
	} {
		f := gangWorld(tt.change).fleet(t)
		got := [3]disruption.BlockCode{blocked(f, disruption.MethodSingleNode, "n0"), blocked(f, disruption.MethodSingleNode, "n1"), blocked(f, disruption.MethodSingleNode, "n2")}
		if got != tt.want {
			t.Errorf("%s: blocks %q, want %q", name, got, tt.want)
		}
		if drift := blocked(f, disruption.MethodDrift, "n1"); drift != tt.drift {
			t.Errorf("%s: drift is blocked by %q, want %q", name, drift, tt.drift)
		}
		if why := f.Blocked["n1"].String(); !strings.Contains(why, tt.says) {
			t.Errorf("%s: the block says %q", name, why)
		}
	}
}

// planners are both, without thresholds.
func planners() map[string]disruption.Planner {
	return map[string]disruption.Planner{"reference": &disruption.Reference{}, "global": thrifty()}
}

// A gang goes as a whole: because one of its nodes has drifted, or because it costs less elsewhere. Budgets count its nodes.
func TestGangsAreMovedWhole(t *testing.T) {
	wide := gangOf("wide", "wide-0", "wide-1")
	for name, tt := range map[string]struct {
		change func(w *world)
		// want are the nodes of the command with the gang; empty for none, and then says what keeps the first node.
		want string
		says string
	}{
		"drift":         {func(w *world) { drifted(time.Hour)(&w.snapshot.Nodes[1]) }, "n0 n1", ""},
		"consolidation": {func(*world) {}, "n0 n1", ""},
		"moved one by one": {func(w *world) {
			w.snapshot.Gangs[0].DisruptionMode = planning.GangDisruptedSingly
			w.pool("default", budgets(v1.Budget{Nodes: "1"}))
		}, "n0", ""},
		"a budget of one node": {func(w *world) { w.pool("default", budgets(v1.Budget{Nodes: "1"})) }, "",
			"can only be moved as a whole: spec.disruption.budgets[0] of nodepool default allows 1 and 1 are in use"},
		"a budget of two nodes": {func(w *world) { w.pool("default", budgets(v1.Budget{Nodes: "2"})) }, "n0 n1", ""},
		"nothing to save": {func(w *world) {
			for i := range 2 {
				asks("cpu=3700m")(w.snapshot.Nodes[i].Pods[0])
			}
		}, "", "can only be moved as a whole: "},
	} {
		for planner, p := range planners() {
			w := newWorld()
			w.node("n0", "c4", holding(pod("wide-0", asks("cpu=700m"))))
			w.node("n1", "c4", holding(pod("wide-1", asks("cpu=700m"))))
			w.snapshot.Gangs = []scheduling.Gang{wide}
			tt.change(w)
			plan, err := p.Plan(t.Context(), w.fleet(t))
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, cmd := range plan.Commands {
				for _, m := range cmd.Members {
					got += " " + m.Node
				}
				if len(cmd.Replacements) == 0 && len(cmd.Receivers) == 0 {
					t.Errorf("%s, %s: %s has no places", planner, name, cmd)
				}
			}
			if got = strings.TrimSpace(got); got != tt.want {
				t.Errorf("%s, %s: %q goes, want %q: %v", planner, name, got, tt.want, plan.Verdicts)
			}
			if tt.says != "" {
				said := ""
				for _, b := range plan.Verdicts[0].Blocks {
					said += b.Block.String() + "\n"
				}
				if !strings.Contains(said, tt.says) {
					t.Errorf("%s, %s: n0 is kept by\n%s", planner, name, said)
				}
			}
		}
	}
}

// A command that was good when it was planned is void once the gang has come to another node.
func TestGangsThatHaveGrownVoidCommands(t *testing.T) {
	for planner, p := range planners() {
		w := newWorld()
		w.node("n0", "c4", holding(pod("wide-0", asks("cpu=700m"))))
		w.node("n1", "c4", holding(pod("wide-1", asks("cpu=700m"))))
		w.node("n2", "c4", holding(pod("other", podAnnotated(v1.DoNotDisruptAnnotationKey, "true"))), grace(time.Hour))
		w.snapshot.Gangs = []scheduling.Gang{gangOf("wide", "wide-0", "wide-1")}
		plan, err := p.Plan(t.Context(), w.fleet(t))
		if err != nil || len(plan.Commands) != 1 {
			t.Fatalf("%s: %v, %v", planner, plan, err)
		}
		w.snapshot.Nodes[2].Pods[0].Annotations = nil
		w.snapshot.Nodes[2].Pods = append(w.snapshot.Nodes[2].Pods, pod("wide-2", asks("cpu=700m")))
		w.snapshot.Gangs = []scheduling.Gang{gangOf("wide", "wide-0", "wide-1", "wide-2")}
		_, err = p.Validate(t.Context(), w.fleet(t), plan.Commands[0])
		var rejected *disruption.RejectedError
		if !errors.As(err, &rejected) || rejected.Block.Code != disruption.BlockGang {
			t.Errorf("%s: %v", planner, err)
		}
	}
}

// A gang that has to be in one domain goes to one that holds all of it: the one in which it costs least, whether its members have to be in one
// zone, on one rack of a zone, or on one node. Where none does it stays, and the verdicts say so.
func TestGangsAreMovedIntoOneDomain(t *testing.T) {
	const rack = "example.com/rack"
	zone := []scheduling.GangTopology{{Key: corev1.LabelTopologyZone}}
	wish := []scheduling.GangTopology{{Key: corev1.LabelTopologyZone, Policy: scheduling.GangTopologyPreferred}}
	wished := append(zone[:1:1], scheduling.GangTopology{Key: rack, Policy: scheduling.GangTopologyPreferred})
	racks := append(zone, scheduling.GangTopology{Key: rack})
	on := func(zone, of string) []nodeOption {
		return []nodeOption{labelled(corev1.LabelTopologyZone, zone), labelled(rack, of), annotated(v1.DoNotDisruptAnnotationKey, "true")}
	}
	for name, tt := range map[string]struct {
		topology []scheduling.GangTopology
		// rooms are nodes of four cores with three free, by zone and rack.
		rooms [][2]string
		// pods is how many members ask for one core each. want are the nodes that take them; "new" is a new node.
		pods int
		want string
	}{
		"room for all in another zone":    {zone, [][2]string{{"a", "r1"}, {"b", "r2"}, {"b", "r3"}}, 4, "room-1 room-2"},
		"room for all in its zone":        {zone, [][2]string{{"a", "r1"}, {"a", "r2"}, {"b", "r3"}}, 4, "room-0 room-1"},
		"room for some in each zone":      {zone, [][2]string{{"a", "r1"}, {"b", "r2"}}, 4, "new room-0"},
		"room for some in each, anywhere": {nil, [][2]string{{"a", "r1"}, {"b", "r2"}}, 4, "room-0 room-1"},
		"room on a rack":                  {racks, [][2]string{{"a", "r1"}, {"a", "r2"}, {"b", "r3"}, {"b", "r3"}}, 4, "room-2 room-3"},
		"room for some on each rack":      {racks, [][2]string{{"a", "r1"}, {"a", "r2"}, {"b", "r3"}}, 4, ""},
		"room on a node":                  {[]scheduling.GangTopology{{Key: corev1.LabelHostname}}, [][2]string{{"a", "r1"}}, 3, "room-0"},
		"room on no node":                 {[]scheduling.GangTopology{{Key: corev1.LabelHostname}}, [][2]string{{"a", "r1"}, {"a", "r2"}}, 4, ""},
		"a domain that is only a wish":    {wish, [][2]string{{"a", "r1"}, {"b", "r2"}}, 4, "room-0 room-1"},
		"a wish with room for all":        {wish, [][2]string{{"a", "r1"}, {"b", "r2"}, {"b", "r3"}}, 4, "room-1 room-2"},
		"a required domain and a wish":    {wished, [][2]string{{"a", "r1"}, {"a", "r2"}, {"b", "r3"}, {"b", "r3"}}, 4, "room-2 room-3"},
		"a wish that has to go":           {wished, [][2]string{{"a", "r1"}, {"a", "r2"}, {"b", "r3"}}, 4, "room-0 room-1"},
		"the last of two wishes goes":     {append(wish, wished[1]), [][2]string{{"b", "r3"}, {"a", "r1"}, {"a", "r2"}}, 4, "room-1 room-2"},
	} {
		for planner, p := range planners() {
			w := newWorld()
			gang := gangOf("wide")
			gang.Topology = tt.topology
			for i := range 2 {
				var list []*corev1.Pod
				for k := i; k < tt.pods; k += 2 {
					list = append(list, pod(fmt.Sprintf("wide-%d", k), asks("cpu=1000m")))
					gang.Members = append(gang.Members, planning.KeyOf(list[len(list)-1]))
				}
				w.node(fmt.Sprintf("n%d", i), "c8", holding(list...), labelled(rack, "r0"), drifted(time.Hour))
			}
			for i, at := range tt.rooms {
				w.node(fmt.Sprintf("room-%d", i), "c4", append(on(at[0], at[1]), holding(pod(fmt.Sprintf("other-%d", i), asks("cpu=900m"))))...)
			}
			w.snapshot.Gangs = []scheduling.Gang{gang}
			plan, err := p.Plan(t.Context(), w.fleet(t))
			if err != nil {
				t.Fatal(err)
			}
			for _, why := range torn(w.snapshot, plan.Commands) {
				t.Errorf("%s, %s: %s", planner, name, why)
			}
			if text := takers(plan); text != tt.want {
				t.Errorf("%s, %s: pods go to %q, want %q: %v", planner, name, text, tt.want, plan.Verdicts[0])
			}
			if tt.want == "" {
				said := ""
				for _, b := range plan.Verdicts[0].Blocks {
					said += b.Block.String() + "\n"
				}
				if !strings.Contains(said, "gang default/wide, which runs on 2 nodes and can only be moved as a whole: pods would have no place") {
					t.Errorf("%s, %s: n0 is kept by\n%s", planner, name, said)
				}
			}
		}
	}
}
