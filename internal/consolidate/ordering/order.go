package ordering

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/allowedtypes"
	"github.com/drawknife/drawknife/internal/consolidate/commands"
	"github.com/drawknife/drawknife/internal/consolidate/money"
	"github.com/drawknife/drawknife/internal/consolidate/paying"
	"github.com/drawknife/drawknife/internal/consolidate/reference"
	"github.com/drawknife/drawknife/internal/consolidate/replay"
	"github.com/drawknife/drawknife/internal/consolidate/searchcontext"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
	"github.com/drawknife/drawknife/internal/consolidate/waves"
)

// Settings say which checks a plan must pass. disruption.Global explains each setting. All values are used as given, so 0 does not stand
// for a default.
type Settings struct {
	Robustness, Checks int
	Seed               uint64
	// MaxNewNodes is the largest number of nodes that one command launches.
	MaxNewNodes int
	Reference   *reference.Options
}

// Planner orders commands.
type Planner struct {
	*searchcontext.Context
	paying.Terms
	Settings
	// Types finds the instance types of new nodes.
	Types *allowedtypes.Finder
}

// Found contains the commands that a search has found.
type Found struct {
	Commands []*decision.Command
	// Ruled means that spread rules can make it depend on the order of the commands where pods have places. Unrefined are the commands that
	// the search had found before it refined its result.
	Ruled     bool
	Unrefined []*decision.Command
}

// Order has the commands of a plan in the order of their execution.
type Order struct {
	Commands []*decision.Command
	Waves    []decision.Wave
	// Unsettled are the IDs of commands after which provisioning may need more nodes.
	Unsettled []string
	// Left has the nodes of omitted commands, each with the block that keeps the node from being removed.
	Left map[*searchcontext.Candidate]*decision.Block
}

// Order groups the commands in waves. If spread rules make places depend on the order of the commands, it executes commands on a trial
// until it finds a possible order. If some commands can't be executed in any order, it also tries unrefined commands, either instead of
// these commands or instead of all commands. It takes the result with the highest value. The nodes of omitted commands are left for the
// next plan.
func (p *Planner) Order(ctx context.Context, found Found) (*Order, error) {
	list, out := found.Commands, &Order{Left: map[*searchcontext.Candidate]*decision.Block{}}
	ruled := found.Ruled
	if ruled && len(list) > 0 {
		var err error
		if list, err = p.inOrder(ctx, out, found); err != nil {
			return nil, err
		}
	}
	out.Commands, out.Waves = p.waves().Of(list, ruled)
	if err := p.withstand(ctx, out); err != nil {
		return nil, err
	}
	return out, p.agree(ctx, out)
}

// waves returns the planner of waves for the context's nodes.
func (p *Planner) waves() *waves.Planner {
	return &waves.Planner{Times: p.Times, Evictions: func(node string) []waves.Evictions { return p.ByName[node].Evictions }}
}

// inOrder returns the commands that can be executed one after another, in a possible order. If some commands can't be executed, it instead
// executes unrefined commands (Found.Unrefined) that remove only members of these commands. It also tries all unrefined commands on the
// unchanged fleet, and returns the result with the higher value.
func (p *Planner) inOrder(ctx context.Context, out *Order, found Found) ([]*decision.Command, error) {
	r, err := p.replay(ctx)
	if err != nil {
		return nil, err
	}
	r.Trial.Expect(commands.AllPlaces(found.Commands))
	done, rest, err := r.Arrange(ctx, found.Commands)
	if err != nil || len(rest) == 0 {
		return done, err
	}
	left := membersOf(rest)
	more, _, err := r.Arrange(ctx, slices.DeleteFunc(slices.Clone(found.Unrefined), func(cmd *decision.Command) bool {
		return slices.ContainsFunc(cmd.Members, func(m decision.Member) bool { return !left[m.Node] })
	}))
	if err != nil {
		return nil, err
	}
	done = append(done, more...)
	if len(found.Unrefined) > 0 {
		if r, err = p.replay(ctx); err != nil {
			return nil, err
		}
		before, _, err := r.Arrange(ctx, found.Unrefined)
		if err != nil {
			return nil, err
		}
		if p.worth(before) > p.worth(done) {
			done = before
		}
	}
	p.leaveAllBut(out, found.Commands, membersOf(done))
	return done, nil
}

// replay returns a Replay of the present fleet, with its own trial.
func (p *Planner) replay(ctx context.Context) (*replay.Replay, error) {
	r, err := replay.New(ctx, p.Reference, p.Fleet)
	if err == nil {
		r.Fresh, r.Moves = true, func(c *decision.Candidate) func(*corev1.Pod) bool { return p.ByName[c.Name].Moves }
		r.Known = func(node string) *decision.Candidate {
			if c := p.ByName[node]; c != nil && c.Refused[survey.Consolidating] == nil {
				return c.Candidate
			}
			return nil
		}
	}
	return r, err
}

// membersOf returns the nodes that the commands remove.
func membersOf(list []*decision.Command) map[string]bool {
	out := map[string]bool{}
	for _, cmd := range list {
		for i := range cmd.Members {
			out[cmd.Members[i].Node] = true
		}
	}
	return out
}

// worth returns the total value of the commands, in nano-USD.
func (p *Planner) worth(list []*decision.Command) int64 {
	sum := int64(0)
	for _, cmd := range list {
		cost := 0.0
		for i := range cmd.Members {
			cost += cmd.Members[i].Cost
		}
		sum += p.WorthOf(money.NanoUSD(cmd.Savings), cost)
	}
	return sum
}

// leaveAllBut leaves the members of the commands for the next plan, except the nodes in the parameter going.
func (p *Planner) leaveAllBut(out *Order, list []*decision.Command, going map[string]bool) {
	for name := range membersOf(list) {
		if !going[name] {
			out.Left[p.ByName[name]] = &decision.Block{Code: decision.BlockLater}
			p.Types.Waiting = true
		}
	}
}

// leave leaves the members of a command for the next plan, with the block of the parameter why as the reason.
func (p *Planner) leave(out *Order, cmd *decision.Command, why *decision.Block) {
	for i := range cmd.Members {
		out.Left[p.ByName[cmd.Members[i].Node]] = why
	}
}

// takeWaves removes all commands and waves from the order, and returns the removed commands wave by wave.
func (out *Order) takeWaves() [][]*decision.Command {
	byID := make(map[string]*decision.Command, len(out.Commands))
	for _, cmd := range out.Commands {
		byID[cmd.ID] = cmd
	}
	list := make([][]*decision.Command, len(out.Waves))
	for i, wave := range out.Waves {
		list[i] = make([]*decision.Command, len(wave.Commands))
		for k, id := range wave.Commands {
			list[i][k] = byID[id]
		}
	}
	out.Commands, out.Waves = nil, nil
	return list
}

// addWave appends the commands of the list to the order as one wave.
func (p *Planner) addWave(out *Order, list []*decision.Command) {
	out.Commands, out.Waves = append(out.Commands, list...), append(out.Waves, p.waves().One(list))
}
