package reconcilers

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/provisioning"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/cluster"
	"github.com/drawknife/drawknife/scheduling/nodeclaims"
	"github.com/drawknife/drawknife/scheduling/pods"
)

// effect carries out one effect of a command; run is nil for effects that clean up after earlier commands. A missing object causes no
// error. If run is not nil, a write conflict causes no error, because the command repeats the effect.
func (d *disruptor) effect(ctx context.Context, run *commandRun, effect disruption.Effect) error {
	err := disruption.Do(ctx, effect, commandEffects{d, run})
	if err != nil && run != nil && apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// askApproval asks the approver. It does not ask again before the next question is due, even if other changes trigger the command earlier.
func (d *disruptor) askApproval(ctx context.Context, run *commandRun, ask disruption.AskApproval) error {
	now := d.now()
	if now.Before(run.askAgain) {
		return nil
	}
	run.askAgain = now.Add(d.options.Approval.NextAsk(nil))
	answer, err := disruption.Ask(ctx, d.options.Approver, ask, approvalTimeout)
	if err != nil {
		return err
	}
	run.approval = answer
	if answer.Decision == disruption.ApprovalPending {
		run.askAgain = now.Add(d.options.Approval.NextAsk(answer))
	}
	wake(d.moved)
	return nil
}

// noteTainting records for the execution that a member could not be tainted. A write conflict is not recorded, because the command then
// repeats the effect.
func (d *disruptor) noteTainting(run *commandRun, node string, err error) {
	if err == nil || run == nil || apierrors.IsConflict(err) {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	run.tainting[node] = err
}

func nodeOf(run *commandRun, claim string) string {
	if run == nil {
		return ""
	}
	for _, m := range run.execution.Command().Members {
		if m.Claim == claim {
			return m.Node
		}
	}
	return ""
}

// changeNode applies change to a node and stores the result, unless the node is gone or unchanged.
func (d *disruptor) changeNode(ctx context.Context, name string, change func(*corev1.Node) bool) error {
	base := &corev1.Node{}
	if err := d.client.Get(ctx, types.NamespacedName{Name: name}, base); err != nil {
		return client.IgnoreNotFound(err)
	}
	want := base.DeepCopy()
	if !change(want) {
		return nil
	}
	_, err := putNode(ctx, d.client, base, want)
	return err
}

// changeClaim applies change to the claim with the UID and stores the result, unless the claim is gone.
func (d *disruptor) changeClaim(ctx context.Context, name string, uid types.UID, change func(*v1.NodeClaim)) error {
	base, err := claimWith(ctx, d.client, name, uid)
	if err != nil || base == nil {
		return err
	}
	want := base.DeepCopy()
	change(want)
	_, err = putClaim(ctx, d.client, base, want)
	return err
}

func (d *disruptor) setReason(ctx context.Context, e disruption.SetReason) error {
	return d.changeClaim(ctx, e.Claim, e.UID, func(claim *v1.NodeClaim) {
		claim.Conditions().Set(v1.ConditionDisruptionReason, metav1.ConditionTrue, string(e.Reason), string(e.Reason), d.now())
	})
}

// launchReplacement launches a replacement like any other instance: within limits and the launch rate. The members of the command no longer
// count against the limits.
func (d *disruptor) launchReplacement(ctx context.Context, run *commandRun, e disruption.LaunchReplacement) error {
	done := &run.replacements[e.Index]
	if done.held != nil && d.now().Before(done.held.Until) {
		return nil
	}
	cmd := run.execution.Command()
	order, err := d.order(ctx, e.Replacement)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		done.err = err
		return err
	}
	leaving := map[types.UID]bool{}
	for i := range cmd.Members {
		leaving[cmd.Members[i].UID] = true
	}
	if e.Replacement.Static {
		// The number of nodes of a static pool must not be checked after the new claim was created and before the old claim is marked: one
		// claim too many would be counted.
		d.planner.scaling.Lock()
		defer d.planner.scaling.Unlock()
	}
	if order.Claim.Annotations == nil {
		order.Claim.Annotations = map[string]string{}
	}
	order.Claim.Annotations[v1.DisruptionCommandAnnotationKey] = e.Record
	outcome := d.planner.launchInstead(ctx, e.Token, []provisioning.Launch{order}, createdReason(cmd.Reason), leaving)
	launched := outcome.Launched[0]
	switch {
	case launched.Err == nil:
		done.claim, done.uid = v1.QualifiedName(launched.Claim), launched.Claim.UID
	case !launched.RetryAt.IsZero():
		done.held = &disruption.HeldBack{Until: launched.RetryAt, Why: launched.Err.Error()}
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	default:
		done.err = launched.Err
		return launched.Err
	}
	done.held = nil
	if e.Replacement.Static {
		for i := range cmd.Members {
			d.state.Mark(cmd.Members[i].Node)
		}
	}
	return nil
}

// order returns the launch that creates a replacement.
func (d *disruptor) order(ctx context.Context, r disruption.Replacement) (provisioning.Launch, error) {
	view, err := d.planner.view(ctx, d.now())
	if err != nil {
		return provisioning.Launch{}, err
	}
	claims := nodeclaims.Options{MinValues: d.planner.options.Query.MinValues, TerminationGracePeriod: d.planner.gracePeriod()}
	if r.Static {
		for i := range view.Snapshot.NodePools {
			if pool := &view.Snapshot.NodePools[i]; pool.Key == r.Pool {
				claims.Lookup = view.Snapshot.Vocabulary.Compile()
				claim, err := nodeclaims.NewStatic(pool, claims)
				return provisioning.Launch{Claim: claim, Pool: pool.Key}, err
			}
		}
		return provisioning.Launch{}, fmt.Errorf("nodepool %s is gone: its nodes are not replaced", r.Pool)
	}
	orders, err := provisioning.Decide(view.Snapshot, &scheduling.Plan{NewNodes: []scheduling.NewNode{*r.Node}}, provisioning.PassOptions{
		Claims: claims, DeviceMatcher: d.planner.options.DeviceMatcher,
	})
	if err != nil {
		return provisioning.Launch{}, err
	}
	if len(orders.Refused) > 0 {
		return provisioning.Launch{}, orders.Refused[0].Err
	}
	return orders.Launches[0], nil
}

// deleteMember deletes the claim of a member, and counts the deletion once.
func (d *disruptor) deleteMember(ctx context.Context, run *commandRun, e disruption.DeleteMember) error {
	if err := deleteClaim(ctx, d.client, e.Claim, e.UID); err != nil {
		return err
	}
	if run.deleted[e.UID] {
		return nil
	}
	run.deleted[e.UID] = true
	cmd := run.execution.Command()
	for i := range cmd.Members {
		if m := &cmd.Members[i]; m.UID == e.UID {
			member := run.members[m.Node]
			d.told.take(cmd.DisruptedSamples(m, member.claim, member.pool))
		}
	}
	d.log.Info("deleted NodeClaim", "nodeClaim", e.Claim, "node", e.Node, "reason", e.Reason, "command", cmd.ID)
	return nil
}

func (d *disruptor) deleteReplacement(ctx context.Context, run *commandRun, e disruption.DeleteReplacement) error {
	for i := range run.replacements {
		if r := &run.replacements[i]; r.claim == e.Claim {
			d.log.Info("deleting unused replacement", "nodeClaim", e.Claim, "command", run.execution.Command().ID)
			return deleteClaim(ctx, d.client, qualified(r.claim).Name, r.uid)
		}
	}
	return nil
}

// reschedulableOn returns the pods of a claim's instance that need another node when it is removed.
func reschedulableOn(state *cluster.State, claim *v1.NodeClaim) []*corev1.Pod {
	var moving []*corev1.Pod
	if instance := state.Node(v1.QualifiedName(claim)); instance != nil {
		for _, pod := range instance.Pods {
			if pods.Reschedulable(pod) {
				moving = append(moving, pod)
			}
		}
	}
	return moving
}
