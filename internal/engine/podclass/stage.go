package podclass

import (
	"slices"

	"github.com/drawknife/drawknife/internal/engine/match"
)

// Stage is one way to give pods a new node: profiles of one or several pools that are equally good, so that they compete by price.
type Stage struct {
	Uses []Use
	// gaveUp says whether this stage gives up preferences, or also uses nodes with PreferNoSchedule taints that the pods don't tolerate.
	gaveUp sacrifice
	// Kept is the share of preferences, by weight, that the stage keeps.
	Kept float64
}

// Use is a profile of one pool.
type Use struct {
	Pool, Profile int32
}

// sacrifice says what a placement does not keep. Each value includes the values before it.
type sacrifice uint8

const (
	sacrificeNothing     sacrifice = iota
	sacrificePreferences           // the placement does not keep all preferred node affinity
	sacrificeSoftTaints            // the pods also do not tolerate a PreferNoSchedule taint of the node
)

// stagesOf lists a shape's stages. The first stages keep as many preferences as can be kept together. The next stages give up preferences
// of lower weight, and then all preferences. The last stages use pools with PreferNoSchedule taints that the pods don't tolerate. Within
// each of these levels, pools are sorted by weight, and pools of equal weight form one stage. Each alternative of the required affinity is
// tried with each level of preferences, so that every pod that could have a node gets a stage.
func (r *Reader) stagesOf(s *Shape) []Stage {
	var out []Stage
	for _, level := range r.levels(s) {
		for lo := 0; lo < len(r.Pools); {
			hi := lo
			st := Stage{gaveUp: level.gaveUp, Kept: level.kept}
			for ; hi < len(r.Pools) && r.Pools[hi].Weight == r.Pools[lo].Weight; hi++ {
				st.Uses = r.usesOf(st.Uses, int32(hi), s, level)
			}
			if len(st.Uses) > 0 {
				out = append(out, st)
			}
			lo = hi
		}
	}
	return out
}

// level is a set of alternative demands on a node that keep the same preferences, so that the planner prefers none of them.
type level struct {
	terms  []match.Needs
	gaveUp sacrifice
	kept   float64
}

// maxLevels is the largest number of levels of kept preferences.
const maxLevels = 4

func (r *Reader) levels(s *Shape) []level {
	var kept []level
	total, sum := int32(0), int32(0)
	for _, p := range s.Preferred {
		total += p.Weight
	}
	place := s.placeTerms()
	terms := place
	for _, p := range s.Preferred {
		var with []match.Needs
		for _, term := range terms {
			if narrowed := term.And(p.Set); narrowed.Conflict() == "" && r.anyNode(s, narrowed) {
				with = append(with, narrowed)
			}
		}
		if len(with) == 0 {
			continue // no node meets this preference together with the preferences of higher weight
		}
		terms, sum = with, sum+p.Weight
		kept = append(kept, level{terms, sacrificeNothing, float64(sum) / float64(max(total, 1))})
	}
	slices.Reverse(kept)
	out := kept[:min(len(kept), maxLevels)]
	if len(kept) == 0 || len(s.Preferred) == 0 {
		out = nil
	}
	gaveUp := sacrificeNothing
	if len(s.Preferred) > 0 {
		gaveUp = sacrificePreferences
	}
	return append(out, level{place, gaveUp, 0}, level{place, sacrificeSoftTaints, 0})
}

// usesOf adds the pool's profiles for the alternatives of the level to uses, if the pods may use the pool at this level in spite of its
// taints.
func (r *Reader) usesOf(uses []Use, pool int32, s *Shape, l level) []Use {
	p := r.Pools[pool]
	soft := l.gaveUp == sacrificeSoftTaints
	if p.Table == nil || match.Untolerated(s.Tolerations, p.Taints, soft) != nil {
		return uses
	}
	if soft && match.Untolerated(s.Tolerations, p.Taints, false) == nil {
		return uses // the pods tolerate these taints, so an earlier level uses the pool
	}
	for _, term := range l.terms {
		if n := p.ProfileOf(term); n >= 0 {
			u := Use{pool, int32(n)}
			s.touch(u, term)
			if !slices.Contains(uses, u) {
				uses = append(uses, u)
			}
		}
	}
	return uses
}

func (r *Reader) anyNode(s *Shape, demand match.Needs) bool {
	for i, p := range r.Pools {
		if p.Table == nil || match.Untolerated(s.Tolerations, p.Taints, false) != nil {
			continue
		}
		n := p.ProfileOf(demand)
		if n < 0 {
			continue
		}
		s.touch(Use{int32(i), int32(n)}, demand)
		if p.Holds(n, s.requests) {
			return true
		}
	}
	return false
}
