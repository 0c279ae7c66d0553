package scheduling_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/scheduling"
)

// SCH-063, SCH-065, SCH-074, SCH-081: preferred node affinity is kept where it can be, and never costs a pod its place.
func TestPreferencesOnNewMachines(t *testing.T) {
	for _, c := range []struct {
		name    string
		options []podOption
		want    string
	}{
		{"kept", []podOption{preferred(1, in(zoneKey, "b"))}, "new small/b/spot"},
		{"kept at a price", []podOption{preferred(1, in(capacityKey, "on-demand"))}, "new small/a/on-demand"},
		{"given up when there is none", []podOption{preferred(1, in(zoneKey, "z"))}, "new small/a/spot"},
		{"given up when none is large enough", []podOption{requests("cpu=7"), preferred(1, in(typeKey, "small"))}, "new large/a/spot"},
		{"given up when required affinity contradicts it", []podOption{required(in(zoneKey, "a")), preferred(1, in(zoneKey, "b"))}, "new small/a/spot"},
		{"the heavier of two that exclude each other", []podOption{preferred(1, in(zoneKey, "a")), preferred(9, in(zoneKey, "b"))}, "new small/b/spot"},
		{"two that go together", []podOption{preferred(1, in(zoneKey, "b")), preferred(9, in(typeKey, "medium"))}, "new medium/b/spot"},
		{"a lighter one when the heavier is impossible", []podOption{preferred(9, in(zoneKey, "z")), preferred(1, in(zoneKey, "b"))}, "new small/b/spot"},
		{"a lighter one when the heavier is too small", []podOption{requests("cpu=7"), preferred(9, in(typeKey, "small")), preferred(1, in(zoneKey, "b"))}, "new large/b/spot"},
		{"OPP-1 the first alternative although the second and the preference are impossible",
			[]podOption{required(in(zoneKey, "a")), required(in(zoneKey, "z")), preferred(1, in(archKey, "sparc"))}, "new small/a/spot"},
		{"the alternative that meets the preference", []podOption{required(in(zoneKey, "a")), required(in(zoneKey, "b")), preferred(1, in(zoneKey, "b"))}, "new small/b/spot"},
		{"an empty preference says nothing", []podOption{preferred(9), preferred(1, in(zoneKey, "b"))}, "new small/b/spot"},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantPlace(t, solve(t, cluster(pod("p", c.options...))), "p", c.want)
		})
	}
}

// SCH-074: a preference that only a lighter pool can meet is worth more than the pool's weight.
func TestPreferenceBeatsWeight(t *testing.T) {
	p := solve(t, cluster(nodePool("heavy", weight(50), poolNeeds(zoneKey, opIn, "a")), nodePool("light", poolNeeds(zoneKey, opIn, "b")),
		pod("p", preferred(1, in(zoneKey, "b")))))
	if got := newNodeOf(t, p, "p").Pool.Name; got != "light" {
		t.Errorf("pool %s, want light", got)
	}
}

// SCH-171, SCH-074: limits that leave no room for the preferred node don't leave the pod without one.
func TestPreferenceGivenUpForLimits(t *testing.T) {
	p := solve(t, cluster(nodePool("b", limit("cpu=2"), poolNeeds(zoneKey, opIn, "b")), nodePool("a", poolNeeds(zoneKey, opIn, "a")),
		pods("p", 3, requests("cpu=1500m"), preferred(1, in(zoneKey, "b")))))
	inB := 0
	for _, name := range []string{"p-0", "p-1", "p-2"} {
		if newNodeOf(t, p, name).Pool.Name == "b" {
			inB++
		}
	}
	if inB != 1 {
		t.Errorf("%d pods in zone b, want the one that its limit allows", inB)
	}
}

// SCH-063, SCH-168: among nodes of the snapshot with room, one that meets the preference is taken.
func TestPreferencesOnExistingMachines(t *testing.T) {
	for _, c := range []struct {
		name         string
		roomA, roomB string
	}{
		{"the preferred node has more room", "cpu=4", "cpu=8"},
		{"the preferred node has less room", "cpu=8", "cpu=4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := solve(t, cluster(node("a", allocatable(c.roomA, "memory=16Gi")), node("b", allocatable(c.roomB, "memory=16Gi"), nodeLabel(zoneKey, "b")),
				pod("p", preferred(1, in(zoneKey, "b")))))
			wantPlace(t, p, "p", "on b")
		})
	}
	t.Run("without one any node with room will do", func(t *testing.T) {
		p := solve(t, cluster(nodePool("none", catalogOf("")), node("a"), pod("p", preferred(1, in(zoneKey, "b")))))
		wantPlace(t, p, "p", "on a")
	})
	t.Run("a PreferNoSchedule taint is avoided", func(t *testing.T) {
		p := solve(t, cluster(node("a", nodeTaints("busy=:PreferNoSchedule")), node("b"), pod("p")))
		wantPlace(t, p, "p", "on b")
	})
}

// SCH-065: with preferences ignored pods have none, so that none is said to be given up; what nodes wish for is.
func TestIgnoredPreferencesAreNotRelaxed(t *testing.T) {
	wishful := func(p *corev1.Pod) {
		preferred(1, in(zoneKey, "z"))(p)
		labelled("w")(p)
		spreadBy(corev1.LabelHostname, 1, "w")(p)
		soft(p)
		p.Spec.Affinity.PodAntiAffinity = &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{
			{Weight: 1, PodAffinityTerm: corev1.PodAffinityTerm{TopologyKey: corev1.LabelHostname, LabelSelector: selecting("w")}},
		}}
	}
	s := cluster(nothingNew(), node("n", nodeTaints("busy=:PreferNoSchedule")), node("empty", allocatable("cpu=0", "memory=0")), pods("p", 3, wishful))
	for policy, want := range map[scheduling.PreferencePolicy][]scheduling.RelaxationCode{
		scheduling.PreferencesRespect: {scheduling.RelaxedTaint, scheduling.RelaxedNodeAffinity, scheduling.RelaxedPodAntiAffinity, scheduling.RelaxedSpread},
		scheduling.PreferencesIgnore:  {scheduling.RelaxedTaint},
	} {
		var got []scheduling.RelaxationCode
		for _, r := range solveQuery(t, s, scheduling.Query{Preferences: policy}).Relaxations {
			got = append(got, r.Code)
		}
		if len(got) != len(want) {
			t.Errorf("%s: relaxed %v, want %v", policy, got, want)
		}
	}
}
