package disruption

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/consolidate/money"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
	"github.com/drawknife/drawknife/scheduling/cluster"
	"github.com/drawknife/drawknife/scheduling/pods"
)

// ErrInterrupted is the cause of failure of a command whose process ended too early: before all its replacements were launched, or, for
// members without replacements, before it began to delete them. Nothing is lost: the next plan finds the commands that are still worth
// their cost.
var ErrInterrupted = errors.New("the process that carried the command out has ended")

// Recovery contains the commands of earlier processes that a new process finds.
type Recovery struct {
	// Commands are the commands that have not ended, by ID. Pass each Execution to Queue.Adopt, and call its Next as for any other
	// execution. Commands whose replacements all exist continue until their deadline. All other commands are undone.
	Commands []Recovered
	// Draining are the commands that have deleted all their members, some of which still exist, by ID. You need not do anything for them.
	Draining []*Command
	// History is the history of all NodePools, for Input.History.
	History History
	// Effects remove taints, cordons, conditions and records that belong to no command, like the effects of CleanUp. Carry them out after
	// you have added the executions to the queue.
	Effects []Effect
}

// Recovered is a command to continue.
type Recovered struct {
	// Execution of it.
	Execution *Execution
	// Replacements are the observed NodeClaims. They have the same indexes as Command.Replacements. An entry is nil if the replacement was
	// not launched or is gone.
	Replacements []*v1.NodeClaim
}

// Executing returns the members of the recovered commands with the commands' IDs, like Queue.Executing.
func (r *Recovery) Executing() map[string]string {
	out := map[string]string{}
	for i := range r.Commands {
		if r.Commands[i].Execution == nil || r.Commands[i].Execution.cmd == nil {
			continue
		}
		cmd := r.Commands[i].Execution.cmd
		for _, node := range cmd.Nodes() {
			out[node] = cmd.ID
		}
	}
	return out
}

// Recover finds the commands of earlier processes from the annotations that they wrote on objects (Record,
// v1.DisruptionHistoryAnnotationKey). A new leader calls it once, before the first plan. The view must be complete, except for nodes of
// other providers (see CleanUp), and must include the last writes of the earlier process. Recover does not change the view; for a nil view
// it returns an empty Recovery.
//
// A command continues if all its replacements exist, because they are already paid for. Any other command is undone: its members stay, its
// replacements are deleted, and the next plan decides again. In both cases no node is launched that the earlier process would not have
// launched. Invalid annotations are removed. Annotations that were not written for the NodeClaim that has them are also removed. A member
// is identified by its UID. A replacement is identified by its pool, its age, and its record, which must agree with the members' records
// about the command and its digest. If two NodeClaims have records for the same replacement, or if the members' records differ, the command
// is undone.
func Recover(view *cluster.View) *Recovery {
	out := &Recovery{}
	if view == nil {
		return out
	}
	found := map[string]*remains{}
	for i := range view.Nodes {
		m := &view.Nodes[i]
		r, err := RecordOf(m.Claim)
		if err != nil || r == nil {
			continue
		}
		if found[r.ID] == nil {
			found[r.ID] = &remains{}
		}
		found[r.ID].add(r, m)
	}
	var foreign []Effect
	for _, id := range slices.Sorted(maps.Keys(found)) {
		left := found[id]
		foreign = append(foreign, left.sift()...)
		switch {
		case len(left.members) == 0: // the command has ended, so its replacements are ordinary nodes
		case !slices.ContainsFunc(left.members, func(m *recorded) bool { return m.state.Claim.DeletionTimestamp == nil }):
			out.Draining = append(out.Draining, left.command())
		default:
			out.Commands = append(out.Commands, left.recovered(view))
		}
	}
	if view.Snapshot != nil {
		for i := range view.Snapshot.NodePools {
			pool := &view.Snapshot.NodePools[i]
			if h, err := HistoryOf(pool.Object); err == nil {
				for j := range h {
					h[j].Pool, h[j].Time = pool.Identity(), notAfter(h[j].Time, view.Snapshot.Time)
				}
				out.History = out.History.Add(h...)
			}
		}
	}
	executing := out.Executing()
	out.Effects = CleanUp(view, executing)
	for _, e := range foreign {
		if !slices.Contains(out.Effects, e) {
			out.Effects = append(out.Effects, e)
		}
	}
	return out
}

// remains contains the objects of one command that an earlier process left behind.
type remains struct {
	members []*recorded
	// launched are nodes whose NodeClaim has the record of a replacement. sift sorts them into replacements.
	launched     []*recorded
	replacements []*v1.NodeClaim
	static       []bool
	// foreign are NodeClaims whose records were written for another claim or don't match the members' records. disagrees means that the
	// members' records describe different commands.
	foreign   []*v1.NodeClaim
	disagrees bool
}

