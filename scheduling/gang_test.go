package scheduling_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/scheduling"
)

// gangOf is a gang of the pods in the namespace "default", all of which it needs.
func gangOf(name string, list []*corev1.Pod, options ...func(*scheduling.Gang)) scheduling.Gang {
	g := scheduling.Gang{Namespace: "default", Name: name}
	for _, pod := range list {
		g.Members = append(g.Members, scheduling.PodKey{Namespace: pod.Namespace, Name: pod.Name})
	}
	for _, o := range options {
		o(&g)
	}
	return g
}

func minimum(n int) func(*scheduling.Gang) { return func(g *scheduling.Gang) { g.Minimum = n } }

func together(keys ...string) func(*scheduling.Gang) {
	return func(g *scheduling.Gang) {
		for _, key := range keys {
			g.Topology = append(g.Topology, scheduling.GangTopology{Key: key})
		}
	}
}

func ratherTogether(key string) func(*scheduling.Gang) {
	return func(g *scheduling.Gang) {
		g.Topology = append(g.Topology, scheduling.GangTopology{Key: key, Policy: scheduling.GangTopologyPreferred})
	}
}

// withGangs is the snapshot with gangs.
func withGangs(s *scheduling.Snapshot, list ...scheduling.Gang) *scheduling.Snapshot {
	s.Gangs = list
	return s
}

