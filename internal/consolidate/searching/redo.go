package searching

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/commands"
	"github.com/drawknife/drawknife/internal/consolidate/paying"
	"github.com/drawknife/drawknife/internal/consolidate/removing"
	"github.com/drawknife/drawknife/internal/consolidate/replay"
	"github.com/drawknife/drawknife/internal/consolidate/searchcontext"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
	"github.com/drawknife/drawknife/internal/engine/placing"
	"github.com/drawknife/drawknife/internal/engine/trial"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Earlier has the data of an earlier plan that a search continues.
type Earlier struct {
	Commands []*decision.Command
	// Why has the blocks of the nodes that the earlier plan did not remove, by node name.
	Why map[string]*decision.Block
	// Changed has the names of the nodes that have changed since the earlier plan. The search adds related nodes to this map.
	Changed map[string]bool
}

// redo is the part of a search that makes commands of an earlier plan again, and examines only a part of the remaining nodes.
type redo struct{ *Search }

// Again returns a search that first makes the commands of an earlier plan again, if they are still possible. Of the remaining nodes, it
// tries to consolidate the nodes that have changed and the nodes related to them. It returns nil if tooMany returns true for the number of
// changed nodes.
func (p *Planner) Again(ctx context.Context, from Earlier, tooMany func(changed int) bool) (*Search, error) {
	s, err := p.begin(ctx, usual())
	if err != nil {
		return nil, err
	}
	if err := s.removeUnneeded(ctx); err != nil {
		return nil, err
	}
	r := redo{s}
	if err := r.all(ctx, from.Commands, from.Changed); err != nil {
		return nil, err
	}
	if tooMany(len(from.Changed)) {
		return nil, nil
	}
	r.recall(from.Why, from.Changed)
	return s, r.lookAt(ctx, from.Changed)
}

// all makes those commands of the earlier plan again that are still possible. It adds the members of all other commands to the set changed.
func (s redo) all(ctx context.Context, earlier []*decision.Command, changed map[string]bool) error {
	s.Trial.Expect(commands.AllPlaces(earlier))
	for _, cmd := range earlier {
		if cmd.Reason != decision.ReasonUnderutilized {
			continue
		}
		same := !slices.ContainsFunc(cmd.Members, func(m decision.Member) bool { return changed[m.Node] })
		done, err := s.one(ctx, cmd, same)
		if err != nil {
			return err
		}
		if done {
			if same && s.Trial.Ruled() {
				s.unrefined = append(s.unrefined, cmd)
			}
			continue
		}
		for i := range cmd.Members {
			changed[cmd.Members[i].Node] = true
		}
	}
	return nil
}

// one makes a step of one command, if the command is still possible, worth it and within budgets. If not, it leaves the trial unchanged and
// returns false. The parameter same means that the members are unchanged. The method puts new pods, and pods whose places are gone, in free
// room or on new nodes.
func (s redo) one(ctx context.Context, cmd *decision.Command, same bool) (bool, error) {
	if _, torn := s.Fleet.Whole(cmd.Members); torn != nil {
		return false, nil
	}
	st := &removing.Step{Exchange: paying.Exchange{Method: cmd.Method}, Where: removing.UseRoom}
	for i := range cmd.Members {
		c := s.ByName[cmd.Members[i].Node]
		if c == nil || c.Blocked != nil || !s.open(c) || c.State.Claim.UID != cmd.Members[i].UID {
			return false, nil
		}
		if ways := s.waysOf([]*searchcontext.Candidate{c}); len(ways) != 1 || ways[0] != nil {
			return false, nil // the gang could be placed in several domains, and the search that follows chooses one of them
		}
		st.Members = append(st.Members, c)
	}
	if err := ctx.Err(); err != nil {
		return false, err
	}
	s.Work++
	if s.Admissible(removing.Removal{Method: cmd.Method, Members: st.Members, Where: st.Where}) != nil {
		return false, nil
	}
	mark := s.Trial.Mark()
	why, err := s.tryAgain(ctx, cmd, same, st, mark)
	if err == nil && why == nil {
		why = s.Take(st)
	}
	if err == nil && why == nil {
		s.accept(st, mark)
		return true, nil
	}
	if back := s.Trial.Rollback(mark); err == nil {
		err = back
	}
	return false, err
}

