package disruption

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// members returns the members that are not in e.dropped, with their observed state.
func (e *Execution) members(o Observed) []memberNow {
	var out []memberNow
	for i := range e.cmd.Members {
		m := &e.cmd.Members[i]
		if e.dropped[m.Node] {
			continue
		}
		state := o.Members[m.Node]
		if state.Claim != nil && state.Claim.UID != m.UID {
			state = MemberState{} // the member is gone, and another node has its name
		}
		out = append(out, memberNow{m, state, i})
	}
	return out
}

type memberNow struct {
	member *Member
	now    MemberState
	// index is the member's index in Command.Members.
	index int
}

// going reports whether the member's NodeClaim is gone or being deleted.
func (m *memberNow) going() bool {
	return m.now.Claim == nil || m.now.Claim.DeletionTimestamp != nil
}

// taint marks the members by a taint or cordon, and sets their condition. A command with replacements fails if one member can't be marked.
// A command without replacements continues with the other members, and fails only if no member can be marked. Members that are gone need no
// mark and no condition.
func (e *Execution) taint(o Observed, step *Step) {
	list := e.members(o)
	if e.failing(list) {
		return
	}
	settled := true
	for i := range list {
		m := &list[i]
		switch {
		case m.now.Err != nil:
			e.dropped[m.member.Node] = true
			step.Effects = append(step.Effects, e.unmake(m)...)
			if m.now.Claim != nil && belongs(m.now.Claim, e.cmd.ID) {
				step.Effects = append(step.Effects, ClearRecord{m.member.Claim, m.member.UID})
			}
		case m.going():
		default:
			if effect := m.mark(); effect != nil {
				settled = false
				step.Effects = append(step.Effects, effect)
			}
			if why, is := reasonOf(m.now.Claim); !is || why != string(e.cmd.Reason) {
				settled = false
				step.Effects = append(step.Effects, SetReason{m.member.Claim, m.member.UID, e.cmd.Reason})
			}
		}
	}
	if settled {
		e.state = StateLaunching
	}
}

// undo removes what the execution did: the taints, conditions and marks of members that stay, and replacements without pods. It repeats
// this until none of it is observed. Replacements of static pools are kept. While members are being removed, it also keeps ready
// replacements, because the members' pods should move to them. Karpenter also keeps such replacements, until it finds them empty. It
// removes records last, so that another process can continue to undo if this process ends.
func (e *Execution) undo(o Observed, step *Step) {
	clean, going := true, false
	for i := range e.cmd.Members {
		name := e.cmd.Members[i].Node
		m := memberNow{&e.cmd.Members[i], o.Members[name], i}
		if m.going() || m.now.Claim.UID != m.member.UID {
			going = true
			continue
		}
		if effects := e.unmake(&m); len(effects) > 0 {
			clean = false
			step.Effects = append(step.Effects, effects...)
		}
	}
	for i := range e.cmd.Replacements {
		r := replacementAt(o, i)
		switch {
		case r.Pods || e.cmd.Replacements[i].Static:
		case r.Stored == nil && r.Known:
			clean = false // the claim is just being added or removed: if undo ended now, the claim's instance could start unnoticed
		case r.Stored == nil || r.Stored.DeletionTimestamp != nil:
		case going && isReady(r.Stored):
		default:
			clean = false
			step.Effects = append(step.Effects, DeleteReplacement{r.Claim})
		}
	}
	if clean {
		clean = !e.forget(o, step)
	}
	if clean {
		e.state = StateFailed
	}
}

// forget requests the removal of the records of members that stay and of replacements. It reports whether any of these NodeClaims had a
// record.
func (e *Execution) forget(o Observed, step *Step) (any bool) {
	var list []*v1.NodeClaim
	for i := range e.cmd.Members {
		if claim := o.Members[e.cmd.Members[i].Node].Claim; claim != nil && claim.UID == e.cmd.Members[i].UID {
			list = append(list, claim)
		}
	}
	for i := range e.cmd.Replacements {
		list = append(list, replacementAt(o, i).Stored)
	}
	for _, claim := range list {
		if claim != nil && claim.DeletionTimestamp == nil && belongs(claim, e.cmd.ID) {
			any = true
			step.Effects = append(step.Effects, ClearRecord{claim.Name, claim.UID})
		}
	}
	return any
}

