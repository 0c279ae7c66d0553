package v1_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// SCH-053: by key and effect; the value is not compared.
func TestEphemeralTaint(t *testing.T) {
	for _, c := range []struct {
		key    string
		effect corev1.TaintEffect
		want   bool
	}{
		{corev1.TaintNodeNotReady, corev1.TaintEffectNoSchedule, true},
		{corev1.TaintNodeNotReady, corev1.TaintEffectNoExecute, true},
		{corev1.TaintNodeNotReady, corev1.TaintEffectPreferNoSchedule, false},
		{corev1.TaintNodeUnreachable, corev1.TaintEffectNoSchedule, true},
		{corev1.TaintNodeUnreachable, corev1.TaintEffectNoExecute, false},
		{"node.cloudprovider.kubernetes.io/uninitialized", corev1.TaintEffectNoSchedule, true},
		{"node.cloudprovider.kubernetes.io/uninitialized", corev1.TaintEffectNoExecute, false},
		{v1.UnregisteredTaintKey, corev1.TaintEffectNoExecute, true},
		{v1.UnregisteredTaintKey, corev1.TaintEffectNoSchedule, false},
		{"readiness.k8s.io/gpu", corev1.TaintEffectNoExecute, true},
		{"dedicated", corev1.TaintEffectNoSchedule, false},
	} {
		if got := v1.EphemeralTaint(&corev1.Taint{Key: c.key, Value: "any", Effect: c.effect}); got != c.want {
			t.Errorf("%s:%s is %t", c.key, c.effect, got)
		}
	}
}

// SCH-054: what is there stays, what lacks is added.
func TestMergeTaints(t *testing.T) {
	have := []corev1.Taint{{Key: "a", Value: "kept", Effect: corev1.TaintEffectNoSchedule}}
	more := []corev1.Taint{
		{Key: "a", Value: "other", Effect: corev1.TaintEffectNoSchedule}, {Key: "a", Effect: corev1.TaintEffectNoExecute},
	}
	want := []corev1.Taint{have[0], more[1]}
	if diff := cmp.Diff(want, v1.MergeTaints(have, more)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(have) != 1 || cap(v1.MergeTaints(nil, nil)) != 0 {
		t.Error("a list was changed")
	}
}
