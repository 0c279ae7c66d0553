package global

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/money"
	"github.com/drawknife/drawknife/internal/consolidate/reference"
	"github.com/drawknife/drawknife/internal/consolidate/replay"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
)

// plan writes the search down: commands, what becomes of each node, and in which order to go about it.
func (s *search) plan(ctx context.Context) (*reference.Plan, error) {
	out := &reference.Plan{Time: s.fleet.Now}
	if err := s.order(ctx, out); err != nil {
		return nil, err
	}
	s.noteBlocks()
	if s.floor != nil {
		out.FloorPrices = s.floor.Prices()
	}
	cost := int64(0)
	for _, u := range s.units {
		cost += u.price
	}
	out.Cost, out.Floor = money.USD(cost), s.worth.Total()
	out.Verdicts = s.pass.Verdicts(out.Commands)
	for i := range out.Verdicts {
		for _, b := range out.Verdicts[i].Blocks {
			s.pass.Later(b.Block.Until)
		}
	}
	out.Waiting, out.Again = s.pass.Waiting, s.pass.Again
	return out, ctx.Err()
}

// order puts the commands in waves. Where rules about how pods are spread make places depend on the order, they are carried
// out on a trial until an order is found. If some have no place in it, those that would have been made before the search was refined
// are tried instead of these, and instead of all; what is worth most counts, and what then is left is so for the next plan.
func (s *search) order(ctx context.Context, out *reference.Plan) error {
	list := s.commands()
	if s.trial.Ruled() && len(list) > 0 {
		var err error
		if list, err = s.inOrder(ctx, list); err != nil {
			return err
		}
	}
	out.Commands, out.Waves = s.waves(list)
	if err := s.withstand(ctx, out); err != nil {
		return err
	}
	return s.agree(ctx, out)
}

// inOrder are commands that can be carried out one after another, in such an order.
func (s *search) inOrder(ctx context.Context, list []*decision.Command) ([]*decision.Command, error) {
	r, err := s.replayOf(ctx)
	if err != nil {
		return nil, err
	}
	r.Trial.Expect(plannedBy(list))
	done, rest, err := r.Arrange(ctx, list)
	if err != nil || len(rest) == 0 {
		return done, err
	}
	left := membersOf(rest)
	more, _, err := r.Arrange(ctx, slices.DeleteFunc(slices.Clone(s.unrefined), func(cmd *decision.Command) bool {
		return slices.ContainsFunc(cmd.Members, func(m decision.Member) bool { return !left[m.Node] })
	}))
	if err != nil {
		return nil, err
	}
	done = append(done, more...)
	if len(s.unrefined) > 0 {
		if r, err = s.replayOf(ctx); err != nil {
			return nil, err
		}
		before, _, err := r.Arrange(ctx, s.unrefined)
		if err != nil {
			return nil, err
		}
		if s.worthTogether(before) > s.worthTogether(done) {
			done = before
		}
	}
	s.putOff(list, membersOf(done))
	return done, nil
}

func (s *search) replayOf(ctx context.Context) (*replay.Replay, error) {
	r, err := replay.New(ctx, s.Reference().Options, s.fleet)
	if err == nil {
		r.Fresh, r.Moves = true, func(c *decision.Candidate) func(*corev1.Pod) bool { return s.byName[c.Name].moves }
		r.Known = func(node string) *decision.Candidate {
			if u := s.byName[node]; u != nil && u.refused[survey.Consolidating] == nil {
				return u.Candidate
			}
			return nil
		}
	}
	return r, err
}

// membersOf are the nodes that commands remove.
func membersOf(commands []*decision.Command) map[string]bool {
	out := map[string]bool{}
	for _, cmd := range commands {
		for i := range cmd.Members {
			out[cmd.Members[i].Node] = true
		}
	}
	return out
}

// worthTogether is what the commands are worth, nano-USD.
func (s *search) worthTogether(commands []*decision.Command) int64 {
	sum := int64(0)
	for _, cmd := range commands {
		cost := 0.0
		for i := range cmd.Members {
			cost += cmd.Members[i].Cost
		}
		sum += s.worthOf(money.NanoUSD(cmd.Savings), cost)
	}
	return sum
}

// putOff leaves members of commands for the next plan, but for those that go.
func (s *search) putOff(commands []*decision.Command, going map[string]bool) {
	for name := range membersOf(commands) {
		if !going[name] {
			s.later[s.byName[name]] = true
			s.pass.Waiting = true
		}
	}
}

// proven is the block with a proof, if what is in the way is money and there is one.
func (s *search) proven(u *unit, why *decision.Block) *decision.Block {
	switch why.Code {
	case decision.BlockUnschedulable, decision.BlockNotCheaper, decision.BlockNoGain, decision.BlockManyNodes:
	default:
		return why
	}
	required := s.required([]*unit{u})
	node := u.toProve()
	shown := s.floor.Prove(&node, required)
	if shown == nil {
		return why
	}
	return &decision.Block{Code: decision.BlockFloor, Price: u.Price, Floor: shown.Floor, Required: money.USD(required), Proof: shown}
}

// noteBlocks notes for each unit that stays what keeps it from being consolidated.
func (s *search) noteBlocks() {
	kept := make([]*decision.Block, len(s.units))
	s.pass.Otherwise = func(node string) (out survey.ByMethod) {
		if u := s.byName[node]; u != nil {
			if out = u.refused; kept[u.at] != nil {
				out[survey.Consolidating], out[survey.Consolidating-1] = kept[u.at], kept[u.at]
			}
		}
		return out
	}
	for _, u := range s.units {
		why := u.blocked
		switch {
		case s.frail[u] != nil:
			why = s.frail[u]
		case s.later[u]:
			why = &decision.Block{Code: decision.BlockLater}
		case s.gone[u]:
			continue
		case why != nil:
		case s.fixed[u], s.received[u].Pods > 0:
			why = s.fleet.Plain(decision.BlockReceiver)
		case s.why[u.Name] != nil:
			why = s.proven(u, s.why[u.Name])
		default:
			why = s.fleet.Plain(decision.BlockNotReached)
		}
		kept[u.at] = why
		s.pass.Noted(why)
	}
}
