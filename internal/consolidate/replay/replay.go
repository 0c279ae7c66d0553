package replay

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/reference"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
	"github.com/drawknife/drawknife/internal/engine/answering"
	"github.com/drawknife/drawknife/internal/engine/placing"
	"github.com/drawknife/drawknife/internal/engine/solving"
	"github.com/drawknife/drawknife/internal/engine/trial"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Replay executes commands on a trial, one after another, exactly as planned.
type Replay struct {
	Pass  *reference.Pass
	Trial *trial.Trial
	// written describes the present state of the trial for the method Planned. It is nil until Planned is called.
	written *answering.Answering
	// Moves returns, for a candidate, the function that reports whether a pod needs another place.
	Moves func(*decision.Candidate) func(*corev1.Pod) bool
	// Fresh means that the commands were planned for this same fleet. The function Known then finds the candidates that already qualify for
	// consolidation.
	Fresh bool
	Known func(node string) *decision.Candidate
}

// Planned returns the new nodes that commands have opened since the mark. Each new node lists at most the given number of instance types.
// If types is 0, it lists all its types.
func (r *Replay) Planned(since trial.Mark, types int) []planning.NewNode {
	if r.written == nil {
		r.written = answering.On(r.Trial)
	}
	return r.written.Planned(since, types)
}

// Arrange executes as many of the commands as it can, as far as possible in the given order. Commands whose pods have no places are tried
// again after the other commands. Arrange returns the executed commands in the order of their execution, and the remaining commands.
func (r *Replay) Arrange(ctx context.Context, commands []*decision.Command) (done, rest []*decision.Command, err error) {
	rest = commands
	for progress := true; progress && len(rest) > 0; {
		progress = false
		var again []*decision.Command
		for _, cmd := range rest {
			if err := ctx.Err(); err != nil {
				return nil, nil, err
			}
			next, why, err := r.Step(ctx, cmd)
			switch {
			case err != nil:
				return nil, nil, err
			case why != nil:
				again = append(again, cmd)
			default:
				done, progress = append(done, next), true
			}
		}
		rest = again
	}
	return done, rest, nil
}

// Step executes the command. If the command may shrink, members that no longer qualify are left out. If the command can't be executed, Step
// leaves the trial unchanged and returns the reason.
func (r *Replay) Step(ctx context.Context, cmd *decision.Command) (*decision.Command, *decision.RejectedError, error) {
	if why := r.Pass.Torn(cmd); why != nil {
		return nil, why, nil
	}
	members := make([]*decision.Candidate, 0, len(cmd.Members))
	var first *decision.RejectedError
	giveUp := func() {
		for _, c := range members {
			r.Pass.Budgets.Return(c.Name)
		}
	}
	for i := range cmd.Members {
		c, why := r.qualifies(cmd, &cmd.Members[i])
		if why == nil {
			members = append(members, c)
			continue
		}
		if first == nil {
			first = why
		}
		if !cmd.MayShrink {
			break
		}
	}
	if len(members) == 0 || (first != nil && !cmd.MayShrink) {
		giveUp()
		return nil, first, nil
	}
	mark := r.Trial.Mark()
	next, why, err := r.carryOut(ctx, cmd, members)
	if err != nil || why == nil {
		return reference.Shrunk(next, members), nil, err
	}
	giveUp()
	if err := r.Trial.Rollback(mark); err != nil {
		return nil, nil, err
	}
	return nil, &decision.RejectedError{Command: cmd.ID, Category: decision.RejectedScheduling, Node: cmd.Members[0].Node, Block: why}, nil
}

// qualifies calls StillQualifies, except for commands that a search planned for the same fleet (see Known). The members of such commands
// have already qualified, and budget is already reserved for them.
func (r *Replay) qualifies(cmd *decision.Command, m *decision.Member) (*decision.Candidate, *decision.RejectedError) {
	if r.Known != nil && cmd.Reason == decision.ReasonUnderutilized {
		if c := r.Known(m.Node); c != nil {
			return c, nil
		}
	}
	return r.Pass.StillQualifies(cmd, m)
}

