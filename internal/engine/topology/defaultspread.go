package topology

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// defaultSpread finds the cluster's default constraints for pods that have no spread constraints, with the selector that kube-scheduler
// deduces.
type defaultSpread struct {
	constraints []corev1.TopologySpreadConstraint
	services    map[string][]*corev1.Service
	controllers map[controllerKey]*metav1.LabelSelector
}

type controllerKey struct{ kind, namespace, name string }

func newDefaultSpread(s *Cluster) *defaultSpread {
	d := &defaultSpread{constraints: s.DefaultSpread}
	if len(d.constraints) == 0 {
		return d
	}
	d.services, d.controllers = map[string][]*corev1.Service{}, map[controllerKey]*metav1.LabelSelector{}
	for _, svc := range s.Services {
		d.services[svc.Namespace] = append(d.services[svc.Namespace], svc)
	}
	for _, rs := range s.ReplicaSets {
		d.controllers[controllerKey{"ReplicaSet", rs.Namespace, rs.Name}] = rs.Spec.Selector
	}
	for _, ss := range s.StatefulSets {
		d.controllers[controllerKey{"StatefulSet", ss.Namespace, ss.Name}] = ss.Spec.Selector
	}
	for _, rc := range s.ReplicationControllers {
		d.controllers[controllerKey{"ReplicationController", rc.Namespace, rc.Name}] = &metav1.LabelSelector{MatchLabels: rc.Spec.Selector}
	}
	return d
}

func (d *defaultSpread) any() bool { return len(d.constraints) > 0 }

// constraintsFor returns the default constraints with the selector deduced for the pod, or nil if no object selects the pod.
func (d *defaultSpread) constraintsFor(pod *corev1.Pod) []corev1.TopologySpreadConstraint {
	if !d.any() {
		return nil
	}
	selector := d.selectorFor(pod)
	if selector == nil {
		return nil
	}
	out := make([]corev1.TopologySpreadConstraint, len(d.constraints))
	for i := range d.constraints {
		out[i] = d.constraints[i]
		out[i].LabelSelector = selector
	}
	return out
}

// selectorFor returns the union of the selectors of the pod's Services and the selector of its controller.
func (d *defaultSpread) selectorFor(pod *corev1.Pod) *metav1.LabelSelector {
	out := &metav1.LabelSelector{MatchLabels: map[string]string{}}
	for _, svc := range d.services[pod.Namespace] {
		if len(svc.Spec.Selector) > 0 && labels.SelectorFromSet(svc.Spec.Selector).Matches(labels.Set(pod.Labels)) {
			for k, v := range svc.Spec.Selector {
				out.MatchLabels[k] = v
			}
		}
	}
	if owner := metav1.GetControllerOf(pod); owner != nil {
		if s := d.controllers[controllerKey{owner.Kind, pod.Namespace, owner.Name}]; s != nil {
			for k, v := range s.MatchLabels {
				if have, ok := out.MatchLabels[k]; ok && have != v && owner.Kind != "ReplicationController" {
					out.MatchExpressions = append(out.MatchExpressions, metav1.LabelSelectorRequirement{Key: k, Operator: metav1.LabelSelectorOpIn, Values: []string{v}})
					continue
				}
				out.MatchLabels[k] = v
			}
			out.MatchExpressions = append(out.MatchExpressions, s.MatchExpressions...)
		}
	}
	if len(out.MatchLabels) == 0 && len(out.MatchExpressions) == 0 {
		return nil
	}
	return out
}