// writeDown requests records of the command on its members' NodeClaims. A member whose write failed is treated as a member that can't be
// tainted: see Execution.taint.
func (e *Execution) writeDown(o Observed, step *Step) {
	list := e.members(o)
	if e.failing(list) {
		return
	}
	settled := true
	for i := range list {
		m := &list[i]
		switch {
		case m.now.Err != nil:
			e.dropped[m.member.Node] = true
		case m.going() || belongs(m.now.Claim, e.cmd.ID):
		default:
			settled = false
			step.Effects = append(step.Effects, WriteRecord{m.member.Claim, m.member.UID, e.memberRecord(m.index)})
		}
	}
	if settled {
		e.state = StateTainting
	}
}

// failing makes the command fail, and returns true, if too many members could not be recorded or marked. If the command has replacements,
// one such member is too many. Otherwise the command fails only if no member could be recorded or marked.
func (e *Execution) failing(list []memberNow) bool {
	var failed []error
	for i := range list {
		if m := &list[i]; m.now.Err != nil {
			failed = append(failed, fmt.Errorf("node %s: %w", m.member.Node, m.now.Err))
		}
	}
	if len(failed) > 0 && (len(e.cmd.Replacements) > 0 || len(failed) == len(list)) {
		e.fail(fmt.Errorf("%w: %w", ErrTainting, errors.Join(failed...)))
		return true
	}
	return false
}

// disruptions returns the history entries for the members that are not gone, with the time now.
func (e *Execution) disruptions(o Observed, now time.Time) []Disruption {
	var out []Disruption
	for _, m := range e.members(o) {
		if m.now.Claim == nil {
			continue
		}
		set := m.now.Claim.Labels
		if m.now.Node != nil {
			set = m.now.Node.Labels
		}
		out = append(out, Disruption{
			Node: m.member.Node, Command: e.cmd.ID, Time: now, Reason: e.cmd.Reason, Pool: m.member.Pool, Zone: set[corev1.LabelTopologyZone], Labels: set,
			Pods: len(m.member.Pods), Price: m.member.Price, Owners: m.member.Owners,
		})
	}
	return out
}

// unmake returns the effects that remove the execution's taint, cordon, condition and mark from a member.
func (e *Execution) unmake(m *memberNow) []Effect {
	var out []Effect
	if m.now.Node != nil {
		out = append(out, unmark(m.member.Node, m.now.Node)...)
	}
	if m.now.Claim != nil {
		if _, is := reasonOf(m.now.Claim); is {
			out = append(out, ClearReason{m.member.Claim, m.member.UID})
		}
	}
	if m.now.Marked {
		out = append(out, UnmarkNode{m.member.Node})
	}
	return out
}

// mark returns the effect that taints or cordons the member's node, depending on the generation of its pool. It returns nil if the node is
// gone or has that mark already.
func (m *memberNow) mark() Effect {
	marker := v1.MarkerOf(m.member.Pool)
	switch {
	case m.now.Node == nil || marker.On(m.now.Node):
		return nil
	case marker == v1.MarkerCordon:
		return CordonNode{m.member.Node}
	}
	return TaintNode{m.member.Node}
}

// unmark returns the effects that remove taint and cordon from the node, whatever the generation of its pool.
func unmark(name string, node *corev1.Node) []Effect {
	var out []Effect
	if v1.DisruptionTainted(node) {
		out = append(out, UntaintNode{name})
	}
	if v1.DisruptionCordoned(node) {
		out = append(out, UncordonNode{name})
	}
	return out
}

// reasonOf returns the reason of the claim's condition DisruptionReason, and whether this condition is true.
func reasonOf(claim *v1.NodeClaim) (reason string, is bool) {
	for i := range claim.Status.Conditions {
		if c := &claim.Status.Conditions[i]; c.Type == v1.ConditionDisruptionReason {
			return cmp.Or(c.Reason, c.Type), c.Status == "True"
		}
	}
	return "", false
}
