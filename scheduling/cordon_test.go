package scheduling_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
)

// unchecked plans a snapshot that the independent validator does not see through.
func unchecked(t *testing.T, s *scheduling.Snapshot) *scheduling.Plan {
	t.Helper()
	m, err := scheduling.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Solve(t.Context(), scheduling.Query{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A cordon keeps pods away by spec.unschedulable: its taint may be a moment behind, as the node lifecycle controller is.
func TestCordonBeforeItsTaint(t *testing.T) {
	tolerant := tolerates(toleration(corev1.TaintNodeUnschedulable, corev1.TolerationOpExists, "", corev1.TaintEffectNoSchedule))
	for _, c := range []struct {
		name string
		node scheduling.Node
		pod  *corev1.Pod
		want string
	}{
		{"no taint yet", node("n", cordoned), pod("p", requests("cpu=1")), "nowhere"},
		{"tainted", node("n", cordoned, nodeTaints(corev1.TaintNodeUnschedulable+"=:NoSchedule")), pod("p", requests("cpu=1")), "nowhere"},
		{"tolerated", node("n", cordoned), pod("p", requests("cpu=1"), tolerant), "on n"},
		{"not cordoned", node("n"), pod("p", requests("cpu=1")), "on n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantPlace(t, solve(t, cluster(nodePool("none", catalogOf("")), c.node, c.pod)), "p", c.want)
		})
	}
}

// SCH-154: pods of DaemonSets come to cordoned nodes as well, by what their controller adds to them, so their room is
// kept from pods that tolerate the cordon.
func TestDaemonSetsComeToCordonedMachines(t *testing.T) {
	anyTaint := tolerates(toleration("", corev1.TolerationOpExists, "", ""))
	set := daemonSet("d", []string{"cpu=1"})
	for cpu, want := range map[string]string{"cpu=3": "on n", "cpu=3001m": "nowhere"} {
		p := unchecked(t, cluster(nodePool("none", catalogOf("")), set, node("n", cordoned), pod("p", requests(cpu), anyTaint)))
		wantPlace(t, p, "p", want)
	}
}

// SCH-163: the claim of a reserved node names the reservation that the plan counts it against, and no other.
func TestClaimNamesItsReservation(t *testing.T) {
	const key = "example.com/reservation"
	small := sold(typeOf("small", 0.2, "cpu=4", "memory=16Gi"), reservedOffering("a", "used-up", 1), reservedOffering("a", "open", 2))
	large := sold(typeOf("large", 0.9, "cpu=16", "memory=64Gi"), reservedOffering("a", "used-up", 0))
	p := solve(t, cluster(nodePool("default"), small, large, pod("p", requests("cpu=3")), pod("q", requests("cpu=3"))))
	for _, name := range []string{"p", "q"} {
		n := newNodeOf(t, p, name)
		if got := n.Requirements.Get(key); !got.Equal(requirements.In(key, "open")) {
			t.Errorf("the claim of pod %s asks for %s, want In [open]", name, got)
		}
		if got := n.Requirements.Get(v1.CapacityTypeLabelKey); !got.Equal(requirements.In(v1.CapacityTypeLabelKey, v1.CapacityTypeReserved)) {
			t.Errorf("the claim of pod %s asks for capacity type %s", name, got)
		}
	}
}

// SCH-041: types that would take more from the pool's limits than the planned one are not offered, so that minValues
// doesn't count them either.
func TestMinValuesCountOnlyTypesWithinLimits(t *testing.T) {
	two := 2
	varied := func(np *scheduling.NodePool) {
		np.Object.Spec.Template.Spec.Requirements = append(np.Object.Spec.Template.Spec.Requirements,
			v1.NodeSelectorRequirementWithMinValues{Key: typeKey, Operator: opExists, MinValues: &two})
	}
	for _, c := range []struct {
		name string
		pool scheduling.NodePool
		want string
	}{
		{"no limit", nodePool("default", varied), "new small/a/spot"},
		{"limit that only the small one keeps", nodePool("default", varied, limit("cpu=4")), "nowhere"},
	} {
		t.Run(c.name, func(t *testing.T) {
			small := sold(typeOf("small", 0.2, "cpu=4", "memory=16Gi"), offering("a", v1.CapacityTypeSpot, 0.2))
			large := sold(typeOf("large", 0.9, "cpu=16", "memory=64Gi"), offering("a", v1.CapacityTypeSpot, 0.9))
			p := unchecked(t, cluster(c.pool, small, large, pod("p", requests("cpu=3"))))
			wantPlace(t, p, "p", c.want)
		})
	}
}
