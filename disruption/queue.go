package disruption

import (
	"fmt"
	"maps"
	"slices"

	"github.com/drawknife/drawknife/api/option"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
	"github.com/drawknife/drawknife/scheduling/cluster"
)

// Queue holds the commands that are being executed in parallel. Use it from one goroutine. The zero value is empty.
type Queue struct {
	// Approval makes each command wait for an Approver. If it is nil, commands start without approval. It applies to commands that are
	// added later.
	Approval *ApprovalPolicy

	byID map[string]*Execution
}

// BusyError means that a command has a member that another command is about to remove.
type BusyError struct {
	// Command is the ID of the refused command. By is the ID of the command that removes Node.
	Command, Node, By string
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("command %s: command %s is about to remove node %s", e.Command, e.By, e.Node)
}

// Add adds a command and returns its execution. The error is a *BusyError if another command under way removes one of its members.
func (q *Queue) Add(cmd *Command) (*Execution, error) {
	if cmd == nil {
		return nil, option.Missing("Queue.Add", "the command")
	}
	busy := q.Executing()
	for i := range cmd.Members {
		if by, taken := busy[cmd.Members[i].Node]; taken {
			return nil, &BusyError{cmd.ID, cmd.Members[i].Node, by}
		}
	}
	if q.byID == nil {
		q.byID = map[string]*Execution{}
	}
	e := Execute(cmd)
	if q.Approval != nil {
		e = ExecuteApproved(cmd, *q.Approval)
	}
	q.byID[cmd.ID] = e
	return e, nil
}

// Adopt adds an execution that Recover found. The error is a *BusyError, as for Add.
func (q *Queue) Adopt(e *Execution) error {
	if e == nil || e.cmd == nil {
		return option.Missing("Queue.Adopt", "an execution that Recover found")
	}
	busy := q.Executing()
	for i := range e.cmd.Members {
		if by, taken := busy[e.cmd.Members[i].Node]; taken {
			return &BusyError{e.cmd.ID, e.cmd.Members[i].Node, by}
		}
	}
	if q.byID == nil {
		q.byID = map[string]*Execution{}
	}
	q.byID[e.cmd.ID] = e
	return nil
}

// Executions returns the executions under way, by their commands' IDs. It drops executions that have ended.
func (q *Queue) Executions() []*Execution {
	maps.DeleteFunc(q.byID, func(_ string, e *Execution) bool { return e.State().Final() })
	out := make([]*Execution, 0, len(q.byID))
	for _, id := range slices.Sorted(maps.Keys(q.byID)) {
		out = append(out, q.byID[id])
	}
	return out
}

// Executing returns the nodes that commands under way are about to remove, with the commands' IDs: Input.Executing.
func (q *Queue) Executing() map[string]string {
	out := map[string]string{}
	for _, e := range q.Executions() {
		for i := range e.cmd.Members {
			out[e.cmd.Members[i].Node] = e.cmd.ID
		}
	}
	return out
}

// CleanUp returns the effects that undo the leftovers of commands without an execution. The leftovers are taints (also that of v1beta1),
// cordons, conditions and records of nodes that stay, and records of replacements whose command has ended. Call it before each plan. Call
// Recover before the first CleanUp, because commands that CleanUp undoes can't continue. Leave nodes of other providers out of View.Nodes:
// their taints, cordons and records belong to commands of other planners.
func CleanUp(view *cluster.View, executing map[string]string) []Effect {
	var out []Effect
	if view == nil {
		return nil
	}
	commands := map[string]bool{}
	for _, id := range executing {
		commands[id] = true
	}
	for i := range view.Nodes {
		m := &view.Nodes[i]
		_, busy := executing[m.Name]
		if busy || m.Leaving || m.Marked || m.Claim == nil || m.Claim.DeletionTimestamp != nil {
			continue
		}
		if m.Node != nil && m.Node.DeletionTimestamp == nil {
			out = append(out, unmark(m.Name, m.Node)...)
			if _, is := survey.TrueSince(m.Claim, v1.ConditionDisruptionReason); is {
				out = append(out, ClearReason{m.Claim.Name, m.Claim.UID})
			}
		}
		if r, err := RecordOf(m.Claim); err != nil || r != nil && (r.Role == RoleMember || !commands[r.ID]) {
			out = append(out, ClearRecord{m.Claim.Name, m.Claim.UID})
		}
	}
	return out
}
