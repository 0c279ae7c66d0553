package podclass

import (
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/volumes"
)

// Shape contains the demands of pods on a node, apart from resources. Classes that differ only in requests share one shape.
type Shape struct {
	Tolerations []corev1.Toleration
	// Terms are the alternatives of node selector and required node affinity. It is never empty in a valid shape.
	Terms []match.Needs
	// Preferred is the preferred node affinity, the preference with the highest weight first.
	Preferred []match.Preference
	// requests are the requests of the pods if the shape has preferences. If the shape has no preferences, they are the requests of one of
	// its classes.
	requests []int64
	Invalid  error
	// Volumes are the demands of the pods' volumes.
	Volumes volumes.Constraints
	// Demands are the nodes of pools that the shape could use, as stages. A class uses the first stage that has large enough nodes. If the
	// limits of pools allow no such nodes, the class uses later stages.
	Demands []Stage
	// touched are the distinct profiles that were checked to find Demands. Update uses them to number profiles again.
	touched []touch
}

// touch is a profile with the demand of a class for which the profile was found.
type touch struct {
	Use
	demand match.Needs
}

// NewShape reads the demands of a sample pod.
func (r *Reader) NewShape(sample *corev1.Pod, requests []int64) *Shape {
	s := &Shape{Tolerations: sample.Spec.Tolerations, requests: requests}
	if match.BoundDaemon(sample) && match.NamesNode(&sample.Spec) {
		s.Invalid = match.ErrBoundDaemon
		return s
	}
	if s.Terms, s.Invalid = r.Terms.Placement(&sample.Spec); s.Invalid != nil {
		return s
	}
	if r.Devices != nil && len(sample.Spec.ResourceClaims) > 0 {
		s.Tolerations = r.Devices.Tolerations(sample)
		if s.Terms, s.Invalid = r.pinned(s.Terms, r.Devices.Pins(sample)); s.Invalid != nil {
			return s
		}
	}
	if len(sample.Spec.Volumes) > 0 {
		if s.Volumes, s.Invalid = r.Volumes.Of(sample); s.Invalid != nil {
			return s
		}
		for _, list := range [][]requirements.Set{s.Volumes.Alternatives, s.Volumes.OnNodes} {
			for _, a := range list {
				r.ask(match.Of(a))
			}
		}
	}
	s.Preferred = r.Terms.Preferred(&sample.Spec)
	for i := range s.Preferred {
		r.ask(s.Preferred[i].Set)
	}
	for _, term := range s.Terms {
		r.ask(term)
	}
	s.Demands = r.stagesOf(s)
	return s
}

// pinned returns the terms, restricted to nodes that all of the selectors select.
func (r *Reader) pinned(terms []match.Needs, selectors []*corev1.NodeSelector) ([]match.Needs, error) {
	for _, selector := range selectors {
		where, err := r.Terms.Required(&corev1.PodSpec{Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: selector,
		}}})
		if err != nil {
			return nil, fmt.Errorf("cannot read the node selectors of its allocated devices: %w", err)
		}
		var both []match.Needs
		for _, term := range terms {
			for _, at := range where {
				if one := term.And(at); one.Conflict() == "" {
					both = append(both, one)
				}
			}
		}
		if len(both) == 0 {
			return nil, errPinnedElsewhere
		}
		terms = both
	}
	return terms, nil
}

var errPinnedElsewhere = errors.New("its node selector excludes all nodes where its devices are allocated or where pods that share its claims may run")

// KeepShape converts a shape of an earlier reader to a shape of this reader. requests are the requests of the shape's first class.
func (r *Reader) KeepShape(s *Shape, requests []int64, profiles *ProfileNumbers) *Shape {
	own := *s
	own.requests = requests
	own.touched, own.Demands = nil, nil
	for _, t := range s.touched {
		own.touched = append(own.touched, touch{profiles.touch(t), t.demand})
	}
	for _, st := range s.Demands {
		own.Demands = append(own.Demands, profiles.Stage(st))
	}
	if own.Invalid != nil {
		return &own
	}
	for _, term := range own.Terms {
		r.ask(term)
	}
	for _, p := range own.Preferred {
		r.ask(p.Set)
	}
	for _, a := range own.Volumes.Alternatives {
		r.ask(match.Of(a))
	}
	for _, a := range own.Volumes.OnNodes {
		r.ask(match.Of(a))
	}
	return &own
}

// placeTerms returns the shape's alternatives for a new node: each alternative of the pods, combined with each alternative of their
// volumes. Terms stays unchanged: topology rules use the pods' own demands.
func (s *Shape) placeTerms() []match.Needs {
	var out []match.Needs
	for _, term := range s.Terms {
		term = term.OnNewNodes()
		if s.Volumes.Alternatives == nil {
			out = append(out, term)
		}
		for _, a := range s.Volumes.Alternatives {
			if both := term.And(match.Of(a)); both.Conflict() == "" {
				out = append(out, both)
			}
		}
	}
	return out
}

// VolumesOn reports whether nodes with these labels can have the shape's volumes.
func (s *Shape) VolumesOn(labels requirements.Set) bool {
	v := &s.Volumes
	return v.NoNode == "" && (v.OnNodes == nil || slices.ContainsFunc(v.OnNodes, func(a requirements.Set) bool { return match.Of(a).MetBy(labels) }))
}

// touch records that the profile u was examined for the demand.
func (s *Shape) touch(u Use, demand match.Needs) {
	if !slices.ContainsFunc(s.touched, func(t touch) bool { return t.Use == u }) {
		s.touched = append(s.touched, touch{u, demand})
	}
}

// OptsOut reports whether all alternatives of the shape require that the label is absent.
func (s *Shape) OptsOut(label string) bool {
	for _, term := range s.Terms {
		absent := false
		for _, r := range term {
			absent = absent || r.Key() == label && r.Operator() == requirements.OpDoesNotExist
		}
		if !absent {
			return false
		}
	}
	return true
}
