package disruption

import (
	"context"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/internal/consolidate/global"
)

// Memory is what a plan of Global leaves for the next one: what it was made of, its commands, and why each other node stays. It
// is plain data that nobody changes: hand it to PlanAgain of the same Global with a later Fleet, and keep what that returns in
// its stead. A nil Memory and a zero one remember nothing; one may be forgotten at any time, and may be used by several
// goroutines. Its size goes by the last fleet and its plan and not by how many plans there were: an entry for each node, the
// plan itself, and the objects of the fleet's snapshot, which it holds on to. It relies on it that, as scheduling.Snapshot asks,
// objects are not changed after they were handed in.
type Memory struct {
	memory *global.Memory
}

// PlanAgain is Plan with the memory of an earlier plan. It returns the memory for the next one as well. While nothing has changed that
// matters, commands and verdicts are those of the plan before, with the times and IDs of now. After a small change, commands
// whose nodes are as they were are kept, if they are still sound, sure to pay, and within budgets, and so is what keeps other
// nodes; nodes that have changed, and those that had to do with them, are looked at again. After a large one, for small fleets,
// after a change of prices, pools or options, and now and then, all is planned from nothing, as by Plan; so it is with a nil
// Memory. Plans with a Memory may differ from plans without, and are not worth notably less; the same fleet, options and
// memory give the same plan, byte for byte. The memory that is handed in is not changed. An error comes with no memory: the one
// before is still good.
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
