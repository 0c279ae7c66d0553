package scheduling

import (
	"slices"

	"github.com/drawknife/drawknife/api/requirements"
)

// stage is one way to give pods a new machine: profiles of one or several pools that count as equally good, so that
// price decides between them.
type stage struct {
	uses []use
	// gaveUp says what the stage does without: preferences, or the aversion to PreferNoSchedule taints.
	gaveUp sacrifice
}

// use is a profile of a pool.
type use struct {
	pool, profile int32
}

// sacrifice is what a placement does without; each value includes the ones before it.
type sacrifice uint8

const (
	sacrificeNothing     sacrifice = iota
	sacrificePreferences           // preferred node affinity is not kept
	sacrificeSoftTaints            // a PreferNoSchedule taint is not tolerated
)

// stagesOf lists a shape's stages: first with preferences kept, then without, then on pools with PreferNoSchedule
// taints (SCH-070 to SCH-078); within each, pools by weight, those of equal weight together (SCH-168).
func (m *Model) stagesOf(s *shape) []stage {
	var out []stage
	wanted := m.keepable(s)
	levels := []struct {
		terms  []requirements.Set
		soft   bool
		gaveUp sacrifice
	}{
		{wanted, false, sacrificeNothing},
		{s.terms, false, sacrificePreferences},
		{s.terms, true, sacrificeSoftTaints},
	}
	for i, level := range levels {
		if i == 1 && len(s.preferred) == 0 {
			continue
		}
		for lo := 0; lo < len(m.pools); {
			hi := lo
			st := stage{gaveUp: level.gaveUp}
			for ; hi < len(m.pools) && m.pools[hi].weight == m.pools[lo].weight; hi++ {
				p := m.pools[hi]
				if p.table == nil || untolerated(s.tolerations, p.taints, level.soft) != nil {
					continue
				}
				if level.soft && untolerated(s.tolerations, p.taints, false) == nil {
					continue // an earlier level has it
				}
				for _, term := range level.terms {
					if n, _ := m.profileOf(p, term); n >= 0 {
						if u := (use{int32(hi), int32(n)}); !slices.Contains(st.uses, u) {
							st.uses = append(st.uses, u)
						}
					}
				}
			}
			if len(st.uses) > 0 {
				out = append(out, st)
			}
			lo = hi
		}
	}
	return out
}

// keepable narrows the shape's alternatives by as many preferences as can be kept together, heaviest first: one that
// leaves no machine beside those already kept is passed over.
func (m *Model) keepable(s *shape) []requirements.Set {
	kept := s.terms
	for _, p := range s.preferred {
		var with []requirements.Set
		for _, term := range kept {
			if narrowed := term.Merge(p.set); m.anyMachine(s, narrowed) {
				with = append(with, narrowed)
			}
		}
		if len(with) > 0 {
			kept = with
		}
	}
	return kept
}

func (m *Model) anyMachine(s *shape, demand requirements.Set) bool {
	for _, p := range m.pools {
		if p.table == nil || untolerated(s.tolerations, p.taints, false) != nil {
			continue
		}
		if n, _ := m.profileOf(p, demand); n >= 0 {
			return true
		}
	}
	return false
}

// internStage gives equal stages one number.
func (m *Model) internStage(s stage) int32 {
	text := make([]byte, 0, 8*len(s.uses)+1)
	text = append(text, byte(s.gaveUp))
	for _, u := range s.uses {
		text = append(text, byte(u.pool), byte(u.pool>>8), byte(u.pool>>16), byte(u.pool>>24),
			byte(u.profile), byte(u.profile>>8), byte(u.profile>>16), byte(u.profile>>24))
	}
	if n, ok := m.stageOf[string(text)]; ok {
		return n
	}
	n := int32(len(m.stages))
	m.stages = append(m.stages, s)
	m.stageOf[string(text)] = n
	return n
}

// usableStages are those of the shape's stages that have a machine large enough for one pod.
func (m *Model) usableStages(s *shape, requests []int64) []int32 {
	var out []int32
	for _, st := range s.demands {
		if m.roomy(st, requests) {
			out = append(out, m.internStage(st))
		}
	}
	return out
}

func (m *Model) roomy(st stage, requests []int64) bool {
	dims := m.resources.len()
	for _, u := range st.uses {
		p := m.pools[u.pool]
		for r := range p.profiles[u.profile].rows.members {
			if fits(requests, p.table.allocOf(r, dims)) {
				return true
			}
		}
	}
	return false
}
