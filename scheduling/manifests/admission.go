package manifests

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"

	"github.com/drawknife/drawknife/scheduling/pods"
)

// A pod in a manifest differs from the pod that a scheduler sees, because the API server fills in defaults and its admission plugins
// resolve classes. A pod with a UID or a creation time has already been admitted. For such a pod, admission only makes changes that are
// harmless to repeat.

// admission contains the objects of the cluster that change pods at admission.
type admission struct {
	priorityClasses map[string]*schedulingv1.PriorityClass
	runtimeClasses  map[string]*nodev1.RuntimeClass
	// containerDefaults are the defaults of each namespace's LimitRanges, in the order of their names.
	containerDefaults map[string][]containerDefaults
	// globalDefault is the PriorityClass of pods that name no PriorityClass. nil means that such pods have priority 0.
	globalDefault *schedulingv1.PriorityClass
}

// containerDefaults are the default requests and limits that one LimitRange gives to containers.
type containerDefaults struct{ requests, limits corev1.ResourceList }

// admissible is a pod spec during admission.
type admissible struct {
	origin     origin
	kind, name string
	namespace  string
	spec       *corev1.PodSpec
}

// admissionStage says whether a pod has passed the admission of an API server.
type admissionStage bool

const (
	// newPod is a pod that no API server has accepted yet.
	newPod admissionStage = false
	// admittedPod is a pod that an API server has accepted.
	admittedPod admissionStage = true
)

func stageOf(pod *corev1.Pod) admissionStage {
	return admissionStage(pod.UID != "" || !pod.CreationTimestamp.IsZero())
}

func (l *loader) newAdmission() admission {
	a := admission{
		// These two PriorityClasses exist in every cluster.
		priorityClasses: map[string]*schedulingv1.PriorityClass{
			"system-cluster-critical": {Value: 2_000_000_000},
			"system-node-critical":    {Value: 2_000_001_000},
		},
		runtimeClasses:    make(map[string]*nodev1.RuntimeClass),
		containerDefaults: make(map[string][]containerDefaults),
	}
	for _, e := range l.objects.priorityClasses {
		class := e.object
		a.priorityClasses[class.Name] = class
		// If several PriorityClasses are the default, the class with the lowest priority is used, as in the API server. If several of these
		// have the same priority, the first class by name is used.
		if class.GlobalDefault && (a.globalDefault == nil || class.Value < a.globalDefault.Value ||
			class.Value == a.globalDefault.Value && class.Name < a.globalDefault.Name) {
			a.globalDefault = class
		}
	}
	for _, e := range l.objects.runtimeClasses {
		a.runtimeClasses[e.object.Name] = e.object
	}
	ranges := slices.Clone(l.objects.limitRanges)
	sortEntries(ranges)
	for _, e := range ranges {
		for i := range e.object.Spec.Limits {
			if e.object.Spec.Limits[i].Type == corev1.LimitTypeContainer {
				a.containerDefaults[e.object.Namespace] = append(a.containerDefaults[e.object.Namespace], defaultsOf(&e.object.Spec.Limits[i]))
			}
		}
	}
	return a
}

// defaultsOf completes a LimitRange item as the API server does. A missing default limit becomes the maximum. A missing default request
// becomes the default limit or, if that is missing too, the minimum.
func defaultsOf(item *corev1.LimitRangeItem) containerDefaults {
	d := containerDefaults{requests: maps.Clone(item.DefaultRequest), limits: maps.Clone(item.Default)}
	fillIn(&d.limits, item.Max)
	fillIn(&d.requests, d.limits)
	fillIn(&d.requests, item.Min)
	return d
}

// fillIn adds to the list into the amounts of the list from for those resources that into lacks.
func fillIn(into *corev1.ResourceList, from corev1.ResourceList) {
	for name, amount := range from {
		if _, ok := (*into)[name]; ok {
			continue
		}
		if *into == nil {
			*into = make(corev1.ResourceList, len(from))
		}
		(*into)[name] = amount
	}
}