// tryAgain is like Trier.Try, but for a command that already has places for its pods.
func (s redo) tryAgain(ctx context.Context, cmd *decision.Command, same bool, st *removing.Step, mark trial.Mark) (*decision.Block, error) {
	first := s.Trial.NewNodes()
	for _, c := range st.Members {
		pods, err := s.Trial.HideMoving(c.Name, c.Moves)
		if err != nil {
			return nil, err
		}
		st.Pods += pods
	}
	if !same || commands.Places(cmd) > st.Pods { // the command may have places for pods that no longer exist
		cmd = withOnly(cmd, s.waitingFor(st.Members, same))
	}
	hidden := s.Trial.Mark()
	r := replay.Replay{Pass: s.Types.Pass, Trial: s.Trial.Trial}
	_, why, err := r.Put(ctx, cmd)
	if err != nil {
		return nil, err
	}
	same = same && commands.Places(cmd) == st.Pods
	if why != nil {
		if err := s.Trial.Rollback(hidden); err != nil {
			return nil, err
		}
		if err := s.putSome(cmd); err != nil {
			return nil, err
		}
		same = false
	}
	// Pods that were already pending in the snapshot, and that the trial placed on a removed node, belong to no command. They need other
	// places.
	if same && len(s.Trial.Waiting(1)) > 0 {
		same = false
	}
	if !same && slices.ContainsFunc(st.Members, func(c *searchcontext.Candidate) bool { return c.Tie != nil }) {
		return &decision.Block{Code: decision.BlockLater}, nil // leave the gangs on these nodes to the next plan, which tries to move each gang as a whole
	}
	if !same {
		left := placing.Of(s.Trial.Trial).Move(s.Query)
		if left > 0 {
			left = placing.Of(s.Trial.Trial).Fill(s.Query)
		}
		if left > 0 {
			return &decision.Block{Code: decision.BlockUnschedulable}, nil
		}
		st.Grown = s.Trial.Grown(mark)
	}
	if st.Numbers = s.Trial.Filled(first); same {
		for i := range cmd.Replacements {
			st.NewNodes = append(st.NewNodes, *cmd.Replacements[i].Node)
		}
	} else if len(st.Numbers) > 0 {
		limit := s.Types.ToTry()
		if why := s.Narrow(s.Types, &st.Exchange, s.Trial.Written.Planned(mark, limit), limit, false); why != nil {
			return why, nil
		}
	}
	if why := s.Weigh(s.Types.Pass, &st.Exchange); why != nil {
		return why, nil
	}
	if !s.Fits(st) {
		return s.Components.TooLarge, nil
	}
	return nil, nil
}

// waitingFor returns the keys of the members' pods that need other places. If the parameter anyway is true, it also returns the keys of
// pods that were already pending in the snapshot, and of placeholders.
func (s redo) waitingFor(members []*searchcontext.Candidate, anyway bool) map[planning.PodKey]bool {
	out := map[planning.PodKey]bool{}
	note := func(list []*corev1.Pod) {
		for _, pod := range list {
			out[survey.KeyOf(pod)] = true
		}
	}
	for _, c := range members {
		note(c.Moving)
	}
	if anyway {
		note(s.Fleet.In.View.Snapshot.Pods)
		note(s.Fleet.In.View.Snapshot.Placeholders)
	}
	return out
}

// putSome puts pods at their places in the command, if these places are still possible. It tries each pod of an existing node separately,
// and all pods of a new node together.
func (s redo) putSome(cmd *decision.Command) error {
	for i := range cmd.Receivers {
		e := &cmd.Receivers[i]
		for k := range e.Pods {
			mark := s.Trial.Mark()
			if placing.Of(s.Trial.Trial).Put(e.Name, e.Pods[k:k+1]) == nil {
				continue
			}
			if err := s.Trial.Rollback(mark); err != nil {
				return err
			}
		}
	}
	for i := range cmd.Replacements {
		mark := s.Trial.Mark()
		if placing.Of(s.Trial.Trial).PutNew(cmd.Replacements[i].Node) == nil {
			continue
		}
		if err := s.Trial.Rollback(mark); err != nil {
			return err
		}
	}
	return nil
}

// withOnly returns the command without the places of all other pods than the given pods.
func withOnly(c *decision.Command, pods map[planning.PodKey]bool) *decision.Command {
	gone := func(key planning.PodKey) bool { return !pods[key] }
	out := *c
	out.Receivers, out.Replacements, out.Order = nil, nil, nil
	for _, e := range c.Receivers {
		if e.Pods = slices.DeleteFunc(slices.Clone(e.Pods), gone); len(e.Pods) > 0 {
			out.Receivers = append(out.Receivers, e)
		}
	}
	for _, r := range c.Replacements {
		if r.Node == nil {
			continue
		}
		n := *r.Node
		if n.Pods = slices.DeleteFunc(slices.Clone(n.Pods), gone); len(n.Pods) > 0 {
			out.Replacements = append(out.Replacements, decision.Replacement{Node: &n, Pool: r.Pool})
		}
	}
	return &out
}
