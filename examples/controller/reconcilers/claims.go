package reconcilers

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/provisioning"
)

// longestRound is the maximum number of steps in one reconcile: a state machine that never settles causes an error instead of a
// busy loop.
const longestRound = 20

// conflictRetry is the wait after a write conflict: after this time, the watch shows the new object.
const conflictRetry = 200 * time.Millisecond

// claimReconciler reconciles NodeClaims: launch, registration, initialization, expiry and termination.
type claimReconciler struct {
	*actor
	// reader reads from the API server, because a node that the cache does not show yet must not count as lost.
	reader   client.Reader
	supports func(v1.NodeClassReference) bool
	// devices means that nodes must wait for the drivers that their plan depends on.
	devices bool
	// gone is called for deleted claims.
	gone func(types.NamespacedName)
	// removed is called for expired claims, which count against budgets with a rate.
	removed func(disruption.Disruption)

	mu sync.Mutex
	// launchAfter is the time before which a failed launch must not be retried. It is needed because storing the failure triggers the
	// reconciler again.
	launchAfter map[types.UID]time.Time
	// checked is the time of the last consistency check of each claim.
	checked map[types.UID]time.Time
}

func (r *claimReconciler) setup(mgr ctrl.Manager, concurrency int) error {
	builder := ctrl.NewControllerManagedBy(mgr).Named("nodeclaim.lifecycle").
		For(&v1.NodeClaim{}).
		Watches(&corev1.Node{}, handler.EnqueueRequestsFromMapFunc(r.claimsOfNode))
	if r.devices {
		builder = builder.Watches(&resourcev1.ResourceSlice{}, handler.EnqueueRequestsFromMapFunc(r.claimsOfSlice))
	}
	return builder.
		WithOptions(controller.Options{MaxConcurrentReconciles: concurrency}).
		Complete(r)
}

// claimsOfNode returns the claims affected by a change of the node.
func (r *claimReconciler) claimsOfNode(ctx context.Context, node client.Object) []reconcile.Request {
	claims, err := claimsWithProviderID(ctx, r.client, node.(*corev1.Node).Spec.ProviderID)
	if err != nil {
		r.log.Error("cannot list NodeClaims of node, ignoring a change of the node", "node", node.GetName(), "error", err)
	}
	var list []reconcile.Request
	for _, c := range claims {
		list = append(list, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(c)})
	}
	return list
}

