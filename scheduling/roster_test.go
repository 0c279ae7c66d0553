package scheduling_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/scheduling"
)

// Pods that are compiled as one pattern are of one class, whatever their rules, volumes and resources; so are they in later
// snapshots.
func TestPodsOfOnePatternAreOfOneClass(t *testing.T) {
	pods, patterns := 0, 0
	seeded.Check(t, func(t *rapid.T) {
		s := generated(randomRuledSnapshot(t))
		for moment := range 4 {
			unlike, err := scheduling.UnlikePods(s)
			if err != nil {
				t.Skip("a snapshot that is refused")
			}
			if len(unlike) > 0 {
				t.Fatalf("pods of one pattern are of different classes: %v", unlike)
			}
			pods += len(s.Pods)
			for i := range s.Nodes {
				pods += len(s.Nodes[i].Pods)
			}
			patterns += scheduling.Patterns(s)
			s = evolve(t, s, moment)
		}
	})
	if patterns == 0 || patterns > pods*9/10 {
		t.Errorf("%d pods have %d patterns: too few are alike to prove anything", pods, patterns)
	}
}

// Each part of a pod that planning reads makes a pattern of its own; its name and age don't.
func TestPatternsTellPodsApart(t *testing.T) {
	base := func(options ...podOption) *corev1.Pod {
		return pod("x", append([]podOption{requests("cpu=1", "memory=1Gi"), label("app", "a")}, options...)...)
	}
	always := corev1.ContainerRestartPolicyAlways
	variants := []*corev1.Pod{
		base(),
		base(label("app", "b")),
		base(label("tier", "b")),
		base(namespace("other")),
		base(requests("cpu=2", "memory=1Gi")),
		base(requests("cpu=1", "memory=1Gi", "example.com/chip=0")),
		base(requests("cpu=1", "memory=1Gi", "example.com/card=0")),
		base(requests("cpu=1", "memory=1Gi", "example.com/chip=1")),
		base(requests("cpu=1", "example.com/chip=1")),
		base(func(p *corev1.Pod) { p.Spec.OS = &corev1.PodOS{Name: corev1.Linux} }),
		base(func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"disk": "ssd"} }),
		base(func(p *corev1.Pod) { p.Spec.Tolerations = []corev1.Toleration{{Key: "a"}} }),
		base(func(p *corev1.Pod) { p.Spec.Priority = new(int32); *p.Spec.Priority = 5 }),
		base(func(p *corev1.Pod) { p.Status.NominatedNodeName = "n" }),
		base(func(p *corev1.Pod) {
			p.Spec.InitContainers = []corev1.Container{{RestartPolicy: &always, Ports: []corev1.ContainerPort{{HostPort: 80}}}}
		}),
		base(func(p *corev1.Pod) { p.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 80}} }),
		base(func(p *corev1.Pod) { p.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 81}} }),
		base(func(p *corev1.Pod) {
			p.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 80, HostIP: "10.0.0.1"}}
		}),
		base(apart(corev1.PodAffinityTerm{TopologyKey: zoneKey, LabelSelector: matching("app", "a")})),
		base(apart(corev1.PodAffinityTerm{TopologyKey: zoneKey, LabelSelector: matching("app", "b")})),
		base(spreadOver(corev1.TopologySpreadConstraint{TopologyKey: zoneKey, MaxSkew: 1, LabelSelector: matching("app", "a")})),
		base(spreadOver(corev1.TopologySpreadConstraint{TopologyKey: zoneKey, MaxSkew: 2, LabelSelector: matching("app", "a")})),
		base(func(p *corev1.Pod) { p.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu"}} }),
	}
	s := cluster()
	for i, v := range variants {
		for j := range 3 {
			p := v.DeepCopy()
			p.Name = fmt.Sprintf("p-%d-%d", i, j)
			s.Pods = append(s.Pods, p)
		}
	}
	if got := scheduling.Patterns(s); got != len(variants) {
		t.Errorf("%d kinds of pods have %d patterns", len(variants), got)
	}
	waiting, running := pod("w", requests("cpu=1")), pod("r", requests("cpu=1"))
	s = cluster(node("n", bound(running)), waiting)
	if got := scheduling.Patterns(s); got != 1 {
		t.Errorf("a pod that waits and one like it that runs have %d patterns", got)
	}
	s.Placeholders = []*corev1.Pod{pod("buffer", requests("cpu=1"))}
	if got := scheduling.Patterns(s); got != 2 {
		t.Errorf("with a placeholder there are %d patterns", got)
	}
}
