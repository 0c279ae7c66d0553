package global

import (
	"context"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
)

// maxMerged is how many nodes a command removes at most that launches one at most.
func (g *ground) maxMerged() int {
	if len(g.units) > thoroughFleet {
		return g.MaxMembers
	}
	return g.MaxMerged
}

// bears reports whether one command may be so large.
func (g *ground) bears(size familySize) bool {
	return size.members <= g.MaxMembers && size.bins <= g.MaxBins || size.members <= g.maxMerged() && size.bins <= 1
}

// mergeMany exchanges many nodes for one new one at most, as Reference's multi-node consolidation does: the most of those first that save
// most for what they disturb that have places together, as often as there are such. Where nodes are smaller by far than what could be
// bought, groups of a command's usual size leave something over each time.
func (s *search) mergeMany(ctx context.Context) error {
	for {
		list := s.bySavings()
		most, err := s.mergeable(ctx, list)
		if err != nil || most < 2 {
			return err
		}
		before := len(s.steps)
		if err := s.tryGroup(ctx, list[:most:most], useRoom); err != nil || len(s.steps) == before {
			return err
		}
	}
}

// BySavings are the units that could be consolidated, in the order of Reference.
func (s *search) bySavings() []*unit {
	list := s.free()
	byCandidate := make(map[*decision.Candidate]*unit, len(list))
	order := make([]*decision.Candidate, 0, len(list))
	for _, u := range list {
		if u.planned == nil {
			byCandidate[u.Candidate], order = u, append(order, u.Candidate)
		}
	}
	survey.BySavings(order)
	list = list[:0]
	for _, c := range order {
		list = append(list, byCandidate[c])
	}
	return list
}

// mergeable is how many of the first units can go for one new node at most, found by halves; 0 if no two can.
func (s *search) mergeable(ctx context.Context, list []*unit) (most int, err error) {
	for low, high := 2, min(len(list), s.maxMerged()); low <= high && s.work <= s.most; {
		middle := (low + high) / 2
		group := list[:middle:middle]
		s.work++
		why := s.admissible(decision.MethodMultiNode, group)
		if why == nil {
			mark := s.trial.Mark()
			var st *step
			if st, why, err = s.try(ctx, decision.MethodMultiNode, group, useRoom, mark); err == nil && why == nil && len(st.bins) > 1 {
				why = s.families.full
			}
			if back := s.trial.Rollback(mark); err == nil {
				err = back
			}
			if err != nil {
				return 0, err
			}
		}
		if why == nil {
			most, low = middle, middle+1
		} else {
			high = middle - 1
		}
	}
	return most, nil
}
