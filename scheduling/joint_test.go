package scheduling_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/planvalidator"
	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/scheduling"
)

// tinySnapshot has up to three types in three zones, two pools, two nodes and five pods that are under rules, without
// limits, reservations and minValues: few enough to try everything.
func tinySnapshot(t *rapid.T) *scheduling.Snapshot {
	s := &scheduling.Snapshot{Time: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Vocabulary: requirements.CoreVocabulary()}
	zones := []string{"a", "b", "c"}[:number(t, 1, 3)]
	alike := chance(t, 5) // prices over the zones
	var types []*cloudprovider.InstanceType
	for i := range number(t, 1, 3) {
		cpu := oneOf(t, 1, 2, 4)
		it := typeOf(fmt.Sprintf("t%d", i), 0, fmt.Sprintf("cpu=%d", cpu), "memory=8Gi")
		if chance(t, 2) {
			with(it, requirements.In(archKey, "arm64"))
		}
		it.Offerings = nil
		for rank, zone := range zones {
			if i > 0 && chance(t, 2) {
				continue
			}
			price := float64(cpu) * 0.04
			if !alike {
				price *= 1 + float64(rank)/10
			}
			for _, ct := range someOf(t, "spot", "on-demand") {
				it.Offerings = append(it.Offerings, offering(zone, ct, price))
			}
		}
		types = append(types, it)
	}
	s.Catalogs = map[string][]*cloudprovider.InstanceType{"types": types}
	for i := range number(t, 0, 5) / 2 {
		np := nodePool(fmt.Sprintf("p%d", i))
		if chance(t, 3) {
			poolNeeds(zoneKey, opIn, someOf(t, "a", "b", "c")...)(&np)
		}
		if chance(t, 1) {
			poolTaints("x=1:NoSchedule")(&np)
		}
		s.NodePools = append(s.NodePools, np)
	}
	var kinds [][]podOption
	for i := range number(t, 1, 3) {
		kinds = append(kinds, tinySpec(t, fmt.Sprintf("k%d", i)))
	}
	for i := range number(t, 0, 2) {
		n := node(fmt.Sprintf("n%d", i), allocatable("cpu="+oneOf(t, "500m", "1", "2"), "memory=8Gi"), nodeLabel(zoneKey, oneOf(t, zones...)), nodeLabel(capacityKey, "on-demand"))
		if chance(t, 2) {
			n.Object.Spec.Taints = taints("x=1:NoSchedule")
		}
		for j := range number(t, 0, 2) {
			bound(pod(fmt.Sprintf("n%d-pod-%d", i, j), append(slices.Clone(oneOf(t, kinds...)), requests("cpu=100m", "memory=64Mi"))...))(&n)
		}
		s.Nodes = append(s.Nodes, n)
	}
	for i := range number(t, 1, 5) {
		s.Pods = append(s.Pods, pod(fmt.Sprintf("w%d", i), oneOf(t, kinds...)...))
	}
	return s
}

// tinySpec is a kind of pod under up to three rules.
func tinySpec(t *rapid.T, kind string) []podOption {
	out := []podOption{requests("cpu="+oneOf(t, "200m", "500m", "900m", "1500m"), "memory=64Mi"), label("app", kind), label("group", oneOf(t, "g0", "g1"))}
	selects := func() (key, value string) {
		switch number(t, 0, 4) {
		case 0:
			return "group", "g0"
		case 1:
			return "app", "k0"
		}
		return "app", kind
	}
	term := func() corev1.PodAffinityTerm {
		return corev1.PodAffinityTerm{TopologyKey: oneOf(t, zoneKey, zoneKey, corev1.LabelHostname, capacityKey), LabelSelector: matching(selects())}
	}
	if chance(t, 4) {
		c := corev1.TopologySpreadConstraint{TopologyKey: oneOf(t, zoneKey, zoneKey, corev1.LabelHostname, capacityKey), MaxSkew: int32(number(t, 1, 2)),
			WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: matching(selects())}
		if chance(t, 3) {
			n := int32(number(t, 2, 3))
			c.MinDomains = &n
		}
		out = append(out, spreadOver(c))
	}
	if chance(t, 3) {
		out = append(out, apart(term()))
	}
	if chance(t, 3) {
		out = append(out, near(term()))
	}
	if chance(t, 2) {
		out = append(out, selector(oneOf(t, zoneKey+"=a", zoneKey+"=b", capacityKey+"=on-demand", archKey+"=arm64")))
	}
	if chance(t, 2) {
		out = append(out, preferred(1, in(zoneKey, oneOf(t, "a", "b"))))
	}
	if chance(t, 2) {
		out = append(out, tolerates(toleration("x", corev1.TolerationOpExists, "", "")))
	}
	if chance(t, 2) {
		out = append(out, priority(int32(number(t, 0, 2))))
	}
	if chance(t, 1) {
		out = append(out, func(p *corev1.Pod) {
			p.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 80}}
		})
	}
	return out
}

// Of a handful of pods without limits and reservations, no set of nodes and no order of binding places more than the
// plan: an exhaustive search, by the rules of kube-scheduler, finds none.
//
// OPP-1, OPP-9, SCH-125, SCH-126, SCH-130, SCH-131, SCH-135, SCH-141: zones at one price, minDomains, pods that keep apart,
// pods that follow each other, and preferences are among the cases.
//
//	go test ./scheduling -run TestNothingPlacesMore -rapid.checks 20000
func TestNothingPlacesMore(t *testing.T) {
	seeded.Times(t, 300, func(t *rapid.T) {
		s := tinySnapshot(t)
		p := solved(t, s)
		if better := planvalidator.Better(s, p); better != "" {
			show(t, s)
			t.Errorf("%d pods have no place, but there is a better way: %s", len(p.Unschedulable), better)
		}
	})
}
