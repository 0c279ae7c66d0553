package disruption_test

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption"
)

// chaosEffects carries out the effects of one command of a process in its cluster; cmd and run are nil for what is undone after a restart. Nobody
// approves there, and no node is of the first generation: those kinds are refused.
type chaosEffects struct {
	disruption.RefuseEffects
	*process
	cmd *disruption.Command
	run *chaosRun
}

// conflicts counts a write, and reports whether it meets a conflict.
func (x chaosEffects) conflicts() bool {
	x.writes++
	return x.c.conflict > 0 && x.writes%x.c.conflict == 0
}

// onNode stores what change makes of the node, unless it is gone or somebody else wrote to it.
func (x chaosEffects) onNode(name string, change func(*corev1.Node) bool) error {
	if conflict, n := x.conflicts(), x.nodeNamed(name); !conflict && n != nil && n.Object != nil {
		change(n.Object)
	}
	return nil
}

// onClaim is the same for a claim.
func (x chaosEffects) onClaim(name string, change func(*v1.NodeClaim)) error {
	if conflict, claim := x.conflicts(), x.claim(name); !conflict && claim != nil {
		change(claim)
	}
	return nil
}

func (x chaosEffects) MarkNode(_ context.Context, e disruption.MarkNode) error {
	x.marks[e.Node] = true
	return nil
}

func (x chaosEffects) UnmarkNode(_ context.Context, e disruption.UnmarkNode) error {
	delete(x.marks, e.Node)
	return nil
}

func (x chaosEffects) NominateNode(context.Context, disruption.NominateNode) error { return nil }

func (x chaosEffects) ValidateCommand(context.Context, disruption.ValidateCommand) error { return nil }

func (x chaosEffects) WriteRecord(_ context.Context, e disruption.WriteRecord) error {
	return x.onClaim(e.Claim, func(c *v1.NodeClaim) {
		if x.denies(e.Claim) {
			x.run.tainting[e.Claim[len("claim-"):]] = errors.New("denied by a webhook")
			return
		}
		annotate(c, e.Record)
		if x.members[x.cmd.ID] == nil {
			x.members[x.cmd.ID] = map[string]bool{}
		}
		x.members[x.cmd.ID][c.Status.NodeName] = true
	})
}

func (x chaosEffects) ClearRecord(_ context.Context, e disruption.ClearRecord) error {
	return x.onClaim(e.Claim, func(c *v1.NodeClaim) { delete(c.Annotations, v1.DisruptionCommandAnnotationKey) })
}

func (x chaosEffects) TaintNode(_ context.Context, e disruption.TaintNode) error {
	return x.onNode(e.Node, v1.MarkerTaint.Mark)
}

func (x chaosEffects) UntaintNode(_ context.Context, e disruption.UntaintNode) error {
	return x.onNode(e.Node, v1.TakeTaintOff)
}

func (x chaosEffects) SetReason(_ context.Context, e disruption.SetReason) error {
	return x.onClaim(e.Claim, func(c *v1.NodeClaim) {
		c.Conditions().Set(v1.ConditionDisruptionReason, metav1.ConditionTrue, string(e.Reason), "", x.now)
	})
}

func (x chaosEffects) ClearReason(_ context.Context, e disruption.ClearReason) error {
	return x.onClaim(e.Claim, func(c *v1.NodeClaim) { c.Conditions().Clear(v1.ConditionDisruptionReason, x.now) })
}

func (x chaosEffects) LaunchReplacement(_ context.Context, e disruption.LaunchReplacement) error {
	if x.conflicts() {
		return nil
	}
	x.asked++
	switch held := x.run.held[e.Index]; {
	case x.c.refused > 0 && x.asked%x.c.refused == 0 && x.asked < chaosTrouble:
		x.run.refused[e.Index] = errors.New("limit")
		return nil
	case x.c.heldBack > 0 && x.asked%x.c.heldBack == 0 && x.asked < chaosTrouble:
		x.run.held[e.Index] = &disruption.HeldBack{Until: x.now.Add(5 * time.Minute), Why: "NodesPerMinute"}
		return nil
	case held != nil && x.now.Before(held.Until):
		return nil
	}
	o := e.Replacement.Node.InstanceTypes[0]
	if claim := x.create(e.Token, o.Name, o.CapacityType, e.Record, e.Replacement.Pool); claim != nil {
		x.run.claims[e.Index] = claim.Name
	}
	return nil
}

func (x chaosEffects) NoteDisruptions(_ context.Context, e disruption.NoteDisruptions) error {
	if x.conflicts() {
		x.run.noting = errors.New("conflict")
		return nil
	}
	x.history = x.history.Add(e.Disruptions...).Within(chaosRate, x.now)
	pool := x.pool("default")
	pool.Annotations = map[string]string{v1.DisruptionHistoryAnnotationKey: x.history.Annotation(pool.Key())}
	x.run.noting = nil
	for _, d := range e.Disruptions {
		if _, noted := x.started[d.Command+" "+d.Node]; !noted {
			x.started[d.Command+" "+d.Node] = x.now
		}
	}
	return nil
}

func (x chaosEffects) DeleteMember(_ context.Context, e disruption.DeleteMember) error {
	return x.onClaim(e.Claim, func(c *v1.NodeClaim) {
		if _, noted := x.started[x.cmd.ID+" "+e.Node]; !noted {
			x.fault("%s is deleted, and not in the history", e.Node)
		}
		x.leaves(x.cmd, e.Node)
		c.DeletionTimestamp = &metav1.Time{Time: x.now}
	})
}

func (x chaosEffects) DeleteReplacement(_ context.Context, e disruption.DeleteReplacement) error {
	return x.onClaim(e.Claim, func(c *v1.NodeClaim) { c.DeletionTimestamp = &metav1.Time{Time: x.now} })
}
