package scheduling_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/internal/workload"
	"github.com/drawknife/drawknife/internal/workload/packers"
	"github.com/drawknife/drawknife/scheduling"
)

// Laws of what plans cost, over clusters of many shapes. Long run:
//
//	go test ./scheduling -run TestQuality -rapid.checks 2000 -rapid.seed 7

// ordinary draws a cluster of one to three families, or all, in one to six zones, whose prices grow with sizes, are scattered, or
// differ by zone.
func ordinary(t *rapid.T, rules string, pods int) *scheduling.Snapshot {
	families := workload.OrdinaryFamilies()
	switch number(t, 0, 3) {
	case 0, 1:
		families = []string{oneOf(t, families...)}
	case 2:
		families = []string{"c5", "m5", "r5"}
	}
	o := workload.Ordinary{Families: families, Rules: rules, Zones: number(t, 1, 6), Seed: uint64(number(t, 1, 1_000_000)), Pods: pods}
	s, err := o.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	scattered, byZone := chance(t, 3), chance(t, 3)
	zones := map[string]float64{}
	for name, list := range s.Catalogs {
		list = slices.Clone(list)
		for i, it := range list {
			factor := 1.0
			if scattered {
				factor = float64(number(t, 60, 140)) / 100
			}
			copied := *it
			copied.Offerings = slices.Clone(it.Offerings)
			for j := range copied.Offerings {
				zone := copied.Offerings[j].Zone()
				if byZone && zones[zone] == 0 {
					zones[zone] = float64(number(t, 80, 120)) / 100
				}
				copied.Offerings[j].Price *= factor * max(zones[zone], 0.5)
			}
			list[i] = &copied
		}
		s.Catalogs[name] = list
	}
	return s
}

// easedPods is the snapshot with each waiting pod changed in a copy.
func easedPods(s *scheduling.Snapshot, change func(*corev1.Pod)) *scheduling.Snapshot {
	o := *s
	o.Pods = make([]*corev1.Pod, len(s.Pods))
	for i, p := range s.Pods {
		o.Pods[i] = p.DeepCopy()
		change(o.Pods[i])
	}
	return &o
}

// nodeOf is a node of one of the snapshot's instance types.
func nodeOf(t *rapid.T, s *scheduling.Snapshot, name string) scheduling.Node {
	list := s.Catalogs[slices.Min(slices.Collect(maps.Keys(s.Catalogs)))]
	it := list[number(t, 0, len(list)-1)]
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
		corev1.LabelHostname: name, corev1.LabelTopologyZone: it.Offerings[number(t, 0, len(it.Offerings)-1)].Zone(), corev1.LabelArchStable: "amd64", corev1.LabelOSStable: "linux",
	}}}
	n.Status.Capacity, n.Status.Allocatable = it.Capacity, it.Allocatable()
	return scheduling.Node{Name: name, Object: n}
}

// halfFull adds 1 to 12 nodes, each with a pod that takes some of it.
func halfFull(t *rapid.T, s *scheduling.Snapshot) {
	for i := range number(t, 1, 12) {
		n := nodeOf(t, s, fmt.Sprintf("there-%02d", i))
		share := int64(number(t, 2, 9))
		cpu, memory := n.Object.Status.Allocatable.Cpu().MilliValue()*share/10, n.Object.Status.Allocatable.Memory().Value()*int64(number(t, 1, 9))/10
		bound(pod("on-"+n.Name, requests(fmt.Sprintf("cpu=%dm", cpu), fmt.Sprintf("memory=%d", memory))))(&n)
		s.Nodes = append(s.Nodes, n)
	}
}

// A plan for pods without rules costs no more than what the simple packers make of them.
func TestQualityAgainstSimplePackers(t *testing.T) {
	worst := 0.0
	seeded.Times(t, 60, func(t *rapid.T) {
		s := ordinary(t, "none", number(t, 20, 400))
		p := solved(t, s)
		problem, err := packers.Of(s)
		if err != nil {
			t.Fatal(err)
		}
		for name, simple := range map[string]packers.Packing{"vector greedy": problem.VectorGreedy(), "first fit decreasing": problem.FirstFitDecreasing()} {
			worst = max(worst, p.HourlyCost/simple.Cost)
			if p.HourlyCost > simple.Cost*(1+1e-9) {
				t.Errorf("the plan costs %v, %s makes one for %v", p.HourlyCost, name, simple.Cost)
			}
		}
	})
	t.Logf("at worst %.4f of a simple packing", worst)
}

