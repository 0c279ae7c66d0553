package scheduling

import (
	"slices"
	"sync/atomic"

	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/podclass"
)

// acceptance remembers which nodes take which pods, resources aside. It is safe for concurrent use.
type acceptance struct {
	groups []nodeGroup
	shapes []*podclass.Shape
	// cells are indexed [shape*groups+group].
	cells []atomic.Uint32
}

// newAcceptance knows nothing yet.
func newAcceptance(groups []nodeGroup, shapes []*podclass.Shape) *acceptance {
	return &acceptance{groups: groups, shapes: shapes, cells: make([]atomic.Uint32, len(shapes)*len(groups))}
}

// takeOver learns what another knows of the same groups; shapeWas is where each shape is there, or -1.
func (a *acceptance) takeOver(was *acceptance, shapeWas []int32) {
	for shape, old := range shapeWas {
		if old < 0 {
			continue
		}
		for g := range a.groups {
			a.cells[shape*len(a.groups)+g].Store(was.cells[int(old)*len(a.groups)+g].Load())
		}
	}
}

// How machines of a group take pods of a shape, resources aside.
const (
	fitUnknown uint32 = iota
	fitNever
	fitGivingUp // a preference of the pod, or the aversion to a PreferNoSchedule taint, would be given up
	fitFully
)

// accepts reports whether machines of the group take pods of the shape, resources aside.
func (a *acceptance) accepts(group, shape int32) bool { return a.fitOf(group, shape) >= fitGivingUp }

// fitOf is one of the fit constants. The answer is computed once.
func (a *acceptance) fitOf(group, shape int32) uint32 {
	cell := &a.cells[int(shape)*len(a.groups)+int(group)]
	if known := cell.Load(); known != fitUnknown {
		return known
	}
	g, s := &a.groups[group], a.shapes[shape]
	fit := fitFully
	switch {
	case s.Invalid != nil, match.Untolerated(s.Tolerations, g.taints, true) != nil,
		!match.AnyMetBy(s.Terms, g.labels), !s.VolumesOn(g.labels):
		fit = fitNever
	case match.Untolerated(s.Tolerations, g.taints, false) != nil,
		slices.ContainsFunc(s.Preferred, func(p match.Preference) bool { return !p.Set.MetBy(g.labels) }):
		fit = fitGivingUp
	}
	cell.Store(fit)
	return fit
}
