package scheduling_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/scheduling"
)

// The domain that a gang is placed in narrows where its pods may go, and not which domains their spreads count: kube-scheduler reads those
// from the pod as it is.
func TestGangDomainsLeaveSpreadsAlone(t *testing.T) {
	workers := func(options ...podOption) []*corev1.Pod {
		return pods("g", 3, append([]podOption{requests("cpu=1"), podLabel("app", "w")}, options...)...)
	}
	taints := func(c *corev1.TopologySpreadConstraint) {
		honor := corev1.NodeInclusionPolicyHonor
		c.NodeTaintsPolicy = &honor
	}
	spread := func(change func(*corev1.TopologySpreadConstraint)) podOption {
		return func(p *corev1.Pod) {
			c := corev1.TopologySpreadConstraint{TopologyKey: zoneKey, MaxSkew: 1, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: selecting("w")}
			change(&c)
			p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, c)
		}
	}
	plain := func(*corev1.TopologySpreadConstraint) {}
	for _, c := range []struct {
		name    string
		options []podOption
		gang    func(*scheduling.Gang)
		minimum int
		// tainted says that the node in zone b, which is full, has a taint; byDefault that the rule is the cluster's.
		tainted, byDefault bool
		placed             int
	}{
		{"members beyond the minimum wait for zone b", []podOption{spread(plain)}, ratherTogether(zoneKey), 1, false, false, 1},
		{"a minimum that a spread keeps apart has no place", []podOption{spread(plain)}, together(zoneKey), 2, false, false, 0},
		{"a zone whose taints count is none", []podOption{spread(taints)}, ratherTogether(zoneKey), 1, true, false, 3},
		{"pods that select nodes of both zones", []podOption{spread(plain), selector("kubernetes.io/os=linux")}, ratherTogether(zoneKey), 1, false, false, 1},
		{"pods that require nodes of both zones", []podOption{spread(plain), required(in(zoneKey, "a", "b"))}, together(zoneKey), 2, false, false, 0},
		{"pods that select zone a count no other", []podOption{spread(plain), selector(zoneKey + "=a")}, together(zoneKey), 2, false, false, 3},
		{"a default of the cluster", nil, together(zoneKey), 2, false, true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			list := workers(c.options...)
			s := cluster(nothingNew(), list, node("a"))
			b := node("b", inZone("b"), allocatable("cpu=500m", "memory=4Gi"))
			if c.tainted {
				b.Object.Spec.Taints = []corev1.Taint{{Key: "x", Effect: corev1.TaintEffectNoSchedule}}
			}
			s.Nodes = append(s.Nodes, b)
			if c.byDefault {
				service := &corev1.Service{Spec: corev1.ServiceSpec{Selector: labelsOf("app", "w")}}
				service.Namespace, service.Name = "default", "w"
				s.Services, s.DefaultTopologySpread = []*corev1.Service{service}, []corev1.TopologySpreadConstraint{defaultConstraint(zoneKey, 1)}
			}
			withGangs(s, gangOf("g", list, c.gang, minimum(c.minimum)))
			p := solve(t, s)
			if got := p.Gangs[0].Placed; got != c.placed {
				t.Errorf("%d members are placed, want %d: %s", got, c.placed, p.Gangs[0].String())
			}
		})
	}
}
