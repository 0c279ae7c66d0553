package podclass

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// Text is what makes pods one class, valid until the next call, and what it is written from.
func Text(x *topology.Index, d Devices, pod *corev1.Pod, w *likeness.Writer, placeholder bool, rules int32) (text []byte, stake topology.Groups, ruleErr error) {
	text = w.Write(pod)
	w.GroupsAt = len(text)
	stake, ruleErr = stakeOf(x, pod, rules)
	if !stake.Empty() {
		text = w.WriteGroups(&stake)
	}
	w.GroupsEnd = len(text)
	if d != nil && likeness.ClaimsDevices(&pod.Spec) {
		text = w.WriteDevices(d.Text(pod))
	}
	if placeholder {
		text = append(text, "placeholder"...)
		w.Buf = text
	}
	if ruleErr != nil {
		text = append(text, ruleErr.Error()...)
		w.Buf = text
	}
	return text, stake, ruleErr
}

// stakeOf is the pod's stake in topology rules. Where its own stand is known from topology.Index.Remember.
func stakeOf(x *topology.Index, pod *corev1.Pod, rules int32) (topology.Groups, error) {
	if len(x.Groups) == 0 && rules == topology.NoRules {
		return topology.Groups{}, nil
	}
	owns, err := x.RulesAt(rules, pod)
	return topology.Groups{Owns: owns, In: x.Membership(pod)}, err
}