// With fewer rules, one type, zone or empty node more, a plan costs at most what it cost before and the gap that it reports itself: on
// nodes that are half full, too, as TestEmptyMachineStaysWithinTheGap says.
func TestQualityOfEasierQuestions(t *testing.T) {
	easier := map[string]func(t *rapid.T, s *scheduling.Snapshot) *scheduling.Snapshot{
		"no spread": func(_ *rapid.T, s *scheduling.Snapshot) *scheduling.Snapshot {
			return easedPods(s, func(p *corev1.Pod) { p.Spec.TopologySpreadConstraints = nil })
		},
		"no anti-affinity": func(_ *rapid.T, s *scheduling.Snapshot) *scheduling.Snapshot {
			return easedPods(s, func(p *corev1.Pod) { p.Spec.Affinity = nil })
		},
		"a type more": func(t *rapid.T, s *scheduling.Snapshot) *scheduling.Snapshot {
			o := *s
			o.Catalogs = maps.Clone(s.Catalogs)
			for name, list := range s.Catalogs {
				extra := *list[number(t, 0, len(list)-1)]
				extra.Name = "extra"
				extra.Offerings = slices.Clone(extra.Offerings)
				for i := range extra.Offerings {
					extra.Offerings[i].Price *= float64(number(t, 70, 130)) / 100
				}
				o.Catalogs[name] = append(slices.Clone(list), &extra)
			}
			return &o
		},
		// Of pods without a spread: for those that have one a zone more may well be a domain more to fill.
		"a zone more": func(t *rapid.T, s *scheduling.Snapshot) *scheduling.Snapshot {
			o := *s
			o.Catalogs = maps.Clone(s.Catalogs)
			factor := float64(number(t, 80, 120)) / 100
			for name, list := range s.Catalogs {
				list = slices.Clone(list)
				for i, it := range list {
					copied := *it
					more := offering("zone-more", v1.CapacityTypeOnDemand, it.Offerings[0].Price*factor)
					copied.Offerings = append(slices.Clone(it.Offerings), more)
					list[i] = &copied
				}
				o.Catalogs[name] = list
			}
			return &o
		},
		"an empty node": func(t *rapid.T, s *scheduling.Snapshot) *scheduling.Snapshot {
			o := *s
			o.Nodes = append(slices.Clone(s.Nodes), nodeOf(t, s, "empty"))
			return &o
		},
	}
	for _, name := range slices.Sorted(maps.Keys(easier)) {
		t.Run(name, func(t *testing.T) {
			worst := 0.0
			seeded.Times(t, 25, func(t *rapid.T) {
				s := ordinary(t, "both", number(t, 20, 300))
				if name == "a zone more" {
					spreadless(s)
				}
				if chance(t, 5) {
					halfFull(t, s)
				}
				before := solved(t, s)
				after := solved(t, easier[name](t, s))
				if before.HourlyCost > 0 {
					worst = max(worst, after.HourlyCost/before.HourlyCost)
				}
				gap := after.HourlyCost - after.LowerBound
				if len(s.Nodes) > 0 {
					gap += worthOfMoved(s, before, after) // the bound is about the pods on new nodes
				}
				if after.HourlyCost > before.HourlyCost+gap+1e-9 {
					t.Errorf("costs %v with a gap of %v, %v before", after.HourlyCost, gap, before.HourlyCost)
				}
			})
			t.Logf("at worst %.4f of before", worst)
		})
	}
}

// A lone pod costs the same with a spread over zones as without: it is the first of its kind in any of them.
func TestQualityOfOneSpreadPod(t *testing.T) {
	seeded.Times(t, 200, func(t *rapid.T) {
		s := ordinary(t, "none", 20)
		s.Pods = s.Pods[:1]
		key := oneOf(t, corev1.LabelTopologyZone, corev1.LabelHostname, corev1.LabelArchStable)
		spread := easedPods(s, func(p *corev1.Pod) {
			p.Labels = map[string]string{"app": "one"}
			p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
				MaxSkew: int32(number(t, 1, 2)), TopologyKey: key, WhenUnsatisfiable: corev1.DoNotSchedule,
				LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "one"}},
			}}
		})
		without, with := solved(t, s), solved(t, spread)
		if with.HourlyCost != without.HourlyCost || len(with.Unschedulable) > 0 {
			t.Errorf("costs %v, and %v spread by %s", without.HourlyCost, with.HourlyCost, key)
		}
	})
}

// More effort never costs more, and the same effort always the same.
func TestQualityOfEffort(t *testing.T) {
	seeded.Times(t, 20, func(t *rapid.T) {
		s := ordinary(t, oneOf(t, workload.OrdinaryRules()...), number(t, 50, 300))
		m, err := scheduling.Compile(s)
		if err != nil {
			t.Fatal(err)
		}
		cost := map[scheduling.Effort]float64{}
		for _, e := range []scheduling.Effort{scheduling.EffortFast, scheduling.EffortDefault, scheduling.EffortThorough} {
			p, err := m.Solve(t.Context(), scheduling.Query{Effort: e})
			if err != nil {
				t.Fatal(err)
			}
			cost[e] = p.HourlyCost
			if p.LowerBound > p.HourlyCost*(1+1e-9) {
				t.Errorf("effort %q: the bound %v is above the cost %v", e, p.LowerBound, p.HourlyCost)
			}
		}
		const slack = 1.01 // each begins another search
		if cost[scheduling.EffortThorough] > cost[scheduling.EffortDefault]*slack || cost[scheduling.EffortDefault] > cost[scheduling.EffortFast]*slack {
			t.Errorf("costs by effort: %s", fmt.Sprint(cost))
		}
	})
}
