package claimed

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// What two lists of tolerations have in common tolerates each taint that both tolerate, and no other.
func TestCommonTolerations(t *testing.T) {
	var all []corev1.Toleration
	var taints []corev1.Taint
	for _, key := range []string{"", "a", "b"} {
		for _, effect := range []corev1.TaintEffect{"", corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute} {
			all = append(all, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: effect})
			if key != "" {
				all = append(all, corev1.Toleration{Key: key, Operator: corev1.TolerationOpEqual, Value: "x", Effect: effect}, corev1.Toleration{Key: key, Value: "y", Effect: effect})
			}
			for _, value := range []string{"", "x", "y"} {
				if key != "" && effect != "" {
					taints = append(taints, corev1.Taint{Key: key, Value: value, Effect: effect})
				}
			}
		}
	}
	tolerates := func(list []corev1.Toleration, taint corev1.Taint) bool {
		for _, o := range list {
			if (o.Key == "" || o.Key == taint.Key) && (o.Effect == "" || o.Effect == taint.Effect) && (o.Operator == corev1.TolerationOpExists || o.Value == taint.Value) {
				return true
			}
		}
		return false
	}
	check := func(a, b []corev1.Toleration) {
		t.Helper()
		for _, taint := range taints {
			if got, want := tolerates(commonTolerations(a, b), taint), tolerates(a, taint) && tolerates(b, taint); got != want {
				t.Errorf("%v and %v tolerate %v: %t, want %t", a, b, taint, got, want)
			}
		}
	}
	for i := range all {
		for j := range all {
			check(all[i:i+1], all[j:j+1])
			check([]corev1.Toleration{all[i], all[(i+5)%len(all)]}, []corev1.Toleration{all[j], all[(j+7)%len(all)]})
		}
	}
	if got := fmt.Sprint(commonTolerations(all, nil)); got != "[]" {
		t.Errorf("with none in common: %s", got)
	}
}
