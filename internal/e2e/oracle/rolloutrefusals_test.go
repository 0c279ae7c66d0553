package oracle_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/internal/e2e/oracle"
	"github.com/drawknife/drawknife/scheduling"
)

// hostOf is a node of four cores with the pods.
func hostOf(name string, pods ...*corev1.Pod) scheduling.Node {
	object := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}}}
	object.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourcePods: resource.MustParse("10")}
	object.Status.Capacity = object.Status.Allocatable
	for _, p := range pods {
		p.Spec.NodeName = name
	}
	return scheduling.Node{Name: name, Object: object, Pods: pods}
}

// corePod asks for so many cores.
func corePod(name, cores string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{"app": name}}}
	p.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cores)}}}}
	p.Status.Phase = corev1.PodRunning
	return p
}

// nextTo has the pod run where the other does.
func nextTo(p *corev1.Pod, other string) *corev1.Pod {
	p.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
		TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": other}},
	}}}}
	return p
}

// removal is a command that moves pods from one node to another.
func removal(from, to string, pods ...string) *disruption.Command {
	cmd := &disruption.Command{Method: disruption.MethodSingleNode, Members: []disruption.Member{{Node: from}}}
	e := scheduling.ExistingNode{Name: to}
	for _, name := range pods {
		key := scheduling.PodKey{Namespace: "default", Name: name}
		cmd.Members[0].Pods = append(cmd.Members[0].Pods, key)
		e.Pods = append(e.Pods, key)
	}
	cmd.Receivers = []scheduling.ExistingNode{e}
	return cmd
}

// TestRolloutRefuses: a rollout sees what a command leaves behind for the next, and what it does not.
func TestRolloutRefuses(t *testing.T) {
	snapshot := func(nodes ...scheduling.Node) *scheduling.Snapshot {
		return &scheduling.Snapshot{Time: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Vocabulary: requirements.CoreVocabulary(), Nodes: nodes}
	}
	for _, c := range []struct {
		name     string
		snapshot *scheduling.Snapshot
		commands []*disruption.Command
		want     string // part of the refusal; empty for none
	}{
		{"room that the first command takes is gone for the second",
			snapshot(hostOf("a", corePod("p", "2")), hostOf("b", corePod("q", "2")), hostOf("c", corePod("r", "1"))),
			[]*disruption.Command{removal("a", "c", "p"), removal("b", "c", "q")}, "refuses pod default/q on c"},
		{"each has room by itself",
			snapshot(hostOf("a", corePod("p", "2")), hostOf("b", corePod("q", "1")), hostOf("c", corePod("r", "1"))),
			[]*disruption.Command{removal("a", "c", "p"), removal("b", "c", "q")}, ""},
		{"a pod that follows another of its command is asked about again",
			snapshot(hostOf("a", nextTo(corePod("p", "1"), "q"), corePod("q", "1")), hostOf("c")),
			[]*disruption.Command{removal("a", "c", "p", "q")}, ""},
		{"who stayed where the pod has to be is gone with the node",
			snapshot(hostOf("a", nextTo(corePod("p", "1"), "q"), corePod("q", "1")), hostOf("c")),
			[]*disruption.Command{removal("a", "c", "p")}, "InterPodAffinity refuses pod default/p on c"},
		{"a place on a node that an earlier command removed",
			snapshot(hostOf("a", corePod("p", "1")), hostOf("b"), hostOf("c")),
			[]*disruption.Command{removal("b", "c"), removal("a", "b", "p")}, `there is no node "b"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			refusals, err := oracle.Rollout(t.Context(), c.snapshot, c.commands, oracle.Choice{})
			if err != nil {
				got = append(got, err.Error())
			}
			for _, r := range refusals {
				got = append(got, r.String())
			}
			if text := strings.Join(got, "; "); (c.want == "") != (text == "") || !strings.Contains(text, c.want) {
				t.Errorf("%q, want %q", text, c.want)
			}
		})
	}
	without := removal("a", "c", "p", "q")
	without.Receivers[0].Pods = without.Receivers[0].Pods[:1]
	s := snapshot(hostOf("a", corePod("p", "1"), corePod("q", "1")), hostOf("c"))
	if got := oracle.Homeless(s, []*disruption.Command{without}); len(got) != 1 || !strings.Contains(got[0], "default/q") {
		t.Errorf("homeless: %q, want q", got)
	}
}