// admit completes a pod spec in place.
func (a *admission) admit(l *loader, p admissible, stage admissionStage) {
	pods.Default(p.spec)
	a.resolvePriority(l, p)
	if stage == admittedPod {
		return
	}
	a.applyLimitRanges(p)
	a.resolveRuntimeClass(l, p)
}

// resolvePriority sets the priority of a pod without priority from the PriorityClass that the pod names, or from the default class. It also
// sets the pod's priorityClassName and preemption policy if they are missing.
func (a *admission) resolvePriority(l *loader, p admissible) {
	if p.spec.Priority != nil {
		return
	}
	class := a.globalDefault
	if name := p.spec.PriorityClassName; name != "" {
		if class = a.priorityClasses[name]; class == nil {
			l.warn(p.origin, remark{
				code: WarningPriorityClass, kind: p.kind, name: p.name, detail: name,
				message: fmt.Sprintf("PriorityClass %q is not in the input; its pods get priority 0", name),
			})
		}
	}
	if class == nil {
		return
	}
	value := class.Value
	p.spec.Priority = &value
	if p.spec.PriorityClassName == "" {
		p.spec.PriorityClassName = class.Name
	}
	if p.spec.PreemptionPolicy == nil {
		p.spec.PreemptionPolicy = class.PreemptionPolicy
	}
}

// applyLimitRanges gives containers the defaults of their namespace.
func (a *admission) applyLimitRanges(p admissible) {
	for _, defaults := range a.containerDefaults[p.namespace] {
		for c := range pods.Containers(p.spec) {
			fillIn(&c.Resources.Requests, defaults.requests)
			fillIn(&c.Resources.Limits, defaults.limits)
		}
	}
}

// resolveRuntimeClass adds the fields of the pod's RuntimeClass: overhead, node selector and tolerations.
func (a *admission) resolveRuntimeClass(l *loader, p admissible) {
	if p.spec.RuntimeClassName == nil || *p.spec.RuntimeClassName == "" {
		return
	}
	name := *p.spec.RuntimeClassName
	class := a.runtimeClasses[name]
	if class == nil {
		l.warn(p.origin, remark{
			code: WarningRuntimeClass, kind: p.kind, name: p.name, detail: name,
			message: fmt.Sprintf("RuntimeClass %q is not in the input; planned without its overhead and node selector", name),
		})
		return
	}
	if class.Overhead != nil && p.spec.Overhead == nil {
		p.spec.Overhead = class.Overhead.PodFixed
	}
	if class.Scheduling == nil {
		return
	}
	a.mergeNodeSelector(l, p, class)
	for _, toleration := range class.Scheduling.Tolerations {
		if !slices.ContainsFunc(p.spec.Tolerations, func(t corev1.Toleration) bool { return t.MatchToleration(&toleration) }) {
			p.spec.Tolerations = append(p.spec.Tolerations, toleration)
		}
	}
}

// mergeNodeSelector adds the node selector of the RuntimeClass to the pod's node selector. If the pod states another value for a key, the
// API server would refuse the pod. Here the pod's value is used, with a warning.
func (a *admission) mergeNodeSelector(l *loader, p admissible, class *nodev1.RuntimeClass) {
	if len(class.Scheduling.NodeSelector) == 0 {
		return
	}
	var conflicts []string
	merged := joinLabels(class.Scheduling.NodeSelector, p.spec.NodeSelector)
	for key, value := range class.Scheduling.NodeSelector {
		if merged[key] != value {
			conflicts = append(conflicts, fmt.Sprintf("%s=%s", key, value))
		}
	}
	p.spec.NodeSelector = merged
	if len(conflicts) > 0 {
		slices.Sort(conflicts)
		l.warn(p.origin, remark{
			code: WarningRuntimeClass, kind: p.kind, name: p.name, detail: class.Name,
			message: fmt.Sprintf("the node selector contradicts RuntimeClass %q, which wants %s; a cluster would refuse the pod",
				class.Name, strings.Join(conflicts, ", ")),
		})
	}
}
