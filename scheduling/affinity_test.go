package scheduling_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/scheduling"
)

// term changes the pod's one term of required pod affinity or anti-affinity.
func term(change func(*corev1.PodAffinityTerm)) podOption {
	return func(p *corev1.Pod) {
		if a := p.Spec.Affinity.PodAntiAffinity; a != nil {
			change(&a.RequiredDuringSchedulingIgnoredDuringExecution[0])
			return
		}
		change(&p.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0])
	}
}

// SCH-117: whose pods a term is about, by namespace.
func TestNamespacesOfTerms(t *testing.T) {
	list := func(names ...string) podOption { return term(func(t *corev1.PodAffinityTerm) { t.Namespaces = names }) }
	selected := func(pairs ...string) podOption {
		return term(func(t *corev1.PodAffinityTerm) {
			t.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{}}
			for i := 0; i+1 < len(pairs); i += 2 {
				t.NamespaceSelector.MatchLabels[pairs[i]] = pairs[i+1]
			}
		})
	}
	for _, c := range []struct {
		name    string
		options []podOption
		away    map[string]bool
	}{
		{"its own", nil, map[string]bool{"default": true}},
		{"a list", []podOption{list("one", "two")}, map[string]bool{"one": true, "two": true}},
		{"a selector", []podOption{selected("team", "x")}, map[string]bool{"two": true}},
		{"a selector by the name", []podOption{selected(corev1.LabelMetadataName, "one")}, map[string]bool{"one": true}},
		{"a selector and a list", []podOption{list("one"), selected("team", "x")}, map[string]bool{"one": true, "two": true}},
		{"an empty selector", []podOption{selected()}, map[string]bool{"default": true, "one": true, "two": true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, ns := range []string{"default", "one", "two"} {
				s := cluster(nothingNew(), node("n", bound(pod("w", labelled("w"), namespace(ns)))), pod("p", append([]podOption{awayFrom(corev1.LabelHostname, "w")}, c.options...)...))
				s.Namespaces = []*corev1.Namespace{{ObjectMeta: metav1.ObjectMeta{Name: "two", Labels: map[string]string{"team": "x"}}}}
				want := "on n"
				if c.away[ns] {
					want = "nowhere"
				}
				if got := place(solveQuery(t, s, scheduling.Query{}), "p"); got != want {
					t.Errorf("next to a pod of namespace %s: %s, want %s", ns, got, want)
				}
			}
		})
	}
}

// Where pods with affinity to others go.
func TestPodAffinity(t *testing.T) {
	db := func(name string, options ...podOption) *corev1.Pod {
		return pod(name, append(options, labelled("db"))...)
	}
	nearDB := closeTo(zoneKey, "db")
	for _, c := range []placeCase{
		{"SCH-130 where a member is", []any{nothingNew(), node("a"), node("b", inZone("b"), bound(db("db"))), pod("p", nearDB)}, map[string]string{"p": "on b"}},
		{"SCH-130 on a new node of its domain", []any{soldIn("a", "b"), node("b", inZone("b"), bound(db("db", requests("cpu=4")))), pod("p", nearDB)}, map[string]string{"p": "new b"}},
		{"SCH-130 not without a member", []any{node("a"), pod("p", nearDB)}, map[string]string{"p": "nowhere"}},
		{"SCH-130 not where the pod can't be", []any{soldIn("a", "b"), node("b", inZone("b"), bound(db("db"))), pod("p", nearDB, selector(zoneKey+"=a"))}, map[string]string{"p": "nowhere"}},
		{"SCH-130 with a member of the same pass", []any{soldIn("a", "b"), pod("a-pod", nearDB, requests("cpu=3")), db("z-db", requests("cpu=3"), selector(zoneKey+"=b"))}, map[string]string{"z-db": "new b", "a-pod": "new b"}},
		{"SCH-130 the first that selects itself", []any{soldIn("b"), db("p", nearDB)}, map[string]string{"p": "new b"}},
		{"SCH-130 also on a node there is", []any{nothingNew(), node("a"), db("p", nearDB)}, map[string]string{"p": "on a"}},
		{"SCH-130 not while members are where it can't be, as in kube-scheduler", []any{soldIn("a"), node("b", inZone("b"), bound(db("db", requests("cpu=4")))), db("p", nearDB)}, map[string]string{"p": "nowhere"}},
		{"SCH-130 not without the label", []any{nothingNew(), node("n", unlabelled(zoneKey), bound(db("db"))), pod("p", nearDB)}, map[string]string{"p": "nowhere"}},
	} {
		t.Run(c.name, c.check)
	}
}

// SCH-131: the first of pods that must be together decides their domain for all, in every run.
func TestPodAffinityPinsOneDomain(t *testing.T) {
	for range 3 {
		p := solveQuery(t, cluster(soldIn("a", "b", "c"), pods("p", 4, labelled("w"), closeTo(zoneKey, "w"), requests("cpu=4"))), scheduling.Query{})
		if zones := zonesOf(p); len(p.NewNodes) != 4 || len(zones) != 1 || zones["a"] != 4 {
			t.Errorf("pods by zone %v on %d nodes, want all 4 in zone a", zones, len(p.NewNodes))
		}
		for i := range p.NewNodes {
			if got := p.NewNodes[i].Requirements.Get(zoneKey).Values(); len(got) != 1 {
				t.Errorf("%s may be in %v, want one zone", p.NewNodes[i].Name, got)
			}
		}
	}
}

