package disruption_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/planning"
	podrules "github.com/drawknife/drawknife/scheduling/pods"
)

// drawnGangs makes gangs of some pods of the world. Some have to be in one zone, if their pods are; others prefer one.
func drawnGangs(rt *rapid.T, w *world) {
	type member struct{ name, zone string }
	var list []member
	for i := range w.snapshot.Nodes {
		n := &w.snapshot.Nodes[i]
		for _, p := range n.Pods {
			list = append(list, member{p.Name, n.Object.Labels[corev1.LabelTopologyZone]})
		}
	}
	if len(list) == 0 {
		return
	}
	list = rapid.Permutation(list).Draw(rt, "members")
	for i := range rapid.IntRange(0, 3).Draw(rt, "gangs") {
		if len(list) == 0 {
			return
		}
		size := min(rapid.IntRange(1, 4).Draw(rt, "size"), len(list))
		gang, zones := gangOf(fmt.Sprintf("gang-%d", i)), map[string]bool{}
		for _, m := range list[:size] {
			gang.Members = append(gang.Members, scheduling.PodKey{Namespace: "default", Name: m.name})
			zones[m.zone] = true
		}
		list = list[size:]
		if len(zones) == 1 && rapid.Bool().Draw(rt, "one zone") {
			gang.Topology = []scheduling.GangTopology{{Key: corev1.LabelTopologyZone}}
		} else if rapid.Bool().Draw(rt, "preferred zone") {
			gang.Topology = []scheduling.GangTopology{{Key: corev1.LabelTopologyZone, Policy: scheduling.GangTopologyPreferred}}
		}
		if rapid.IntRange(0, 3).Draw(rt, "singly") == 0 {
			gang.DisruptionMode = planning.GangDisruptedSingly
		}
		w.snapshot.Gangs = append(w.snapshot.Gangs, gang)
	}
}

// torn says which gangs commands tear apart that are moved as a whole: a command that removes one of their nodes removes all, has a place
// for each member that moves, and puts those of a gang that has to be in one domain in one.
func torn(s *scheduling.Snapshot, commands []*disruption.Command) (out []string) {
	for g := range s.Gangs {
		gang := &s.Gangs[g]
		if gang.DisruptionMode == planning.GangDisruptedSingly {
			continue
		}
		on := map[string][]scheduling.PodKey{}
		for i := range s.Nodes {
			for _, p := range s.Nodes[i].Pods {
				if key := planning.KeyOf(p); slices.Contains(gang.Members, key) && podrules.Active(p) {
					on[s.Nodes[i].Name] = append(on[s.Nodes[i].Name], key)
				}
			}
		}
		for _, cmd := range commands {
			removed, homeless := 0, 0
			at := placesOf(s, cmd)
			domains := map[string]bool{}
			for node, pods := range on {
				if !slices.ContainsFunc(cmd.Members, func(m disruption.Member) bool { return m.Node == node }) {
					continue
				}
				removed++
				for _, key := range pods {
					if labels, ok := at[key]; ok {
						domains[domainOf(gang, labels)] = true
					} else {
						homeless++
					}
				}
			}
			switch {
			case removed == 0:
			case removed < len(on):
				out = append(out, fmt.Sprintf("%s removes %d of %d nodes of gang %s", cmd, removed, len(on), gang.Key()))
			case homeless > 0:
				out = append(out, fmt.Sprintf("%s has no place for %d members of gang %s", cmd, homeless, gang.Key()))
			case len(domains) > 1 || domains["?"]:
				out = append(out, fmt.Sprintf("%s puts gang %s in the domains %v", cmd, gang.Key(), domains))
			}
		}
	}
	return out
}

// placesOf are the labels of the nodes that the command puts pods on. A label of a new node is one that it is sure to have.
func placesOf(s *scheduling.Snapshot, cmd *disruption.Command) map[scheduling.PodKey]map[string]string {
	out := map[scheduling.PodKey]map[string]string{}
	for _, r := range cmd.Receivers {
		for i := range s.Nodes {
			if s.Nodes[i].Name == r.Name {
				for _, key := range r.Pods {
					out[key] = s.Nodes[i].Object.Labels
				}
			}
		}
	}
	for _, r := range cmd.Replacements {
		labels := map[string]string{}
		for _, key := range []string{corev1.LabelTopologyZone} {
			if want := r.Node.Requirements.Get(key); r.Node.Requirements.Has(key) && !want.Complement() && len(want.Values()) == 1 {
				labels[key] = want.Values()[0]
			}
		}
		for _, key := range r.Node.Pods {
			out[key] = labels
		}
	}
	return out
}

// domainOf is the domain that the gang requires of a node with the labels; "?" for none.
func domainOf(gang *scheduling.Gang, labels map[string]string) string {
	var values []string
	for _, t := range gang.Topology {
		if t.Policy != planning.GangTopologyPreferred {
			if labels[t.Key] == "" {
				return "?"
			}
			values = append(values, labels[t.Key])
		}
	}
	return strings.Join(values, ",")
}

// No command of either planner tears a gang apart, plans are the same each time, and whole gangs do move.
func TestNoPlanTearsGangsApart(t *testing.T) {
	moved := 0
	seeded.Check(t, func(rt *rapid.T) {
		w := drawnWorld(rt)
		drawnGangs(rt, w)
		f := w.fleet(t)
		for _, p := range []disruption.Planner{&disruption.Reference{}, drawnPlanner(rt)} {
			plan, err := p.Plan(t.Context(), f)
			if err != nil {
				rt.Fatal(err)
			}
			for _, why := range torn(w.snapshot, plan.Commands) {
				rt.Errorf("%T: %s", p, why)
			}
			if again, err := p.Plan(t.Context(), f); err != nil || encoded(rt, again) != encoded(rt, plan) {
				rt.Errorf("%T: another plan of the same fleet: %v", p, err)
			}
			for _, cmd := range plan.Commands {
				if len(cmd.Members) > 1 && len(w.snapshot.Gangs) > 0 {
					moved += len(torn(&scheduling.Snapshot{Nodes: w.snapshot.Nodes, Gangs: w.snapshot.Gangs}, halves(cmd)))
				}
			}
		}
	})
	if moved < 5 {
		t.Errorf("%d gangs moved: nothing was shown", moved)
	}
}

// halves are commands for single nodes of the command, each of which tears its gangs apart.
func halves(cmd *disruption.Command) (out []*disruption.Command) {
	for _, m := range cmd.Members {
		one := *cmd
		one.Members = []disruption.Member{m}
		out = append(out, &one)
	}
	return out
}
