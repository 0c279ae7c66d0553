package scheduling

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/topology"
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
	topology *topology.Groups
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
	terms []match.Needs
	// preferred node affinity, heaviest first.
	preferred []match.Preference
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
	demand match.Needs
}

// newShape reads what matters from a sample pod.
func (m *Model) newShape(sample *corev1.Pod, requests []int64) *shape {
	s := &shape{tolerations: sample.Spec.Tolerations, requests: requests}
	if match.BoundDaemon(sample) && match.NamesNode(&sample.Spec) {
		s.invalid = match.ErrBoundDaemon
		return s
	}
	if s.terms, s.invalid = m.terms.Placement(&sample.Spec); s.invalid != nil {
		return s
	}
	if len(sample.Spec.Volumes) > 0 {
		if s.volumes, s.invalid = m.volumes.Of(sample); s.invalid != nil {
			return s
		}
		for _, list := range [][]requirements.Set{s.volumes.Alternatives, s.volumes.OnNodes} {
			for _, a := range list {
				m.ask(match.Of(a))
			}
		}
	}
	s.preferred = m.terms.Preferred(&sample.Spec)
	for i := range s.preferred {
		m.ask(s.preferred[i].Set)
	}
	for _, term := range s.terms {
		m.ask(term)
	}
	s.demands = m.stagesOf(s)
	return s
}
