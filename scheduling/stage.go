package scheduling

import (
	"math"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/match"
)

// stage is one way to give pods a new machine: profiles of one or several pools that count as equally good, so that
// price decides between them.
type stage struct {
	uses []use
	// gaveUp says what the stage does without: preferences, or the aversion to PreferNoSchedule taints.
	gaveUp sacrifice
	// kept is the share, by weight, of the preferences that the stage keeps.
	kept float64
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

// stagesOf lists a shape's stages: first with preferences kept, as many as can be kept together, then with fewer and
// fewer of the lighter ones, then with none, then on pools with PreferNoSchedule taints; within each, pools by
// weight, those of equal weight together. Each alternative of the required affinity is tried with each level of
// preferences, so that no satisfiable pod is lost.
func (m *Model) stagesOf(s *shape) []stage {
	var out []stage
	for _, level := range m.levels(s) {
		for lo := 0; lo < len(m.pools); {
			hi := lo
			st := stage{gaveUp: level.gaveUp, kept: level.kept}
			for ; hi < len(m.pools) && m.pools[hi].Weight == m.pools[lo].Weight; hi++ {
				st.uses = m.usesOf(st.uses, int32(hi), s, level)
			}
			if len(st.uses) > 0 {
				out = append(out, st)
			}
			lo = hi
		}
	}
	return out
}

// level is a set of demands that count as equally good.
type level struct {
	terms  []match.Needs
	gaveUp sacrifice
	kept   float64
}

// maxLevels bounds how many levels of kept preferences are told apart.
const maxLevels = 4

func (m *Model) levels(s *shape) []level {
	var kept []level
	total, sum := int32(0), int32(0)
	for _, p := range s.preferred {
		total += p.Weight
	}
	place := s.placeTerms()
	terms := place
	for _, p := range s.preferred {
		var with []match.Needs
		for _, term := range terms {
			if narrowed := term.And(p.Set); narrowed.Conflict() == "" && m.anyMachine(s, narrowed) {
				with = append(with, narrowed)
			}
		}
		if len(with) == 0 {
			continue // leaves no machine beside the heavier ones
		}
		terms, sum = with, sum+p.Weight
		kept = append(kept, level{terms, sacrificeNothing, float64(sum) / float64(max(total, 1))})
	}
	slices.Reverse(kept)
	out := kept[:min(len(kept), maxLevels)]
	if len(kept) == 0 || len(s.preferred) == 0 {
		out = nil
	}
	gaveUp := sacrificeNothing
	if len(s.preferred) > 0 {
		gaveUp = sacrificePreferences
	}
	return append(out, level{place, gaveUp, 0}, level{place, sacrificeSoftTaints, 0})
}

// usesOf adds the pool's profiles for the level's alternatives.
func (m *Model) usesOf(uses []use, pool int32, s *shape, l level) []use {
	p := m.pools[pool]
	soft := l.gaveUp == sacrificeSoftTaints
	if p.Table == nil || match.Untolerated(s.tolerations, p.Taints, soft) != nil {
		return uses
	}
	if soft && match.Untolerated(s.tolerations, p.Taints, false) == nil {
		return uses // an earlier level has it
	}
	for _, term := range l.terms {
		if n := p.ProfileOf(term); n >= 0 {
			u := use{pool, int32(n)}
			s.touch(u, term)
			if !slices.Contains(uses, u) {
				uses = append(uses, u)
			}
		}
	}
	return uses
}

func (m *Model) anyMachine(s *shape, demand match.Needs) bool {
	for i, p := range m.pools {
		if p.Table == nil || match.Untolerated(s.tolerations, p.Taints, false) != nil {
			continue
		}
		n := p.ProfileOf(demand)
		if n < 0 {
			continue
		}
		s.touch(use{int32(i), int32(n)}, demand)
		if p.Holds(n, s.requests) {
			return true
		}
	}
	return false
}

// touch notes that the profile was looked at.
func (s *shape) touch(u use, demand match.Needs) {
	if !slices.ContainsFunc(s.touched, func(t touch) bool { return t.use == u }) {
		s.touched = append(s.touched, touch{u, demand})
	}
}

// internStage gives equal stages one number.
func (m *Model) internStage(s stage) int32 {
	text := make([]byte, 0, 8*len(s.uses)+2)
	text = append(text, byte(s.gaveUp), byte(s.kept*100))
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
	return slices.ContainsFunc(st.uses, func(u use) bool { return m.pools[u.pool].Holds(int(u.profile), requests) })
}

// stagesFor are the class's stages under the trial's options: with preferences ignored, or too dear to keep, those that
// keep them are left out.
func (t *Trial) stagesFor(c *class) []int32 {
	if len(c.stages) < 2 || t.m.stages[c.stages[0]].kept == 0 {
		return c.stages
	}
	if t.options.Preferences != PreferencesIgnore {
		if c.costs == nil {
			return c.stages
		}
		plain := c.plainCost()
		for i, st := range c.stages {
			s := &t.m.stages[st]
			if s.kept == 0 || c.costs[i] <= plain*(1+t.options.premium()*s.kept) {
				return c.stages[i:]
			}
		}
	}
	at := slices.IndexFunc(c.stages, func(st int32) bool { return t.m.stages[st].kept == 0 })
	if at < 0 {
		return c.stages // nothing but preferred machines is left
	}
	return c.stages[at:]
}

// plainCost is the least a pod of the class could cost with no preference kept.
func (c *class) plainCost() float64 {
	return slices.Min(c.costs)
}

// costStages estimates what a pod of the class costs at each of its stages: its share of the machine where that is
// least.
func (m *Model) costStages(c *class) {
	if len(c.stages) < 2 || m.stages[c.stages[0]].kept == 0 {
		return
	}
	c.costs = make([]float64, len(c.stages))
	dims := m.resources.Len()
	for i, st := range c.stages {
		c.costs[i] = math.Inf(1)
		for _, u := range m.stages[st].uses {
			p := m.pools[u.pool]
			f := &p.Profiles[u.profile]
			for r := range f.Rows.Members {
				share := largestShare(c.requests, p.Table.AllocOf(r, dims))
				if share > 1 {
					continue
				}
				if slot, price := p.Table.Catalog.Cheapest(p.Table.Rows[r].Variant, p.Table.Rows[r].Slots, f.Slots); slot >= 0 {
					c.costs[i] = min(c.costs[i], float64(price)*share)
				}
			}
		}
	}
}
