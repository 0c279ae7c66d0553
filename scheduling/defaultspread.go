package scheduling

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	unversionedvalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// defaultSpread gives pods without spread constraints the cluster's defaults, with the selector that kube-scheduler
// deduces.
type defaultSpread struct {
	constraints []corev1.TopologySpreadConstraint
	snapshot    *Snapshot
	services    map[string][]*corev1.Service
	controllers map[controllerKey]*metav1.LabelSelector
}

type controllerKey struct{ kind, namespace, name string }

func newDefaultSpread(s *Snapshot) *defaultSpread {
	d := &defaultSpread{constraints: s.DefaultTopologySpread, snapshot: s}
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

// constraintsFor is the defaults with the pod's deduced selector; nil when nothing selects the pod.
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

// selectorFor is the union of the selectors of the Services that select the pod, and the selector of its controller.
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

// ValidateDefaultTopologySpread checks the cluster's default constraints as kube-scheduler's configuration does: a
// positive maxSkew, a legal key and reaction, no selector of its own, no duplicates.
func ValidateDefaultTopologySpread(list []corev1.TopologySpreadConstraint, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := sets.New[string]()
	for i := range list {
		c, at := &list[i], path.Index(i)
		if c.MaxSkew <= 0 {
			errs = append(errs, field.Invalid(at.Child("maxSkew"), c.MaxSkew, "must be greater than zero"))
		}
		errs = append(errs, unversionedvalidation.ValidateLabelName(c.TopologyKey, at.Child("topologyKey"))...)
		if c.WhenUnsatisfiable != corev1.DoNotSchedule && c.WhenUnsatisfiable != corev1.ScheduleAnyway {
			errs = append(errs, field.NotSupported(at.Child("whenUnsatisfiable"), c.WhenUnsatisfiable, []string{string(corev1.DoNotSchedule), string(corev1.ScheduleAnyway)}))
		}
		if c.LabelSelector != nil {
			errs = append(errs, field.Forbidden(at.Child("labelSelector"), "is deduced for each pod: leave it out"))
		}
		if len(c.MatchLabelKeys) > 0 {
			errs = append(errs, field.Forbidden(at.Child("matchLabelKeys"), "is not for default constraints: leave it out"))
		}
		if id := c.TopologyKey + "/" + string(c.WhenUnsatisfiable); seen.Has(id) {
			errs = append(errs, field.Duplicate(at, id))
		} else {
			seen.Insert(id)
		}
	}
	return errs
}