// recorded is a node with the record of its claim.
type recorded struct {
	*Record
	state *cluster.NodeState
}

func (l *remains) add(r *Record, m *cluster.NodeState) {
	switch {
	case r.Role == RoleReplacement && m.Claim.DeletionTimestamp != nil:
	case !r.writtenFor(m.Claim):
		l.foreign = append(l.foreign, m.Claim)
	case r.Role == RoleMember:
		l.members = append(l.members, &recorded{r, m})
	default:
		l.launched = append(l.launched, &recorded{r, m})
	}
}

// sift puts the NodeClaims of replacements at their indexes in l.replacements, except those whose records differ from the members' records.
// It returns the effects that remove the records of NodeClaims that don't belong to the command.
func (l *remains) sift() (clear []Effect) {
	slices.SortFunc(l.members, func(a, b *recorded) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.state.Name, b.state.Name))
	})
	if len(l.members) > 0 {
		first := l.members[0].command()
		l.disagrees = slices.ContainsFunc(l.members, func(m *recorded) bool { return m.command() != first })
		l.place(&first)
	}
	for _, claim := range l.foreign {
		if claim.DeletionTimestamp == nil {
			clear = append(clear, ClearRecord{claim.Name, claim.UID})
		}
	}
	return clear
}

// place puts the NodeClaims of replacements at their indexes in l.replacements. If two NodeClaims have the same index, neither is used.
func (l *remains) place(of *Record) {
	many := min(max(0, of.Replacements), maxReplacements)
	l.replacements, l.static = make([]*v1.NodeClaim, many), make([]bool, many)
	claimed := make([]int, many)
	for _, r := range l.launched {
		if r.command() == *of && r.Index < many {
			claimed[r.Index]++
		}
	}
	for _, r := range l.launched {
		claim := r.state.Claim
		if r.command() != *of || r.Index >= many || claimed[r.Index] > 1 {
			l.foreign = append(l.foreign, claim)
			continue
		}
		l.replacements[r.Index], l.static[r.Index] = claim, r.Static
	}
}

// maxReplacements limits the memory that the process allocates because of a forged annotation.
const maxReplacements = 10_000

// command rebuilds the command from l.members and l.replacements. l must have at least one member.
func (l *remains) command() *Command {
	first := l.members[0]
	cmd := &Command{
		ID: first.ID, Method: first.Method, Reason: first.Reason, Planned: first.Planned, NotBefore: first.Planned, Wave: first.Wave, Waves: first.Waves,
		Replacements: make([]Replacement, len(l.replacements)),
	}
	for i := range cmd.Replacements {
		if l.replacements[i] != nil {
			cmd.Replacements[i] = Replacement{Pool: v1.PoolOf(l.replacements[i].Labels), Static: l.static[i]}
		}
	}
	sum := int64(0)
	for _, r := range l.members {
		m := Member{
			Node: cmp.Or(r.Node, r.state.Name), Claim: r.state.Claim.Name, UID: r.state.Claim.UID, ProviderID: r.state.ProviderID, Pool: r.state.Pool,
			Static: r.Static, Price: r.Price, Cost: r.Cost,
		}
		for _, pod := range r.state.Pods {
			if pods.Reschedulable(pod) {
				m.Pods = append(m.Pods, survey.KeyOf(pod))
				survey.AddOwners(&m, pod)
			}
		}
		sum += money.NanoUSD(r.Price)
		cmd.Members = append(cmd.Members, m)
	}
	cmd.Savings = money.USD(sum)
	return cmd
}

// notAfter returns t, or now if t is later, because the clock of the earlier process may have been ahead. For a snapshot without a time,
// now is zero and t is returned.
func notAfter(t, now time.Time) time.Time {
	if t.After(now) && !now.IsZero() {
		return now
	}
	return t
}

// recovered returns an execution that continues the command if the command has replacements, all of them exist, and the members' records
// agree. Otherwise the execution undoes the command. The command's timeout counts from the start in the record. If the start is missing
// (drawknife always writes one) or in the future, it counts from now.
func (l *remains) recovered(view *cluster.View) Recovered {
	cmd := l.command()
	e := Execute(cmd)
	if e.started = l.members[0].Started; view.Snapshot != nil {
		if e.started = notAfter(e.started, view.Snapshot.Time); e.started.IsZero() {
			e.started = view.Snapshot.Time
		}
	}
	e.digest = l.members[0].Digest
	for i, claim := range l.replacements {
		e.ready[i] = claim != nil && isReady(claim)
	}
	out := Recovered{Execution: e, Replacements: slices.Clone(l.replacements)}
	if len(cmd.Replacements) > 0 && !l.disagrees && !slices.Contains(out.Replacements, nil) {
		e.state = StateTainting
		return out
	}
	e.fail(ErrInterrupted)
	return out
}
