package manifests

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// displaced takes the pods that will need a new place off the machines that are going away (SCH-091). They come back
// as copies that are bound to nothing.
func (l *loader) displaced(machines []machine) []*corev1.Pod {
	var budgets []budget
	var list []*corev1.Pod
	for i := range machines {
		n := &machines[i].node
		if !n.Leaving || len(n.Pods) == 0 {
			continue
		}
		if budgets == nil {
			budgets = l.budgets()
		}
		var staying []*corev1.Pod
		for _, pod := range n.Pods {
			if !l.reschedules(pod, budgets) {
				staying = append(staying, pod)
				continue
			}
			moved := *pod
			moved.Spec.NodeName = ""
			list = append(list, &moved)
		}
		n.Pods = staying
	}
	return list
}

// reschedules reports whether a pod on a machine that is being removed will appear again elsewhere.
func (l *loader) reschedules(pod *corev1.Pod, budgets []budget) bool {
	switch {
	case isDaemonPod(pod), isStatic(pod):
		return false
	case pod.DeletionTimestamp != nil:
		// Only a StatefulSet waits with the replacement until the pod is gone.
		return ownedBy(pod, groupApps, kindStatefulSet)
	case l.doNotDisrupt(pod):
		return false
	}
	return !blocked(pod, budgets)
}

// doNotDisrupt reports whether the pod's annotation protects it now: "true", or a duration from its start that has
// not passed (PRV-008).
func (l *loader) doNotDisrupt(pod *corev1.Pod) bool {
	value := pod.Annotations[v1.DoNotDisruptAnnotationKey]
	if value == "true" {
		return true
	}
	protection, err := time.ParseDuration(value)
	if err != nil || protection <= 0 {
		return false
	}
	return pod.Status.StartTime == nil || l.opts.Now.Before(pod.Status.StartTime.Add(protection))
}

// budget is a PodDisruptionBudget with its selector compiled.
type budget struct {
	namespace string
	selector  labels.Selector
	// never is that it allows no disruption whatever the number of pods.
	never bool
	// sparesUnhealthy is that pods that are not ready may be evicted all the same.
	sparesUnhealthy bool
}

func (l *loader) budgets() []budget {
	list := make([]budget, 0, len(l.objects.podDisruptionBudgets))
	for _, e := range l.objects.podDisruptionBudgets {
		spec := &e.object.Spec
		selector, err := metav1.LabelSelectorAsSelector(spec.Selector)
		if err != nil {
			selector = labels.Nothing()
		}
		policy := spec.UnhealthyPodEvictionPolicy
		list = append(list, budget{
			namespace: e.object.Namespace, selector: selector,
			never:           isValue(spec.MaxUnavailable, 0, "0%") || isValue(spec.MinAvailable, -1, "100%"),
			sparesUnhealthy: policy != nil && *policy == policyv1.AlwaysAllow,
		})
	}
	return list
}

func isValue(v *intstr.IntOrString, number int, text string) bool {
	switch {
	case v == nil:
		return false
	case v.Type == intstr.Int:
		return v.IntValue() == number
	}
	return v.StrVal == text
}

// blocked reports whether budgets keep the pod from ever being evicted (SCH-092).
func blocked(pod *corev1.Pod, budgets []budget) bool {
	if toleratesDisruption(pod) {
		return false // it would not be evicted anyway
	}
	matching := 0
	never := false
	for i := range budgets {
		b := &budgets[i]
		if b.namespace != pod.Namespace || !b.selector.Matches(labels.Set(pod.Labels)) {
			continue
		}
		matching++
		never = never || b.never && !(b.sparesUnhealthy && !isReady(pod))
	}
	// The eviction API refuses pods that several budgets select.
	return never || matching > 1
}

func isReady(pod *corev1.Pod) bool {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == corev1.PodReady {
			return pod.Status.Conditions[i].Status == corev1.ConditionTrue
		}
	}
	return false
}

// toleratesDisruption reports whether the pod tolerates the taint of nodes that are going away,
// karpenter.sh/disrupted:NoSchedule, which has no value.
func toleratesDisruption(pod *corev1.Pod) bool {
	for _, t := range pod.Spec.Tolerations {
		key := t.Key == v1.DisruptedTaintKey || t.Key == "" && t.Operator == corev1.TolerationOpExists
		effect := t.Effect == "" || t.Effect == corev1.TaintEffectNoSchedule
		value := t.Operator == corev1.TolerationOpExists || t.Operator != corev1.TolerationOpExists && t.Value == ""
		if key && effect && value {
			return true
		}
	}
	return false
}