// Where pods go that keep away from others, or that others keep away from.
func TestPodAntiAffinity(t *testing.T) {
	w := func(name string, options ...podOption) *corev1.Pod {
		return pod(name, append(options, labelled("w"))...)
	}
	away := awayFrom(zoneKey, "w")
	softly := func(p *corev1.Pod) {
		p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{
			{Weight: 100, PodAffinityTerm: corev1.PodAffinityTerm{TopologyKey: zoneKey, LabelSelector: selecting("w")}},
		}}}
	}
	for _, c := range []placeCase{
		{"SCH-135 where no member is", []any{nothingNew(), node("a", bound(w("w1"))), node("a2"), node("b", inZone("b")), pod("p", away)}, map[string]string{"p": "on b"}},
		{"SCH-135 nowhere else", []any{soldIn("a"), node("a", bound(w("w1"))), pod("p", away)}, map[string]string{"p": "nowhere"}},
		{"SCH-135 by node", []any{nothingNew(), node("a", bound(w("w1"))), node("a2"), pod("p", awayFrom(corev1.LabelHostname, "w"))}, map[string]string{"p": "on a2"}},
		{"SCH-121 by node, without the label of its name", []any{nothingNew(), node("a", unlabelled(corev1.LabelHostname), bound(w("w1"))), pod("p", awayFrom(corev1.LabelHostname, "w"))}, map[string]string{"p": "nowhere"}},
		{"SCH-121 a terminating member counts until it is gone", []any{nothingNew(), node("a", bound(w("w1", terminating))), pod("p", away)}, map[string]string{"p": "nowhere"}},
		{"SCH-136 where no bound pod keeps away from it", []any{nothingNew(), node("a", bound(pod("owner", away))), node("b", inZone("b")), w("p")}, map[string]string{"p": "on b"}},
		{"SCH-136 nor one of the same pass", []any{soldIn("a", "b"), pod("owner", away, selector(zoneKey+"=a")), w("p")}, map[string]string{"owner": "new a", "p": "new b"}},
		{"SCH-136 other pods don't mind", []any{nothingNew(), node("a", bound(pod("owner", away))), pod("p", labelled("v"))}, map[string]string{"p": "on a"}},
		{"SCH-136 a preference keeps nobody away", []any{nothingNew(), node("a", bound(pod("owner", softly))), w("p")}, map[string]string{"p": "on a"}},
		{"SCH-137 domains that only nodes without a pool have are open", []any{nothingNew(), node("a", bound(pod("owner", away))), node("lab", inZone("basement")), w("p")}, map[string]string{"p": "on lab"}},
		{"SCH-137 and closed by pods there", []any{nothingNew(), node("lab", inZone("basement"), bound(pod("owner", away))), w("p")}, map[string]string{"p": "nowhere"}},
		{"SCH-140 a pod counts for rules that it does not state", []any{soldIn("a", "b"), w("plain", selector(zoneKey+"=a")), pod("p", away)}, map[string]string{"plain": "new a", "p": "new b"}},
		{"SCH-140 also on nodes that none of its own rules is about", []any{soldIn("a", "b"), w("spread", spreadBy(corev1.LabelHostname, 1, "w"), selector(zoneKey+"=a")), pod("p", away)}, map[string]string{"p": "new b"}},
	} {
		t.Run(c.name, c.check)
	}
}

// SCH-122, SCH-135: each new node is a domain of its own.
func TestPodAntiAffinityOverMachines(t *testing.T) {
	p := solveQuery(t, cluster(soldIn("a"), node("n"), pods("p", 4, labelled("w"), awayFrom(corev1.LabelHostname, "w"), requests("cpu=100m"))), scheduling.Query{})
	if len(p.Existing) != 1 || len(p.Existing[0].Pods) != 1 || len(p.NewNodes) != 3 || len(p.Unschedulable) != 0 {
		t.Errorf("%v and %d new nodes, want one pod on n and three nodes", p.Existing, len(p.NewNodes))
	}
}

// SCH-141: pods that exclude each other get their zones in one pass, as many as there are zones.
func TestPodAntiAffinityOverZonesInOnePass(t *testing.T) {
	p := solveQuery(t, cluster(soldIn("a", "b", "c"), pods("p", 4, labelled("w"), awayFrom(zoneKey, "w"))), scheduling.Query{})
	if zones := zonesOf(p); len(zones) != 3 || len(p.Unschedulable) != 1 {
		t.Errorf("zones %v and %d pods without a place; want a pod in each zone and one left over", zones, len(p.Unschedulable))
	}
	for i := range p.NewNodes {
		if got := p.NewNodes[i].Requirements.Get(zoneKey).Values(); len(got) != 1 {
			t.Errorf("%s may be in %v, want one zone", p.NewNodes[i].Name, got)
		}
	}
}
