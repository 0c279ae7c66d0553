package model

import (
	"fmt"
	"testing"

	"github.com/drawknife/drawknife/scheduling/planning"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SCH-115, SCH-116: pods that state the same rule share one group, and whatever makes a difference makes two.
func TestTopologyGroups(t *testing.T) {
	// ruled is a pod with a spread constraint that changes say more of.
	ruled := func(name string, changes ...func(*corev1.Pod, *corev1.TopologySpreadConstraint)) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{"app": "w"}}}
		p.Spec.Containers = []corev1.Container{{Name: "main"}}
		p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule,
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "w"}},
		}}
		for _, change := range changes {
			change(p, &p.Spec.TopologySpreadConstraints[0])
		}
		return p
	}
	two := int32(2)
	honor, ignore := corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore
	for _, c := range []struct {
		name   string
		change func(*corev1.Pod, *corev1.TopologySpreadConstraint)
		same   bool
	}{
		{"nothing", func(*corev1.Pod, *corev1.TopologySpreadConstraint) {}, true},
		{"requests", func(p *corev1.Pod, _ *corev1.TopologySpreadConstraint) { p.Spec.Priority = &two }, true},
		{"the owner's labels", func(p *corev1.Pod, _ *corev1.TopologySpreadConstraint) { p.Labels["app"] = "v" }, true},
		{"an alias of the key", func(_ *corev1.Pod, s *corev1.TopologySpreadConstraint) {
			s.TopologyKey = corev1.LabelFailureDomainBetaZone
		}, true},
		{"minDomains of 1", func(_ *corev1.Pod, s *corev1.TopologySpreadConstraint) { one := int32(1); s.MinDomains = &one }, true},
		{"policies spelt out", func(_ *corev1.Pod, s *corev1.TopologySpreadConstraint) {
			s.NodeAffinityPolicy, s.NodeTaintsPolicy = &honor, &ignore
		}, true},
		{"tolerations that play no part", func(p *corev1.Pod, _ *corev1.TopologySpreadConstraint) {
			p.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
		}, true},
		{"the key", func(_ *corev1.Pod, s *corev1.TopologySpreadConstraint) { s.TopologyKey = corev1.LabelHostname }, false},
		{"the reaction", func(_ *corev1.Pod, s *corev1.TopologySpreadConstraint) { s.WhenUnsatisfiable = corev1.ScheduleAnyway }, false},
		{"maxSkew", func(_ *corev1.Pod, s *corev1.TopologySpreadConstraint) { s.MaxSkew = 2 }, false},
		{"minDomains", func(_ *corev1.Pod, s *corev1.TopologySpreadConstraint) { s.MinDomains = &two }, false},
		{"the selector", func(_ *corev1.Pod, s *corev1.TopologySpreadConstraint) { s.LabelSelector.MatchLabels["app"] = "v" }, false},
		{"the namespace", func(p *corev1.Pod, _ *corev1.TopologySpreadConstraint) { p.Namespace = "other" }, false},
		{"the node selector", func(p *corev1.Pod, _ *corev1.TopologySpreadConstraint) {
			p.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: "a"}
		}, false},
		{"the node selector, which plays no part", func(p *corev1.Pod, s *corev1.TopologySpreadConstraint) {
			p.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: "a"}
			s.NodeAffinityPolicy = &ignore
		}, true},
		{"matchLabelKeys that say more", func(p *corev1.Pod, s *corev1.TopologySpreadConstraint) {
			p.Labels["hash"] = "x"
			s.MatchLabelKeys = []string{"hash"}
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := Compile(&planning.Snapshot{Pods: []*corev1.Pod{ruled("one"), ruled("two", c.change)}})
			if err != nil {
				t.Fatal(err)
			}
			if same := len(m.Topology) == 1; same != c.same {
				t.Errorf("%d groups, the same %v, want %v", len(m.Topology), same, c.same)
			}
		})
	}
	t.Run("values of the node selector", func(t *testing.T) {
		var pods []*corev1.Pod
		for i, zone := range []string{"a", "b", "a"} {
			pods = append(pods, ruled(fmt.Sprint(i), func(p *corev1.Pod, _ *corev1.TopologySpreadConstraint) {
				p.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: zone}
			}))
		}
		m, err := Compile(&planning.Snapshot{Pods: pods})
		if err != nil {
			t.Fatal(err)
		}
		if len(m.Topology) != 2 {
			t.Errorf("%d groups, want one for each zone", len(m.Topology))
		}
	})
}