// Reconcile carries out the next steps of one claim.
func (r *claimReconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	claim := &v1.NodeClaim{}
	if err := r.client.Get(ctx, request.NamespacedName, claim); err != nil {
		if apierrors.IsNotFound(err) {
			r.gone(request.NamespacedName)
		}
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !r.supports(claim.Spec.NodeClassRef) {
		return reconcile.Result{}, nil // another provider's
	}
	again, err := r.see(ctx, claim)
	if apierrors.IsConflict(err) {
		return reconcile.Result{RequeueAfter: conflictRetry}, nil
	}
	return reconcile.Result{RequeueAfter: again}, err
}

// see advances the claim as far as possible, and returns when to continue.
func (r *claimReconciler) see(ctx context.Context, claim *v1.NodeClaim) (time.Duration, error) {
	uid := claim.UID
	nodes, err := nodesWithProviderID(ctx, r.client, claim.Status.ProviderID)
	if err == nil && len(nodes) == 0 {
		nodes, err = r.readNode(ctx, claim)
	}
	if err != nil {
		return 0, err
	}
	work := newRound([]*v1.NodeClaim{claim}, nodes)
	if work.slices, err = r.slicesFor(ctx, claim, nodes); err != nil {
		return 0, err
	}
	if work.group, err = r.groupOf(ctx, claim); err != nil {
		return 0, err
	}
	for range longestRound {
		claim = work.claims[uid]
		if claim == nil {
			r.forget(uid)
			return 0, nil
		}
		step, wait := r.next(claim, work)
		if wait > 0 {
			return wait, nil
		}
		if len(step.Effects) == 0 {
			r.recorder.publish(step.Events)
			return r.settled(ctx, work, claim, step.Again)
		}
		before := claim
		work.forget()
		if err := r.run(ctx, work, step); err != nil {
			return 0, err
		}
		if work.created != nil {
			// The result of a launch is handled in a separate step.
			again := work.created.Again
			r.waitForLaunch(uid, again)
			if err := r.run(ctx, work, *work.created); err != nil {
				return 0, err
			}
			if again > 0 {
				return again, nil
			}
		}
		if work.claims[uid] == before && !work.learned() {
			return step.Again, nil // the watch shows the results of the effects, which triggers a new reconcile
		}
		if step.Again > 0 && work.instance == provisioning.InstanceEnding {
			return step.Again, nil
		}
	}
	return 0, fmt.Errorf("nodeclaim %s still changes after %d steps", claim.Name, longestRound)
}

// readNode reads the node that the claim is registered with from the API server, not from the cache.
func (r *claimReconciler) readNode(ctx context.Context, claim *v1.NodeClaim) ([]*corev1.Node, error) {
	if claim.Status.NodeName == "" || claim.DeletionTimestamp != nil {
		return nil, nil
	}
	node := &corev1.Node{}
	switch err := r.reader.Get(ctx, types.NamespacedName{Name: claim.Status.NodeName}, node); {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading node %s of nodeclaim %s: %w", claim.Status.NodeName, claim.Name, err)
	case node.Spec.ProviderID != claim.Status.ProviderID:
		return nil, nil
	}
	return []*corev1.Node{node}, nil
}

// next returns the claim's next step; wait is how long to wait before a failed launch is retried.
func (r *claimReconciler) next(claim *v1.NodeClaim, work *round) (step provisioning.Step, wait time.Duration) {
	now := r.now()
	nodes := work.present()
	if claim.DeletionTimestamp != nil {
		return provisioning.TerminateClaim(provisioning.ClaimTermination{
			Claim: claim, Nodes: nodes, Searched: work.searched, Found: work.found, Instance: work.instance,
		}, now), 0
	}
	step = r.lifecycle.Next(provisioning.ClaimState{Claim: claim, Nodes: nodes, Slices: work.slices, Group: work.group, HasGates: len(r.gates) > 0, Gates: work.gates}, now)
	if len(step.Effects) == 1 {
		if _, launch := step.Effects[0].(provisioning.CreateInstance); launch {
			r.mu.Lock()
			wait = r.launchAfter[claim.UID].Sub(now)
			r.mu.Unlock()
		}
	}
	return step, max(0, wait)
}

// settled does the remaining work for a claim: it adds fields that older versions left out, checks the expiry, and checks the consistency
// of its node's size.
func (r *claimReconciler) settled(ctx context.Context, work *round, claim *v1.NodeClaim, again time.Duration) (time.Duration, error) {
	if claim.DeletionTimestamp != nil {
		return again, nil
	}
	now := r.now()
	expiry := disruption.Expire(claim, now)
	if expiry.Removal != nil {
		return 0, r.expire(ctx, work, claim)
	}
	again = sooner(again, expiry.Again)
	pool, err := poolOf(ctx, r.client, claim)
	if err != nil {
		return 0, err
	}
	var hydration provisioning.Step
	if out := provisioning.HydrateClaim(claim, pool); out != nil {
		hydration.Effects = append(hydration.Effects, provisioning.PutClaim{Claim: out})
	}
	for _, node := range work.present() {
		if out := provisioning.HydrateNode(node, claim); out != nil {
			hydration.Effects = append(hydration.Effects, provisioning.PutNode{Node: out})
		}
	}
	if err := r.run(ctx, work, hydration); err != nil {
		return 0, err
	}
	if claim = work.claims[claim.UID]; claim == nil || !claim.DeepCopy().Conditions().IsTrue(v1.ConditionInitialized) || !r.consistencyDue(claim.UID, now) {
		return again, nil
	}
	check := provisioning.CheckConsistency(claim, work.present(), now)
	return sooner(again, check.Again), r.run(ctx, work, check)
}

// expire deletes an expired claim.
func (r *claimReconciler) expire(ctx context.Context, work *round, claim *v1.NodeClaim) error {
	moving := r.podsOf(claim)
	if err := r.deleteClaim(ctx, work, provisioning.DeleteClaim{Name: claim.Name, UID: claim.UID, Reason: provisioning.ReasonExpired}); err != nil {
		return err
	}
	r.removed(disruption.ForcedDisruption(claim, claim.Status.NodeName, disruption.ReasonExpired, moving, r.now()))
	return nil
}

// consistencyDue reports whether a node's size must be checked now. If it returns true, it records the present time as the time of the
// check. Every change of a claim triggers a reconcile, which would be too often for this check.
func (r *claimReconciler) consistencyDue(uid types.UID, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Sub(r.checked[uid]) < consistencyPause {
		return false
	}
	r.checked[uid] = now
	return true
}

// consistencyPause is the minimum time between two checks; it is slightly less than the interval of CheckConsistency.
const consistencyPause = 9 * time.Minute

func (r *claimReconciler) waitForLaunch(uid types.UID, d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if d > 0 {
		r.launchAfter[uid] = r.now().Add(d)
	} else {
		delete(r.launchAfter, uid)
	}
}

func (r *claimReconciler) forget(uid types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.launchAfter, uid)
	delete(r.checked, uid)
}

// sooner returns the shorter of two waits; a wait of 0 means forever.
func sooner(a, b time.Duration) time.Duration {
	if a <= 0 || b > 0 && b < a {
		return b
	}
	return a
}