// carryOut moves the members' pods to the places in the command. It returns the command with its nodes in the order in which they can take
// the pods. It returns a block if a member got a pod after planning for which the command has no place, or if a pod's place in the command
// is no longer possible.
func (r *Replay) carryOut(ctx context.Context, cmd *decision.Command, members []*decision.Candidate) (*decision.Command, *decision.Block, error) {
	if cmd.Method == decision.MethodEmptiness || cmd.Method == decision.MethodStaticDrift {
		for _, c := range members {
			if _, err := r.Trial.HideMoving(c.Name, NobodyMoves); err != nil {
				return nil, &decision.Block{Code: decision.BlockLeaving}, nil
			}
		}
		return cmd, nil, nil
	}
	moving := 0
	for _, c := range members {
		n, err := r.Trial.HideMoving(c.Name, r.Moves(c))
		if err != nil {
			return nil, &decision.Block{Code: decision.BlockLeaving}, nil
		}
		moving += n
	}
	if !r.Fresh && moving > plannedOf(cmd, members) {
		return nil, &decision.Block{Code: decision.BlockUnschedulable, Pods: r.Trial.Waiting(reference.MaxNamed), Detail: "pods came since it was planned"}, nil
	}
	return r.Put(ctx, cmd)
}

// Put puts pods on the command's nodes, node by node. If no order of the nodes is possible, it calls putInTurns.
func (r *Replay) Put(ctx context.Context, cmd *decision.Command) (*decision.Command, *decision.Block, error) {
	mark := r.Trial.Mark()
	next, why, err := r.putWhole(cmd)
	if err != nil || why == nil || !r.Trial.Ruled() {
		return next, why, err
	}
	if err := r.Trial.Rollback(mark); err != nil {
		return nil, nil, err
	}
	order, err := r.putInTurns(ctx, cmd)
	if err != nil || order == nil {
		return nil, why, err
	}
	turns := *cmd
	turns.Order = order
	return &turns, nil, nil
}

// putWhole puts all pods of each of the command's nodes on that node at once, existing nodes first. If a node can't take its pods, for
// example because of a rule about the spread of pods, putWhole tries it again after the following nodes.
func (r *Replay) putWhole(cmd *decision.Command) (*decision.Command, *decision.Block, error) {
	receivers, why, err := inSomeOrder(r.Trial, cmd.Receivers, func(e *planning.ExistingNode) ([]planning.PodKey, error) {
		return e.Pods, placing.Of(r.Trial).Put(e.Name, e.Pods)
	})
	if err != nil || why != nil {
		return nil, why, err
	}
	replacements, why, err := inSomeOrder(r.Trial, cmd.Replacements, func(p *decision.Replacement) ([]planning.PodKey, error) {
		if p.Node == nil {
			return nil, nil
		}
		return p.Node.Pods, placing.Of(r.Trial).PutNew(p.Node)
	})
	if err != nil || why != nil {
		return nil, why, err
	}
	if sameList(receivers, cmd.Receivers) && sameList(replacements, cmd.Replacements) && cmd.Order == nil {
		return cmd, nil, nil
	}
	next := *cmd
	next.Receivers, next.Replacements, next.Order = receivers, replacements, nil
	return &next, nil, nil
}

// sameList reports whether a and b are the same slice in memory.
func sameList[N any](a, b []N) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// inSomeOrder calls put(node), which puts the node's pods on it, for each node of the list. It follows the order of the list as far as
// possible. It returns the nodes in the order in which these calls succeeded. If this is the order of the list, it returns the list itself.
// If the calls fail for some nodes in every order, it returns the block of the first of these nodes.
func inSomeOrder[N any](t *trial.Trial, list []N, put func(*N) ([]planning.PodKey, error)) ([]N, *decision.Block, error) {
	inOrder, n := true, 0 // while inOrder is true, put has succeeded for exactly the first n nodes of the list
	var done []N
	for rest := list; len(rest) > 0; {
		var again []N
		var first *decision.Block
		for i := range rest {
			mark := t.Mark()
			pods, err := put(&rest[i])
			if err == nil {
				if n++; !inOrder {
					done = append(done, rest[i])
				}
				continue
			}
			if first == nil {
				first = noPlace(err, pods)
			}
			if !t.Ruled() || !errors.Is(err, placing.ErrNoPlace) {
				return nil, first, nil
			}
			if err := t.Rollback(mark); err != nil {
				return nil, nil, err
			}
			if inOrder {
				inOrder, done = false, append(make([]N, 0, len(list)), list[:n]...)
			}
			again = append(again, rest[i])
		}
		if len(again) == len(rest) {
			return nil, first, nil
		}
		rest = again
	}
	if inOrder {
		return list, nil, nil
	}
	return done, nil, nil
}

