package trial

import (
	"slices"

	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// StagesFor returns the class's stages under the trial's options. It leaves out stages that keep preferences if preferences are ignored or
// are too expensive to keep.
func (x *Places) StagesFor(c *podclass.Class) []int32 {
	if len(c.Stages) < 2 || x.M.Stages[c.Stages[0]].Kept == 0 {
		return c.Stages
	}
	if x.Options.Preferences != planning.PreferencesIgnore {
		if c.Costs == nil {
			return c.Stages
		}
		plain := c.PlainCost()
		for i, st := range c.Stages {
			s := &x.M.Stages[st]
			if s.Kept == 0 || c.Costs[i] <= plain*(1+x.Options.Premium()*s.Kept) {
				return c.Stages[i:]
			}
		}
	}
	at := slices.IndexFunc(c.Stages, func(st int32) bool { return x.M.Stages[st].Kept == 0 })
	if at < 0 {
		return c.Stages // all stages keep some preference
	}
	return c.Stages[at:]
}
