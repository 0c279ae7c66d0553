package manifests

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validatePlacement refuses pods that the API server would refuse and that can't be planned: pods without containers (mostly truncated
// files), and invalid spreads and affinities.
func (l *loader) validatePlacement(o origin, kind, name, path string, spec *corev1.PodSpec) {
	refuse := func(at string, err *field.Error) {
		l.problem(o, ProblemInvalid, objectName(kind, name), path+"."+at, err.ErrorBody())
	}
	if len(spec.Containers) == 0 {
		refuse("containers", field.Required(nil,
			"a pod needs at least one container; add it, or see whether the text was cut off here"))
	}
	for i := range spec.TopologySpreadConstraints {
		validateSpread(fmt.Sprintf("topologySpreadConstraints[%d].", i), &spec.TopologySpreadConstraints[i], refuse)
	}
	if spec.Affinity == nil {
		return
	}
	if a := spec.Affinity.NodeAffinity; a != nil && a.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		if n := len(a.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms); n > maxNodeSelectorTerms {
			refuse("affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms",
				field.TooMany(nil, n, maxNodeSelectorTerms))
		}
	}
	if a := spec.Affinity.PodAffinity; a != nil {
		validateAffinityTerms("affinity.podAffinity.", a.RequiredDuringSchedulingIgnoredDuringExecution,
			a.PreferredDuringSchedulingIgnoredDuringExecution, refuse)
	}
	if a := spec.Affinity.PodAntiAffinity; a != nil {
		validateAffinityTerms("affinity.podAntiAffinity.", a.RequiredDuringSchedulingIgnoredDuringExecution,
			a.PreferredDuringSchedulingIgnoredDuringExecution, refuse)
	}
}

// maxNodeSelectorTerms bounds the alternatives of a pod. Each is planned for on its own.
const maxNodeSelectorTerms = 1000

// validateSpread checks one topology spread constraint; path ends in a dot.
func validateSpread(path string, c *corev1.TopologySpreadConstraint, refuse func(string, *field.Error)) {
	if c.MaxSkew <= 0 {
		refuse(path+"maxSkew", field.Invalid(nil, c.MaxSkew, "must be greater than zero; 1 spreads most evenly"))
	}
	if c.TopologyKey == "" {
		refuse(path+"topologyKey", requiredTopologyKey())
	}
	switch c.WhenUnsatisfiable {
	case corev1.DoNotSchedule, corev1.ScheduleAnyway:
	default:
		refuse(path+"whenUnsatisfiable", field.NotSupported(nil, c.WhenUnsatisfiable,
			[]corev1.UnsatisfiableConstraintAction{corev1.DoNotSchedule, corev1.ScheduleAnyway}))
	}
	switch {
	case c.MinDomains == nil:
	case *c.MinDomains <= 0:
		refuse(path+"minDomains", field.Invalid(nil, *c.MinDomains, "must be greater than zero; leave it out to ask for no number of domains"))
	case c.WhenUnsatisfiable == corev1.ScheduleAnyway:
		refuse(path+"minDomains", field.Invalid(nil, *c.MinDomains, "goes with whenUnsatisfiable DoNotSchedule only; leave out one of the two"))
	}
}

// validateAffinityTerms applies the rules of the terms of a pod affinity or anti-affinity; path ends in a dot.
func validateAffinityTerms(path string, required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm,
	refuse func(string, *field.Error)) {
	for i := range required {
		if required[i].TopologyKey == "" {
			refuse(fmt.Sprintf("%srequiredDuringSchedulingIgnoredDuringExecution[%d].topologyKey", path, i), requiredTopologyKey())
		}
	}
	for i := range preferred {
		if preferred[i].PodAffinityTerm.TopologyKey == "" {
			refuse(fmt.Sprintf("%spreferredDuringSchedulingIgnoredDuringExecution[%d].podAffinityTerm.topologyKey", path, i), requiredTopologyKey())
		}
	}
}

func requiredTopologyKey() *field.Error {
	return field.Required(nil, `must name a label of nodes, such as "`+corev1.LabelTopologyZone+`"`)
}