func TestGangs(t *testing.T) {
	four := func() []*corev1.Pod { return pods("g", 4, requests("cpu=3", "memory=1Gi")) } // one on a medium node
	priority := func(p int32) podOption { return func(pod *corev1.Pod) { pod.Spec.Priority = &p } }
	for _, c := range []struct {
		name string
		s    func() *scheduling.Snapshot
		// want has the sentence about each gang.
		want []string
		// nodes is how many are launched.
		nodes int
	}{
		{"whole", func() *scheduling.Snapshot {
			list := four()
			return withGangs(cluster(list), gangOf("g", list))
		}, []string{"gang default/g is placed with 4 of 4 members"}, 4},
		{"a limit leaves room for two of four: nothing is launched", func() *scheduling.Snapshot {
			list := four()
			return withGangs(cluster(list, nodePool("p", limit("cpu=8"))), gangOf("g", list))
		}, []string{`gang default/g has no place: 2 of 4 members fit; pod default/g-2: incompatible with nodepool "p", all instance types that would fit exceed the nodepool's limits (in use: cpu 8 of 8); it would fit if limit cpu were raised by 8 in nodepool "p"`}, 0},
		{"the minimum is enough, and more are placed as there is room", func() *scheduling.Snapshot {
			list := four()
			return withGangs(cluster(list, nodePool("p", limit("cpu=12"))), gangOf("g", list, minimum(2)))
		}, []string{"gang default/g is placed with 3 of 4 members"}, 3},
		{"in one zone, where nodes have room", func() *scheduling.Snapshot {
			list := four()
			s := cluster(list)
			for i := range 4 {
				s.Nodes = append(s.Nodes, node(fmt.Sprintf("a-%d", i)), node(fmt.Sprintf("b-%d", i), nodeLabel(zoneKey, "b")))
			}
			s.Nodes = s.Nodes[1:]
			return withGangs(s, gangOf("g", list, together(zoneKey)))
		}, []string{"gang default/g is placed with 4 of 4 members in topology.kubernetes.io/zone=b"}, 0},
		{"three nodes in each zone hold no gang of four, but together", func() *scheduling.Snapshot {
			list := four()
			s := cluster(list, nodePool("p", limit("cpu=0")))
			for i := range 3 {
				s.Nodes = append(s.Nodes, node(fmt.Sprintf("a-%d", i)), node(fmt.Sprintf("b-%d", i), nodeLabel(zoneKey, "b")))
			}
			return withGangs(s, gangOf("g", list, together(zoneKey)))
		}, []string{"3 of 4 members fit in topology.kubernetes.io/zone=a, the closest of 2 domains"}, 0},
		{"rather in one zone than not", func() *scheduling.Snapshot {
			list := four()
			s := cluster(list, nodePool("p", limit("cpu=0")))
			for i := range 3 {
				s.Nodes = append(s.Nodes, node(fmt.Sprintf("a-%d", i)), node(fmt.Sprintf("b-%d", i), nodeLabel(zoneKey, "b")))
			}
			return withGangs(s, gangOf("g", list, ratherTogether(zoneKey)))
		}, []string{"gang default/g is placed with 4 of 4 members"}, 0},
		{"racks within zones", func() *scheduling.Snapshot {
			list := four()
			s := cluster(list, nodePool("p", limit("cpu=0")))
			for i := range 8 {
				s.Nodes = append(s.Nodes, node(fmt.Sprintf("n-%d", i), nodeLabel(zoneKey, string("ab"[i/4])), nodeLabel("rack", fmt.Sprint(i/4*(1+i%2)))))
			}
			return withGangs(s, gangOf("g", list, together(zoneKey), ratherTogether("rack")))
		}, []string{"gang default/g is placed with 4 of 4 members in topology.kubernetes.io/zone=a, rack=0"}, 0},
		{"bound members count, and say where", func() *scheduling.Snapshot {
			list := four()
			s := cluster(list[2:])
			s.Nodes = append(s.Nodes, node("x", nodeLabel(zoneKey, "b"), bound(list[0])), node("y", nodeLabel(zoneKey, "b"), bound(list[1])), node("z"), node("zz"))
			return withGangs(s, gangOf("g", list, together(zoneKey)))
		}, []string{"gang default/g is placed with 4 of 4 members in topology.kubernetes.io/zone=b"}, 2},
		{"members are missing", func() *scheduling.Snapshot {
			list := four()
			return withGangs(cluster(list[:3]), gangOf("g", list))
		}, []string{"gang default/g has no place: 3 of the 4 members that it needs are there"}, 0},
		{"too late", func() *scheduling.Snapshot {
			list := four()
			return withGangs(cluster(list), gangOf("g", list, func(g *scheduling.Gang) { g.Deadline = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }))
		}, []string{"its deadline has passed"}, 0},
		{"no such domain", func() *scheduling.Snapshot {
			list := four()
			return withGangs(cluster(list), gangOf("g", list, together("example.com/block")))
		}, []string{"gang default/g has no place: no node and no instance type states example.com/block, which its topology constraint needs; it would fit without the topology constraint on example.com/block"}, 0},
		{"a domain that is misspelt", func() *scheduling.Snapshot {
			list := four()
			return withGangs(cluster(list), gangOf("g", list, together("topology.kubernetes.io/zones")))
		}, []string{"states topology.kubernetes.io/zones (did you mean topology.kubernetes.io/zone?), which"}, 0},
		{"labels that no node has together", func() *scheduling.Snapshot {
			list := four()
			return withGangs(cluster(list, node("x", nodeLabel("row", "1")), node("y", nodeLabel("rack", "1"))), gangOf("g", list, together("row", "rack")))
		}, []string{"no node and no instance type states row and rack together, as its topology constraints need; it would fit without the topology constraint on row and rack"}, 0},
		{"members run in two zones", func() *scheduling.Snapshot {
			list := four()
			s := cluster(list[2:])
			s.Nodes = append(s.Nodes, node("x", bound(list[0])), node("y", nodeLabel(zoneKey, "b"), bound(list[1])))
			return withGangs(s, gangOf("g", list, together(zoneKey)))
		}, []string{"gang default/g has no place: none of 2 domains of topology.kubernetes.io/zone is open to it: members run in topology.kubernetes.io/zone=a and in topology.kubernetes.io/zone=b; it would fit without the topology constraint on topology.kubernetes.io/zone"}, 0},
		{"members select two zones", func() *scheduling.Snapshot {
			list := four()
			for i, pod := range list {
				pod.Spec.NodeSelector = map[string]string{zoneKey: string("aabb"[i])}
			}
			return withGangs(cluster(list), gangOf("g", list, together(zoneKey)))
		}, []string{"none of 2 domains of topology.kubernetes.io/zone is open to it: the node selector of pod default/g-2 excludes them, or members select different ones; it would fit without"}, 0},
		{"a member runs in one zone, and others select another", func() *scheduling.Snapshot {
			list := four()
			for _, pod := range list[1:] {
				pod.Spec.NodeSelector = map[string]string{zoneKey: "b"}
			}
			s := cluster(list[1:])
			s.Nodes = append(s.Nodes, node("x", bound(list[0])))
			return withGangs(s, gangOf("g", list, together(zoneKey)))
		}, []string{"members run in topology.kubernetes.io/zone=a, and the node selector of pod default/g-1 excludes that; it would fit without"}, 0},
		{"no rack has room for all", func() *scheduling.Snapshot {
			list := four()
			s := cluster(list)
			for i := range 5 {
				s.Nodes = append(s.Nodes, node(fmt.Sprintf("n-%d", i), nodeLabel("rack", fmt.Sprint(i/3))))
			}
			return withGangs(s, gangOf("g", list, together("rack")))
		}, []string{"3 of 4 members fit in rack=0, the closest of 2 domains, none of which has room for all; pod default/g-3: "}, 0},
		{"the higher priority gets what is scarce", func() *scheduling.Snapshot {
			first, second := four(), pods("h", 4, requests("cpu=3", "memory=1Gi"), priority(7))
			return withGangs(cluster(first, second, nodePool("p", limit("cpu=16"))), gangOf("g", first), gangOf("h", second))
		}, []string{"gang default/g has no place: 0 of 4", "gang default/h is placed with 4 of 4"}, 4},
		{"of equals the first", func() *scheduling.Snapshot {
			first, second := four(), pods("h", 4, requests("cpu=3", "memory=1Gi"))
			return withGangs(cluster(first, second, nodePool("p", limit("cpu=16"))), gangOf("h", second), gangOf("g", first))
		}, []string{"gang default/h is placed with 4 of 4", "gang default/g has no place"}, 4},
		{"a smaller one takes what a larger one can't use", func() *scheduling.Snapshot {
			first, second := pods("g", 8, requests("cpu=3", "memory=1Gi"), priority(7)), pods("h", 2, requests("cpu=3", "memory=1Gi"))
			return withGangs(cluster(first, second, nodePool("p", limit("cpu=16"))), gangOf("g", first), gangOf("h", second))
		}, []string{"gang default/g has no place: 2 of 8", "gang default/h is placed with 2 of 2"}, 2},
		{"templates stand for pods that are yet to be made", func() *scheduling.Snapshot {
			worker := corev1.PodTemplateSpec{Spec: four()[0].Spec}
			return withGangs(cluster(), scheduling.Gang{
				Namespace: "default", Name: "g", Topology: []scheduling.GangTopology{{Key: zoneKey}},
				Templates: []scheduling.GangTemplate{{Count: 3, Template: worker}, {Name: "driver", Count: 1, Template: worker}},
			})
		}, []string{"gang default/g is placed with 4 of 4 members in topology.kubernetes.io/zone=a"}, 4},
		{"on nodes that are there alone: as many as have room", func() *scheduling.Snapshot {
			list := four()
			s := cluster(list, node("n-0"), node("n-1"), node("n-2"))
			s.NodePools = nil
			return withGangs(s, gangOf("g", list))
		}, []string{"gang default/g has no place: 3 of 4 members fit; pod default/g-3: "}, 0},
		{"the member that lacks a place is one of the gang", func() *scheduling.Snapshot {
			list, others := four(), pods("others", 1, requests("cpu=3", "memory=1Gi"))
			return withGangs(cluster(others, list, nodePool("p", limit("cpu=12"))), gangOf("g", list))
		}, []string{"2 of 4 members fit; pod default/g-2: "}, 1},
		{"where it would fit if the limit were higher", func() *scheduling.Snapshot {
			list := four()
			s := cluster(list, nodePool("p", limit("cpu=4")))
			s.Nodes = append(s.Nodes, node("a"), node("b-0", nodeLabel(zoneKey, "b")), node("b-1", nodeLabel(zoneKey, "b")))
			return withGangs(s, gangOf("g", list, together(zoneKey)))
		}, []string{"it would fit in topology.kubernetes.io/zone=b if limit cpu were raised by 4 in nodepool \"p\""}, 0},
		{"a block within a zone, as types state it", func() *scheduling.Snapshot {
			list := four()
			return withGangs(cluster(list,
				sold(with(typeOf("cheap", 0, "cpu=4", "memory=16Gi"), requirements.In("block", "1")), offering("a", "on-demand", 0.2), offering("b", "on-demand", 0.1)),
				sold(with(typeOf("dear", 0, "cpu=4", "memory=16Gi"), requirements.In("block", "2")), offering("a", "on-demand", 0.9), offering("b", "on-demand", 0.9)),
			), gangOf("g", list, together(zoneKey, "block")))
		}, []string{"gang default/g is placed with 4 of 4 members in topology.kubernetes.io/zone=b, block=1"}, 4},
		{"a more expensive block that has nodes with room may cost less", func() *scheduling.Snapshot {
			list := four()
			s := cluster(list,
				with(typeOf("cheap", 0.2, "cpu=4", "memory=16Gi"), requirements.In("block", "1")),
				with(typeOf("dear", 0.3, "cpu=4", "memory=16Gi"), requirements.In("block", "2")))
			s.Nodes = append(s.Nodes, node("x", nodeLabel("block", "2")), node("y", nodeLabel("block", "2")), node("z", nodeLabel("block", "1")))
			return withGangs(s, gangOf("g", list, together(zoneKey, "block")))
		}, []string{"gang default/g is placed with 4 of 4 members in topology.kubernetes.io/zone=a, block=2"}, 2},
		{"rather in one block, of those in one zone", func() *scheduling.Snapshot {
			list := four()
			s := cluster(list, nodePool("p", limit("cpu=0")))
			for i := range 6 { // no block has four, zone a has
				s.Nodes = append(s.Nodes, node(fmt.Sprintf("n-%d", i), nodeLabel(zoneKey, string("aaaabb"[i])), nodeLabel("block", fmt.Sprint(i/2))))
			}
			return withGangs(s, gangOf("g", list, together(zoneKey), ratherTogether("block")))
		}, []string{"gang default/g is placed with 4 of 4 members in topology.kubernetes.io/zone=a"}, 0},
		{"types say what racks there are", func() *scheduling.Snapshot {
			list := four()
			return withGangs(cluster(list,
				with(typeOf("cheap", 0.1, "cpu=4", "memory=16Gi"), requirements.In("rack", "1")),
				with(typeOf("dear", 0.9, "cpu=4", "memory=16Gi"), requirements.In("rack", "2")),
			), gangOf("g", list, together("rack")))
		}, []string{"gang default/g is placed with 4 of 4 members in rack=1"}, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := c.s()
			p := solve(t, s)
			for i, want := range c.want {
				if got := p.Gangs[i].String(); !strings.Contains(got, want) {
					t.Errorf("gang %d:\n%s\nwant\n%s", i, got, want)
				}
			}
			if len(p.NewNodes) != c.nodes {
				t.Errorf("%d new nodes, want %d", len(p.NewNodes), c.nodes)
			}
		})
	}
}

