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
// whose members some wait has none.
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
			got = append(got, way.Domains[0].Value)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: ways to %q, want %q", name, got, tt.want)
		}
	}
}
