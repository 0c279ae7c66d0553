package disruption_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/internal/workload"
	"github.com/drawknife/drawknife/scheduling"
)

// Pods that waited, and are gone, leave room on nodes that have not changed.
func TestMemoryKnowsRoomOfPodsThatWaited(t *testing.T) {
	s := workload.Fleet{Nodes: 120, Fill: 0.4, Seed: 1}.Snapshot()
	waiting := make([]*corev1.Pod, 800)
	for i := range waiting {
		waiting[i] = pod(fmt.Sprintf("waits-%d", i), asks("cpu=900m", "memory=2Gi"), func(p *corev1.Pod) { p.Status.Phase = corev1.PodPending })
	}
	pods, placeholders := *s, *s
	pods.Pods, placeholders.Placeholders = waiting, waiting
	planner := &disruption.Global{}
	want := savedBy(nothing(t, planner, surveyed(t, s)))
	for _, before := range []*scheduling.Snapshot{&pods, &placeholders} {
		_, memory := again(t, planner, surveyed(t, before), nil)
		if got, _ := again(t, planner, surveyed(t, s), memory); savedBy(got) < 0.99*want {
			t.Errorf("saves %.3f USD/h, from nothing %.3f", savedBy(got), want)
		}
	}
	// Few of them are no reason to plan from nothing, and count.
	pods.Pods = waiting[:3]
	_, memory := again(t, planner, surveyed(t, &pods), nil)
	if _, left := again(t, planner, surveyed(t, s), memory); disruption.Looked(left) < 3 {
		t.Errorf("%d looks are counted after 3 pods went", disruption.Looked(left))
	}
}
