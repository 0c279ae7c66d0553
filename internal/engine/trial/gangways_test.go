package trial_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/trial"
	"github.com/drawknife/drawknife/internal/parts"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// A gang that runs can be moved to each zone, its own first, unless its pods ask for one; one that may be anywhere needs no way, and one of
// whose members some wait has none. Ways that keep preferences come last.
func TestWaysOfGangs(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(s *scheduling.Snapshot)
		want   []string
	}{
		"any zone": {func(*scheduling.Snapshot) {}, []string{"b", "a"}},
		"pods that ask for a zone": {func(s *scheduling.Snapshot) {
			s.Nodes[0].Pods[0].Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: "b"}
		}, []string{"b"}},
		"anywhere":         {func(s *scheduling.Snapshot) { s.Gangs[0].Topology = nil }, []string{""}},
		"moved one by one": {func(s *scheduling.Snapshot) { s.Gangs[0].DisruptionMode = planning.GangDisruptedSingly }, nil},
		"a preferred zone": {func(s *scheduling.Snapshot) { s.Gangs[0].Topology[0].Policy = scheduling.GangTopologyPreferred }, []string{"", "b", "a"}},
		"a zone, and a preferred node": {func(s *scheduling.Snapshot) {
			s.Gangs[0].Topology = append(s.Gangs[0].Topology, scheduling.GangTopology{Key: "rack", Policy: scheduling.GangTopologyPreferred})
			for i := range s.Nodes {
				s.Nodes[i].Object.Labels["rack"] = []string{"r1", "r2"}[i]
			}
		}, []string{"b", "a", "b r1", "a r2"}},
		"a preferred zone of a gang with a parent": {func(s *scheduling.Snapshot) {
			s.Gangs[0].Topology[0].Policy, s.Gangs[0].Parent = scheduling.GangTopologyPreferred, "all"
		}, []string{"", "b", "a"}},
		"a member that waits": {func(s *scheduling.Snapshot) {
			s.Gangs[0].Members = append(s.Gangs[0].Members, planning.KeyOf(s.Pods[0]))
		}, nil},
	} {
		s := parts.Cluster(parts.Pod("w"), parts.Node("n", parts.InZone("b"), parts.Bound(parts.Pod("p"), parts.Pod("q"))), parts.Node("m", parts.InZone("a")))
		s.Gangs = []scheduling.Gang{{Namespace: s.Pods[0].Namespace, Name: "g", Topology: []scheduling.GangTopology{{Key: corev1.LabelTopologyZone}}}}
		for _, pod := range s.Nodes[0].Pods {
			s.Gangs[0].Members = append(s.Gangs[0].Members, planning.KeyOf(pod))
		}
		tt.change(s)
		m := parts.Compile(t, s).Engine()
		var got []string
		for _, way := range trial.WaysOf(m, []*planning.Gang{&s.Gangs[0]}) {
			if way == nil {
				got = append(got, "")
				continue
			}
			text := way.Domains[0].Value
			for _, d := range way.Domains[1:] {
				text += " " + d.Value
			}
			got = append(got, text)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: ways to %q, want %q", name, got, tt.want)
		}
	}
}