// A gang takes nothing from pods of higher priority, and one that never fits takes nothing from anyone.
func TestGangsAndOtherPods(t *testing.T) {
	high, list := int32(5), pods("g", 4, requests("cpu=3", "memory=1Gi"))
	single := pods("s", 2, requests("cpu=7", "memory=1Gi"), func(p *corev1.Pod) { p.Spec.Priority = &high })
	p := solve(t, withGangs(cluster(list, single, nodePool("p", limit("cpu=16"))), gangOf("g", list)))
	if place(p, "s-0") == "nowhere" || place(p, "s-1") == "nowhere" || p.Gangs[0].Reason == nil {
		t.Errorf("pods of higher priority wait, and the gang is placed: %+v", p.Gangs)
	}
	never := pods("g", 50, requests("cpu=3", "memory=1Gi"), func(p *corev1.Pod) { p.Spec.Priority = &high })
	others := pods("s", 2, requests("cpu=7", "memory=1Gi"))
	p = solve(t, withGangs(cluster(never, others, nodePool("p", limit("cpu=16"))), gangOf("g", never)))
	if place(p, "s-0") == "nowhere" || place(p, "s-1") == "nowhere" || len(p.Unschedulable) != 50 {
		t.Errorf("a gang that never fits keeps others out: %+v", p.Unschedulable)
	}
}

