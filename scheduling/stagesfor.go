package scheduling

import (
	"slices"
)

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
