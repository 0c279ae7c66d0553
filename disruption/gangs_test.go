package disruption_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// gangWorld has a gang on two nodes and one on a third.
func gangWorld(change func(wide, small *scheduling.Gang)) *world {
	w := newWorld()
	w.node("n0", "c4", holding(pod("wide-0")))
	w.node("n1", "c4", holding(pod("wide-1")), drifted(time.Hour), grace(time.Hour))
	w.node("n2", "c4", holding(pod("small-0"), pod("small-1")))
	gang := func(name string) scheduling.Gang {
		g := scheduling.Gang{Namespace: "default", Name: name}
		for _, i := range []string{"0", "1"} {
			g.Members = append(g.Members, scheduling.PodKey{Namespace: "default", Name: name + "-" + i})
		}
		return g
	}
	w.snapshot.Gangs = []scheduling.Gang{gang("wide"), gang("small")}
	if change != nil {
		change(&w.snapshot.Gangs[0], &w.snapshot.Gangs[1])
	}
	return w
}

// No member is moved without the others: the nodes of a gang on several stay, that of a gang on one may go, unless its pods have to be in
// one domain, which a plan for pods one by one would not see to. Members of a PodGroup that says so are moved like any pods. A grace period
// makes drift go on all the same, as with other pods that must not be disrupted.
func TestGangsAreMovedWhole(t *testing.T) {
	const keeps = disruption.BlockGang
	for name, tt := range map[string]struct {
		change func(wide, small *scheduling.Gang)
		want   [3]disruption.BlockCode
	}{
		"as a whole": {nil, [3]disruption.BlockCode{keeps, keeps, ""}},
		"one by one": {func(wide, _ *scheduling.Gang) { wide.DisruptionMode = planning.GangDisruptedSingly }, [3]disruption.BlockCode{}},
		"required domain": {func(_, small *scheduling.Gang) {
			small.Topology = []scheduling.GangTopology{{Key: corev1.LabelTopologyZone}}
		},
			[3]disruption.BlockCode{keeps, keeps, keeps}},
		"preferred domain": {func(_, small *scheduling.Gang) {
			small.Topology = []scheduling.GangTopology{{Key: corev1.LabelTopologyZone, Policy: scheduling.GangTopologyPreferred}}
		}, [3]disruption.BlockCode{keeps, keeps, ""}},
	} {
		f := gangWorld(tt.change).fleet(t)
		got := [3]disruption.BlockCode{blocked(f, disruption.MethodSingleNode, "n0"), blocked(f, disruption.MethodSingleNode, "n1"), blocked(f, disruption.MethodSingleNode, "n2")}
		if got != tt.want {
			t.Errorf("%s: blocks %q, want %q", name, got, tt.want)
		}
		if drift := blocked(f, disruption.MethodDrift, "n1"); drift != "" {
			t.Errorf("%s: drift of a node with a grace period is blocked by %q", name, drift)
		}
	}
	why := gangWorld(nil).fleet(t).Blocked["n0"]
	if why == nil || !strings.Contains(why.String(), "pod default/wide-0 is a member of gang default/wide, which runs on 2 nodes") {
		t.Errorf("the block says %q", why)
	}
}
