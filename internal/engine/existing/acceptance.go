package existing

import (
	"slices"
	"sync/atomic"

	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/podclass"
)

// Acceptance caches which groups of nodes accept which shapes of pods, without regard to resources. It is safe for concurrent use.
type Acceptance struct {
	groups []Group
	shapes []*podclass.Shape
	// cells has the cached result for each pair. Its index is shape*len(groups)+group.
	cells []atomic.Uint32
}

// NewAcceptance returns an empty cache.
func NewAcceptance(groups []Group, shapes []*podclass.Shape) *Acceptance {
	return &Acceptance{groups: groups, shapes: shapes, cells: make([]atomic.Uint32, len(shapes)*len(groups))}
}

// TakeOver copies results from an older Acceptance with the same groups. shapeWas has, for each shape, its number in the older Acceptance,
// or -1 if the older Acceptance does not have the shape.
func (a *Acceptance) TakeOver(was *Acceptance, shapeWas []int32) {
	for shape, old := range shapeWas {
		if old < 0 {
			continue
		}
		for g := range a.groups {
			a.cells[shape*len(a.groups)+g].Store(was.cells[int(old)*len(a.groups)+g].Load())
		}
	}
}

// These fit constants say whether, and how, nodes of a group accept pods of a shape, without regard to resources.
const (
	fitUnknown uint32 = iota
	fitNever
	FitGivingUp // the nodes accept the pods only if a preference or a PreferNoSchedule taint is ignored
	FitFully
)

// Accepts reports whether nodes of the group accept pods of the shape, without regard to resources.
func (a *Acceptance) Accepts(group, shape int32) bool { return a.FitOf(group, shape) >= FitGivingUp }

// FitOf returns one of the fit constants for the group and the shape. It caches the result.
func (a *Acceptance) FitOf(group, shape int32) uint32 {
	cell := &a.cells[int(shape)*len(a.groups)+int(group)]
	if known := cell.Load(); known != fitUnknown {
		return known
	}
	g, s := &a.groups[group], a.shapes[shape]
	fit := FitFully
	switch {
	case s.Invalid != nil, match.Untolerated(s.Tolerations, g.Taints, true) != nil,
		!match.AnyMetBy(s.Terms, g.Labels), !s.VolumesOn(g.Labels):
		fit = fitNever
	case match.Untolerated(s.Tolerations, g.Taints, false) != nil,
		slices.ContainsFunc(s.Preferred, func(p match.Preference) bool { return !p.Set.MetBy(g.Labels) }):
		fit = FitGivingUp
	}
	cell.Store(fit)
	return fit
}

// Len returns the number of pairs of shape and group for which the cache has an entry.
func (a *Acceptance) Len() int { return len(a.cells) }