// Where pods of high priority come before a gang, those below it wait until the gang has had its turn.
func TestPodsBelowGangsWaitTheirTurn(t *testing.T) {
	priority := func(n int32) podOption { return func(p *corev1.Pod) { p.Spec.Priority = &n } }
	high := priority(5)
	single := append(pods("s", 4, requests("cpu=3", "memory=1Gi"), high), pods("t", 2, requests("cpu=1", "memory=6Gi"), high)...)
	list, low := pods("g", 2, requests("cpu=3", "memory=1Gi")), pods("low", 6, requests("cpu=500m", "memory=1Gi"), priority(-1))
	for limited := range 25 {
		p := solve(t, withGangs(cluster(list, single, low, nodePool("p", limit(fmt.Sprintf("cpu=%d", limited)))), gangOf("g", list)))
		places := map[string]bool{}
		for _, pod := range single {
			places[place(p, pod.Name)] = true
		}
		if places["nowhere"] && p.Gangs[0].Placed > 0 {
			t.Errorf("%d cores: pods of higher priority wait, and the gang is placed: %+v", limited, p.Gangs)
		}
	}
}

func TestGangsAreChecked(t *testing.T) {
	list := pods("g", 2)
	key := scheduling.PodKey{Namespace: "default", Name: "g-0"}
	for _, c := range []struct {
		name  string
		gangs []scheduling.Gang
		want  string
	}{
		{"twice", []scheduling.Gang{gangOf("g", list[:1]), gangOf("g", list[1:])}, "gangs[1] is a second gang default/g"},
		{"nameless", []scheduling.Gang{{Members: []scheduling.PodKey{key}}}, "gangs[0] has no namespace or no name"},
		{"empty", []scheduling.Gang{{Namespace: "default", Name: "g"}}, "gangs[0] has neither members nor templates"},
		{"in two", []scheduling.Gang{gangOf("g", list), gangOf("h", list[1:])}, "gangs[1].members[0] is pod default/g-1, which is a member of gang default/g"},
		{"below nothing", []scheduling.Gang{gangOf("g", list, minimum(-1))}, "gangs[0].minimum is -1"},
		{"no key", []scheduling.Gang{gangOf("g", list, together("a b"))}, `gangs[0].topology[0].key is "a b"`},
		{"a key twice", []scheduling.Gang{gangOf("g", list, together(zoneKey, zoneKey))}, "gangs[0].topology[1].key repeats"},
		{"a policy", []scheduling.Gang{gangOf("g", list, func(g *scheduling.Gang) { g.Topology = []scheduling.GangTopology{{Key: zoneKey, Policy: "Maybe"}} })}, `gangs[0].topology[0].policy is "Maybe"`},
		{"no count", []scheduling.Gang{{Namespace: "default", Name: "g", Templates: []scheduling.GangTemplate{{}}}}, "gangs[0].templates[0].count is 0"},
		{"too many", []scheduling.Gang{{Namespace: "default", Name: "g", Templates: []scheduling.GangTemplate{{Count: 1 << 30}}}}, "gangs[0].templates[0].count makes more than"},
		{"a pod that is there", []scheduling.Gang{{Namespace: "default", Name: "g", Templates: []scheduling.GangTemplate{{Count: 1}}}}, "gangs[0].templates[0] makes pod default/g-0, which is there already"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := scheduling.Compile(withGangs(cluster(list), c.gangs...))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// Each cause for which a gang that has to be in one domain has no place has a code of its own, with the counts and the closest domain.
func TestWhyNoDomainHoldsAGang(t *testing.T) {
	four := func() []*corev1.Pod { return pods("g", 4, requests("cpu=3", "memory=1Gi")) }
	apart := func(pod *corev1.Pod) {
		pod.Labels = map[string]string{"app": "apart"}
		pod.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
			{TopologyKey: zoneKey, LabelSelector: &metav1.LabelSelector{MatchLabels: pod.Labels}},
		}}}
	}
	racks := func(s *scheduling.Snapshot) *scheduling.Snapshot {
		for i := range 5 {
			s.Nodes = append(s.Nodes, node(fmt.Sprintf("n-%d", i), nodeLabel("rack", fmt.Sprint(i/3))))
		}
		return s
	}
	for _, c := range []struct {
		name string
		s    func(list []*corev1.Pod) *scheduling.Snapshot
		key  string
		want scheduling.GangReasonCode
		// known and open count domains, fit members.
		known, open, fit int
	}{
		{"nothing states the label", func(list []*corev1.Pod) *scheduling.Snapshot { return cluster(list) }, "rack", scheduling.GangNoSuchDomain, 0, 0, 0},
		{"members run in two", func(list []*corev1.Pod) *scheduling.Snapshot {
			s := cluster(list[2:])
			s.Nodes = append(s.Nodes, node("x", bound(list[0])), node("y", nodeLabel(zoneKey, "b"), bound(list[1])))
			return s
		}, zoneKey, scheduling.GangDomainsClosed, 2, 0, 2},
		{"no room", func(list []*corev1.Pod) *scheduling.Snapshot { return racks(cluster(list)) }, "rack", scheduling.GangDomainsTooSmall, 2, 2, 3},
		{"types that are too small", func(list []*corev1.Pod) *scheduling.Snapshot {
			for _, pod := range list {
				requests("cpu=3000")(pod)
			}
			return cluster(list)
		}, zoneKey, scheduling.GangDomainsTooSmall, 2, 2, 0},
		{"a limit", func(list []*corev1.Pod) *scheduling.Snapshot {
			return cluster(list, nodePool("p", limit("cpu=8")))
		}, zoneKey, scheduling.GangDomainsForbidden, 2, 2, 2},
		{"a rule between pods", func(list []*corev1.Pod) *scheduling.Snapshot {
			for _, pod := range list {
				apart(pod)
			}
			return cluster(list)
		}, zoneKey, scheduling.GangDomainsForbidden, 2, 2, 1},
		{"anywhere", func(list []*corev1.Pod) *scheduling.Snapshot {
			return cluster(list, nodePool("p", limit("cpu=8")))
		}, "", scheduling.GangDoesNotFit, 0, 0, 2},
	} {
		list := four()
		gang := gangOf("g", list)
		if c.key != "" {
			gang = gangOf("g", list, together(c.key))
		}
		p := solve(t, withGangs(c.s(list), gang))
		r := p.Gangs[0].Reason
		if r == nil {
			t.Errorf("%s: it is placed: %s", c.name, &p.Gangs[0])
			continue
		}
		if r.Code != c.want || r.Known != c.known || r.Open != c.open || r.Fit != c.fit {
			t.Errorf("%s: %s with %d of %d domains open, %d members fit: %s", c.name, r.Code, r.Open, r.Known, r.Fit, r)
		}
	}
}
