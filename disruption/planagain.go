package disruption

import (
	"context"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/internal/consolidate/global"
)

// Memory is what a plan of Global keeps for the next one: its input, its commands, and why each other node stays. It is plain data that is
// never changed: pass it to PlanAgain of the same Global with a later Fleet, and keep what that returns instead. A nil or zero Memory
// remembers nothing. You may drop one at any time, and several goroutines may use it. Its size depends on the last fleet and plan, not on
// the number of plans: an entry for each node, the plan, and the objects of the fleet's snapshot, which it keeps alive. As
// scheduling.Snapshot requires, objects must not be changed after they were passed in.
type Memory struct {
	memory *global.Memory
}

// PlanAgain plans like Plan, with the memory of an earlier plan, and returns the memory for the next one. If nothing relevant has changed,
// commands and verdicts are the earlier ones, with the present times and new IDs. After a small change, commands with unchanged
// nodes are kept if they are still valid, worth their cost, and within budgets. The reasons why other nodes stay are kept too.
// Changed nodes, and nodes that depended on them, are examined again. After a large change, for small fleets, after a change of
// prices, pools or options, from time to time, and with a nil Memory, everything is planned as by Plan. Plans with a Memory may
// differ from plans without, but are not worth notably less. The same fleet, options and memory give the same plan, byte for
// byte. The memory passed in is not changed. With an error no memory is returned: the earlier one stays valid.
func (g *Global) PlanAgain(ctx context.Context, fleet *Fleet, m *Memory) (*Plan, *Memory, error) {
	if ctx == nil {
		return nil, nil, option.Missing("Global.PlanAgain", "the context")
	}
	f := fleet.seen()
	if f == nil {
		return nil, nil, option.Missing("Global.PlanAgain", "a fleet that Survey made")
	}
	var before *global.Memory
	if m != nil {
		before = m.memory
	}
	options, err := g.options()
	if err != nil {
		return nil, nil, err
	}
	plan, next, err := options.PlanAgain(ctx, f, before)
	if err != nil {
		return nil, nil, err
	}
	return (*Plan)(plan), &Memory{next}, nil
}
