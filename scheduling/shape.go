package scheduling

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/volumes"
)

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
func (r *reader) newShape(sample *corev1.Pod, requests []int64) *shape {
	s := &shape{tolerations: sample.Spec.Tolerations, requests: requests}
	if match.BoundDaemon(sample) && match.NamesNode(&sample.Spec) {
		s.invalid = match.ErrBoundDaemon
		return s
	}
	if s.terms, s.invalid = r.terms.Placement(&sample.Spec); s.invalid != nil {
		return s
	}
	if len(sample.Spec.Volumes) > 0 {
		if s.volumes, s.invalid = r.volumes.Of(sample); s.invalid != nil {
			return s
		}
		for _, list := range [][]requirements.Set{s.volumes.Alternatives, s.volumes.OnNodes} {
			for _, a := range list {
				r.ask(match.Of(a))
			}
		}
	}
	s.preferred = r.terms.Preferred(&sample.Spec)
	for i := range s.preferred {
		r.ask(s.preferred[i].Set)
	}
	for _, term := range s.terms {
		r.ask(term)
	}
	s.demands = r.stagesOf(s)
	return s
}

// keepShape is the shape of an earlier reader for this one. Its first class has the requests.
func (r *reader) keepShape(s *shape, requests []int64, profiles *profileNumbers) *shape {
	own := *s
	own.requests = requests
	own.touched, own.demands = nil, nil
	for _, t := range s.touched {
		own.touched = append(own.touched, touch{profiles.touch(t), t.demand})
	}
	for _, st := range s.demands {
		own.demands = append(own.demands, profiles.stage(st))
	}
	if own.invalid != nil {
		return &own
	}
	for _, term := range own.terms {
		r.ask(term)
	}
	for _, p := range own.preferred {
		r.ask(p.Set)
	}
	for _, a := range own.volumes.Alternatives {
		r.ask(match.Of(a))
	}
	for _, a := range own.volumes.OnNodes {
		r.ask(match.Of(a))
	}
	return &own
}

// placeTerms are the shape's alternatives for a new machine: what the pods state, with each alternative that their
// volumes leave. The pods' own demands, which topology rules look at, stay as they are.
func (s *shape) placeTerms() []match.Needs {
	var out []match.Needs
	for _, term := range s.terms {
		term = term.OnNewNodes()
		if s.volumes.Alternatives == nil {
			out = append(out, term)
		}
		for _, a := range s.volumes.Alternatives {
			if both := term.And(match.Of(a)); both.Conflict() == "" {
				out = append(out, both)
			}
		}
	}
	return out
}

// volumesOn reports whether nodes with these labels can have the shape's volumes.
func (s *shape) volumesOn(labels requirements.Set) bool {
	v := &s.volumes
	return v.NoNode == "" && (v.OnNodes == nil || slices.ContainsFunc(v.OnNodes, func(a requirements.Set) bool { return match.Of(a).MetBy(labels) }))
}

// touch notes that the profile was looked at.
func (s *shape) touch(u use, demand match.Needs) {
	if !slices.ContainsFunc(s.touched, func(t touch) bool { return t.use == u }) {
		s.touched = append(s.touched, touch{u, demand})
	}
}

// optsOut reports whether pods of the shape ask, in each alternative, that the label be absent.
func (s *shape) optsOut(label string) bool {
	return !slices.ContainsFunc(s.terms, func(n match.Needs) bool {
		return !slices.ContainsFunc(n, func(r requirements.Requirement) bool {
			return r.Key() == label && r.Operator() == requirements.OpDoesNotExist
		})
	})
}
