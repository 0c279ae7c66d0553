package scheduling

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/volumes"
)

// class is a group of pods that no scheduler could tell apart.
type class struct {
	// sample is one of the pods: what they have in common is read from it.
	sample   *corev1.Pod
	requests []int64
	// shape is everything but the requests.
	shape int32
	// invalid is why the pods can't be planned at all.
	invalid error
	// pending are the class's waiting pods, indices into Model.pods, in the order of comparePods.
	pending []int32
	// shared are volumes that other pods use too.
	shared []sharedVolume
	// topology is the class's stake in topology rules; nil for most pods.
	topology *ownership
	// nominated is the node that the pods are nominated for; empty for none. never tells that they don't preempt others.
	nominated string
	never     bool
	// priority of the pods: the higher, the sooner they get what is scarce.
	priority int32
	// placeholder marks pods of capacity buffers.
	placeholder bool
	// stages are the ways to give the class a new machine, best first; empty when no pool has one.
	stages []int32
	// costs is indexed like stages, for classes with preferences: an estimate of what one pod costs there, nano-USD.
	costs []float64
}

// shape is what pods ask of a node besides resources. Classes that differ in requests alone share one.
type shape struct {
	tolerations []corev1.Toleration
	// terms are the alternatives of node selector and required node affinity; never empty in a valid shape.
	terms []needs
	// preferred node affinity, heaviest first.
	preferred []preference
	// requests of the pods, for shapes with preferences; else those of one of its classes.
	requests []int64
	invalid  error
	// volumes are what the pods ask for with their volumes.
	volumes volumes.Constraints
	// demands are what the shape could use of the pools, in stages: a class uses the first whose machines are large
	// enough, and falls back to later ones where limits leave it no room.
	demands []stage
	// touched are the profiles that were looked at to find these, each once: Update numbers profiles again from them.
	touched []touch
}

// touch is a profile, and the demand by which it was found.
type touch struct {
	use
	demand needs
}

type preference struct {
	weight int32
	set    needs
}

// preferring reports whether the pod prefers some nodes.
func preferring(spec *corev1.PodSpec) bool {
	return spec.Affinity != nil && spec.Affinity.NodeAffinity != nil &&
		len(spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution) > 0
}

// newShape reads what matters from a sample pod.
func (m *Model) newShape(sample *corev1.Pod, requests []int64) *shape {
	s := &shape{tolerations: sample.Spec.Tolerations, requests: requests}
	if boundDaemon(sample) && namesNode(&sample.Spec) {
		s.invalid = errBoundDaemon
		return s
	}
	if s.terms, s.invalid = m.placementTerms(&sample.Spec); s.invalid != nil {
		return s
	}
	if len(sample.Spec.Volumes) > 0 {
		if s.volumes, s.invalid = m.volumes.Of(sample); s.invalid != nil {
			return s
		}
		for _, list := range [][]requirements.Set{s.volumes.Alternatives, s.volumes.OnNodes} {
			for _, a := range list {
				m.ask(needsOf(a))
			}
		}
	}
	s.preferred = m.preferences(&sample.Spec)
	for _, term := range s.terms {
		m.ask(term)
	}
	s.demands = m.stagesOf(s)
	return s
}

// requiredTerms are the alternatives a pod's node selector and required node affinity leave. A term without
// expressions and fields matches nothing, as in Kubernetes; without any affinity there is one alternative.
func (m *Model) requiredTerms(spec *corev1.PodSpec) ([]needs, error) {
	if errs := requirements.ValidatePodSpec(spec, m.podVocab, field.NewPath("spec")); len(errs) > 0 {
		return nil, errs.ToAggregate()
	}
	selector := needsOf(m.vocab.FromLabels(spec.NodeSelector))
	affinity := spec.Affinity
	if affinity == nil || affinity.NodeAffinity == nil || affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return []needs{selector}, nil
	}
	var terms []needs
	var contradiction error
	list := affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	for i := range list {
		if len(list[i].MatchExpressions)+len(list[i].MatchFields) == 0 {
			continue
		}
		set, err := m.termSet(list[i].MatchExpressions)
		if err != nil {
			contradiction = fmt.Errorf("required node affinity term %d: %w", i, err)
			continue
		}
		term := selector.and(set).and(fieldNeeds(list[i].MatchFields))
		if key := term.conflict(); key != "" {
			contradiction = fmt.Errorf("required node affinity term %d, with the node selector, asks for what excludes each other at label %s", i, key)
			continue
		}
		terms = append(terms, term)
	}
	if len(terms) == 0 {
		if contradiction != nil {
			return nil, contradiction
		}
		return nil, errors.New("required node affinity has no term with expressions: it matches no node")
	}
	return terms, nil
}

// termSet reads the expressions of one node affinity term.
func (m *Model) termSet(expressions []corev1.NodeSelectorRequirement) (needs, error) {
	list := make([]requirements.Requirement, 0, len(expressions))
	for i := range expressions {
		r, err := m.vocab.ParseNodeSelectorRequirement(expressions[i])
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return newNeeds(list...), nil
}

// preferences are the preferred node affinity terms, heaviest first, then in the pod's order. They are wishes: one
// that can't be read is left out.
func (m *Model) preferences(spec *corev1.PodSpec) []preference {
	if spec.Affinity == nil || spec.Affinity.NodeAffinity == nil {
		return nil
	}
	var out []preference
	for _, p := range spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
		if len(p.Preference.MatchFields) > 0 || len(p.Preference.MatchExpressions) == 0 {
			continue
		}
		if set, err := m.termSet(p.Preference.MatchExpressions); err == nil {
			out = append(out, preference{p.Weight, set})
			m.ask(set)
		}
	}
	slices.SortStableFunc(out, func(a, b preference) int { return cmp.Compare(b.weight, a.weight) })
	return out
}
