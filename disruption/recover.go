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

// ErrInterrupted is why a command is taken back whose process ended before all its replacements were launched, or before it
// began to delete what needs none. Nothing is lost: the next plan finds what is still worth doing.
var ErrInterrupted = errors.New("the process that carried the command out has ended")

// Recovery is what a process that begins finds of the commands of those before it.
type Recovery struct {
	// Commands that are not at their end, by ID: hand each Execution to Queue.Adopt and step it like any other. Those
	// with all their replacements go on, until their deadline; the others take back what was done for them.
	Commands []Recovered
	// Draining are commands that have deleted all their members, of which some are still there; by ID. Nothing needs to be
	// done for them.
	Draining []*Command
	// History of all NodePools, for Input.History.
	History History
	// Effects undo what belongs to no command, like CleanUp. Carry them out once the executions are in the queue.
	Effects []Effect
}

// Recovered is a command to go on with.
type Recovered struct {
	// Execution of it.
	Execution *Execution
	// Replacements at the places of Command.Replacements, as they are now; nil for one that was not launched or is gone.
	Replacements []*v1.NodeClaim
}

// Executing are the members of the recovered commands with the commands' IDs, like Queue.Executing.
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

// Recover finds the commands of earlier processes by what they wrote on objects (Record, v1.DisruptionHistoryAnnotationKey). It is for a
// new leader, once, before the first plan: the view must be complete, but for nodes of other providers (see CleanUp), and show what the
// process before wrote last. Nothing in it is changed; nil has nothing to recover.
//
// A command whose replacements are all there goes on, since they are paid for. Any other is taken back: its members stay,
// what it launched goes, and the next plan decides with the cluster as it is now. Either way no node is launched that the
// earlier process would not have launched. Annotations that can't be read are taken off, and so are those that were not written
// for the NodeClaim that has them: a member is known by its UID, a replacement by its pool, its age, and that its record says of the
// command, its digest among it, what the members' say. Where two NodeClaims say that they are the same replacement, or
// members do not agree, the command is taken back.
func Recover(view *cluster.View) *Recovery {
	out := &Recovery{}
	if view == nil {
		return out
	}
	found := map[string]*remains{}
	for i := range view.Machines {
		m := &view.Machines[i]
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
		case len(left.members) == 0: // it has ended, and its replacements are nodes like others
		case !slices.ContainsFunc(left.members, func(m *recorded) bool { return m.machine.Claim.DeletionTimestamp == nil }):
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

// remains are what is left of one command.
type remains struct {
	members []*recorded
	// launched are NodeClaims that say that they are replacements, until sift has put them in their places.
	launched     []*recorded
	replacements []*v1.NodeClaim
	static       []bool
	// foreign are NodeClaims whose records are those of others; disagrees: members' records are not of one command.
	foreign   []*v1.NodeClaim
	disagrees bool
}

// recorded is a node with the record of its claim.
type recorded struct {
	*Record
	machine *cluster.Machine
}

func (l *remains) add(r *Record, m *cluster.Machine) {
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

// sift puts replacements in their places, but for those whose records are not those of the members' command. It returns what takes
// records off NodeClaims that have nothing to do with it.
func (l *remains) sift() (clear []Effect) {
	slices.SortFunc(l.members, func(a, b *recorded) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.machine.Name, b.machine.Name))
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

// place puts the replacements of the command in their places. Of two for one place neither is taken for it.
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
		claim := r.machine.Claim
		if r.command() != *of || r.Index >= many || claimed[r.Index] > 1 {
			l.foreign = append(l.foreign, claim)
			continue
		}
		l.replacements[r.Index], l.static[r.Index] = claim, r.Static
	}
}

// maxReplacements bounds what an annotation that somebody else wrote can have made.
const maxReplacements = 10_000

// command is the command as far as its members and replacements tell; it has members.
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
			Node: cmp.Or(r.Node, r.machine.Name), Claim: r.machine.Claim.Name, UID: r.machine.Claim.UID, ProviderID: r.machine.ProviderID, Pool: r.machine.Pool,
			Static: r.Static, Price: r.Price, Cost: r.Cost,
		}
		for _, pod := range r.machine.Pods {
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

// notAfter is the time, and now for one that is later: that of a process whose clock was ahead. A snapshot without a time has no now.
func notAfter(t, now time.Time) time.Time {
	if t.After(now) && !now.IsZero() {
		return now
	}
	return t
}

// recovered is the execution to go on with. A record without a start, which nobody here wrote, has its deadline count from now, and so
// has one that begins later.
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
