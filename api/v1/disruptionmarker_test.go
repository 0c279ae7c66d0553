package v1

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// API-243, API-247: a node is marked as its pool's generation has it, all three markers are recognised, and only what was put
// on is taken off again.
func TestDisruptionMarkers(t *testing.T) {
	alpha := PoolKey{Generation: GenerationV1Alpha5, Name: "web"}
	beta := corev1.Taint{Key: "karpenter.sh/disruption", Value: "disrupting", Effect: corev1.TaintEffectNoSchedule}
	other := corev1.Taint{Key: "team", Value: "red", Effect: corev1.TaintEffectNoSchedule}
	node := func(annotations map[string]string, cordoned bool, taints ...corev1.Taint) corev1.Node {
		return corev1.Node{ObjectMeta: metav1.ObjectMeta{Annotations: annotations}, Spec: corev1.NodeSpec{Unschedulable: cordoned, Taints: taints}}
	}
	ours := func() map[string]string { return map[string]string{CordonedAnnotationKey: "true"} }
	for _, c := range []struct {
		name         string
		pool         PoolKey
		node, marked corev1.Node
		// known says that the node bears a marker before; undone is what is left once all is taken off.
		known  bool
		undone corev1.Node
	}{
		{"v1", NewPoolKey("web"), node(nil, false, other), node(nil, false, other, DisruptedTaint()), false, node(nil, false, other)},
		{"v1, marked", NewPoolKey("web"), node(nil, false, DisruptedTaint()), node(nil, false, DisruptedTaint()), true, node(nil, false)},
		{
			"v1, another effect", NewPoolKey("web"), node(nil, false, corev1.Taint{Key: DisruptedTaintKey, Effect: corev1.TaintEffectNoExecute}),
			node(nil, false, DisruptedTaint()), false, node(nil, false),
		},
		{
			"v1, both effects", NewPoolKey("web"), node(nil, false, DisruptedTaint(), corev1.Taint{Key: DisruptedTaintKey, Effect: corev1.TaintEffectNoExecute}),
			node(nil, false, DisruptedTaint()), true, node(nil, false),
		},
		{"v1, marked by a release of v1beta1", NewPoolKey("web"), node(nil, false, beta), node(nil, false, beta, DisruptedTaint()), true, node(nil, false)},
		{"v1, cordoned by somebody", NewPoolKey("web"), node(nil, true), node(nil, true, DisruptedTaint()), false, node(nil, true)},
		{"no pool", PoolKey{}, node(nil, false), node(nil, false, DisruptedTaint()), false, node(nil, false)},
		{"alpha", alpha, node(nil, false, other), node(ours(), true, other), false, node(map[string]string{}, false, other)},
		{"alpha, marked", alpha, node(ours(), true), node(ours(), true), true, node(map[string]string{}, false)},
		{"alpha, cordoned by somebody", alpha, node(nil, true), node(nil, true), false, node(nil, true)},
		{"alpha, uncordoned by somebody", alpha, node(ours(), false), node(ours(), true), true, node(map[string]string{}, false)},
		{"alpha, with the taint of v1", alpha, node(nil, false, DisruptedTaint()), node(ours(), true, DisruptedTaint()), true, node(map[string]string{}, false)},
	} {
		t.Run(c.name, func(t *testing.T) {
			marker := MarkerOf(c.pool)
			before := c.node.DeepCopy()
			if got := DisruptionMarked(&c.node); got != c.known {
				t.Errorf("marked: %t, want %t", got, c.known)
			}
			got := c.node.DeepCopy()
			if changed := marker.Mark(got); changed == cmp.Equal(&c.node, &c.marked) {
				t.Errorf("changed: %t", changed)
			}
			if diff := cmp.Diff(&c.marked, got); diff != "" {
				t.Errorf("marked (-want +got):\n%s", diff)
			}
			if !marker.On(got) || marker.Mark(got) {
				t.Error("it is marked twice")
			}
			tainted, cordoned := DisruptionTainted(got), DisruptionCordoned(got)
			if TakeTaintOff(got) != tainted || TakeCordonOff(got) != cordoned || DisruptionMarked(got) {
				t.Error("a marker stays")
			}
			if len(got.Spec.Taints) != len(c.undone.Spec.Taints) || got.Spec.Unschedulable != c.undone.Spec.Unschedulable {
				t.Errorf("undone: %+v, want %+v", got.Spec, c.undone.Spec)
			}
			if TakeTaintOff(got) || TakeCordonOff(got) {
				t.Error("it is taken off twice")
			}
			if diff := cmp.Diff(before, &c.node); diff != "" {
				t.Errorf("the node that was copied has changed:\n%s", diff)
			}
		})
	}
}

// API-244: what a pod has to tolerate to stay is the taint of its node's marker.
func TestTaintOfMarker(t *testing.T) {
	if got := MarkerTaint.Taint(); got != DisruptedTaint() {
		t.Error(got)
	}
	if got := MarkerCordon.Taint(); got != (corev1.Taint{Key: "node.kubernetes.io/unschedulable", Effect: corev1.TaintEffectNoSchedule}) {
		t.Error(got)
	}
	if got := DisruptionMarker("").Taint(); got != DisruptedTaint() {
		t.Error(got)
	}
}