// noPlace returns the block for pods that no longer have a place. The block has the text of err.
func noPlace(err error, pods []planning.PodKey) *decision.Block {
	if errors.Is(err, placing.ErrNoPlace) {
		return &decision.Block{Code: decision.BlockUnschedulable, Pods: pods[:min(len(pods), reference.MaxNamed)], Detail: err.Error()}
	}
	return &decision.Block{Code: decision.BlockUnschedulable, Detail: err.Error()}
}

// New returns a Replay that starts with the present fleet, after its pending pods are placed.
func New(ctx context.Context, o *reference.Options, f *survey.Fleet) (*Replay, error) {
	p, err := o.Begin(ctx, f)
	if err != nil {
		return nil, err
	}
	settled, err := reference.Settled(ctx, f, o.Query)
	if err != nil {
		return nil, err
	}
	t := trial.New(settled.Model)
	if _, err := solving.Of(t).Place(ctx, planning.PlaceOptions{Query: o.Query, ExistingOnly: true}); err != nil {
		return nil, err
	}
	closed, _ := f.ClosedNodes()
	for _, name := range closed {
		if err := t.Close(name); err != nil {
			return nil, err
		}
	}
	t.Commit()
	return &Replay{Pass: p, Trial: t, Moves: func(c *decision.Candidate) func(*corev1.Pod) bool { return f.Moves(c.State.Pool) }}, nil
}

// plannedOf returns the number of the members' pods that have places in the command. It does not count pending pods, although the command
// may have places for pending pods on new nodes.
func plannedOf(c *decision.Command, members []*decision.Candidate) int {
	size := 0
	for _, m := range members {
		size += len(m.Pods)
	}
	own := make(map[planning.PodKey]bool, size)
	for _, m := range members {
		for _, pod := range m.Pods {
			own[survey.KeyOf(pod)] = true
		}
	}
	n := 0
	count := func(list []planning.PodKey) {
		for _, key := range list {
			if own[key] {
				n++
			}
		}
	}
	for i := range c.Receivers {
		count(c.Receivers[i].Pods)
	}
	for i := range c.Replacements {
		if node := c.Replacements[i].Node; node != nil {
			count(node.Pods)
		}
	}
	return n
}

// Restrict validates only some of a plan's commands: see disruption.Global.Restrict.
func Restrict(ctx context.Context, o *reference.Options, f *survey.Fleet, commands []*decision.Command) (good []*decision.Command, rejected []*decision.RejectedError, err error) {
	r, err := New(ctx, o, f)
	if err != nil {
		return nil, nil, err
	}
	for _, cmd := range commands {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		mark := r.Trial.Mark()
		next, why, err := r.Step(ctx, cmd)
		if err != nil {
			return nil, nil, err
		}
		if why == nil {
			if why, err = r.saves(next, mark); err != nil {
				return nil, nil, err
			}
		}
		if why != nil {
			rejected = append(rejected, why)
			continue
		}
		good = append(good, next)
	}
	return good, rejected, nil
}

// NobodyMoves is a function Moves for nodes none of whose pods needs another place: it returns false for each pod.
func NobodyMoves(*corev1.Pod) bool { return false }

// Carried executes the commands as planned. It leaves out commands that are no longer possible because an earlier command was left out.
func (r *Replay) Carried(ctx context.Context, list []*decision.Command) (good []*decision.Command, err error) {
	for _, cmd := range list {
		next, why, err := r.Step(ctx, cmd)
		if err != nil {
			return nil, err
		}
		if why == nil {
			good = append(good, next)
		}
	}
	return good, nil
}
