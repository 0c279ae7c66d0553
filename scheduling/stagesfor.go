package scheduling

import (
	"slices"

	"github.com/drawknife/drawknife/internal/engine/podclass"
)

// stagesFor are the class's stages under the trial's options: with preferences ignored, or too dear to keep, those that
// keep them are left out.
func (t *Trial) stagesFor(c *podclass.Class) []int32 {
	if len(c.Stages) < 2 || t.m.c.Stages[c.Stages[0]].Kept == 0 {
		return c.Stages
	}
	if t.options.Preferences != PreferencesIgnore {
		if c.Costs == nil {
			return c.Stages
		}
		plain := c.PlainCost()
		for i, st := range c.Stages {
			s := &t.m.c.Stages[st]
			if s.Kept == 0 || c.Costs[i] <= plain*(1+t.options.Premium()*s.Kept) {
				return c.Stages[i:]
			}
		}
	}
	at := slices.IndexFunc(c.Stages, func(st int32) bool { return t.m.c.Stages[st].Kept == 0 })
	if at < 0 {
		return c.Stages // nothing but preferred nodes is left
	}
	return c.Stages[at:]
}
