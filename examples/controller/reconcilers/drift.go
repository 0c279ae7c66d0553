package reconcilers

import (
	"context"
	"maps"
	"sync"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/scheduling/cluster"
)

// conditionReconciler sets the conditions of NodeClaims that make them candidates for disruption: Consolidatable and Drifted.
type conditionReconciler struct {
	*actor
	state  *cluster.State
	lookup *requirements.Lookup
	// detector checks whether instances match their node class; nil if the provider does not support it.
	detector cloudprovider.DriftDetector
	// typesOf returns the instance types of a pool in the last planning pass, or nil if that pass did not read the pool.
	typesOf func(v1.PoolKey) []*cloudprovider.InstanceType
	// nodeClasses are watched, because a change of a node class may cause drift.
	nodeClasses []client.Object
	// withoutDrift turns drift off (feature gate Drift).
	withoutDrift bool

	mu sync.Mutex
	// answers are the detector's results, by claim.
	answers map[types.UID]driftAnswer
	// classChanges is the number of changes of node classes so far.
	classChanges int
}

// driftAnswer is the detector's result for a claim, with the time, and with the pool's generation and classChanges at that time.
type driftAnswer struct {
	disruption.ProviderDrift
	at                       time.Time
	generation, classChanges int64
}

// driftAnswerFor is how long a drift result is reused while neither pool nor node classes change. Claims are reconciled at every change,
// and the provider must not be asked that often.
const driftAnswerFor = time.Minute

func (r *conditionReconciler) setup(mgr ctrl.Manager, concurrency int) error {
	b := ctrl.NewControllerManagedBy(mgr).Named("nodeclaim.disruption").
		For(&v1.NodeClaim{}).
		Watches(&v1.NodePool{}, handler.EnqueueRequestsFromMapFunc(r.claimsOfPool), builder.WithPredicates(predicate.Funcs{UpdateFunc: changesClaims})).
		WithOptions(controller.Options{MaxConcurrentReconciles: concurrency})
	for _, class := range r.nodeClasses {
		b = b.Watches(class, handler.EnqueueRequestsFromMapFunc(r.claimsOfClass))
	}
	return b.Complete(r)
}

// changesClaims reports whether a change of a pool may affect its claims' conditions: any change except of its disruption
// history, which every command writes.
func changesClaims(e event.UpdateEvent) bool {
	before, wasPool := e.ObjectOld.(*v1.NodePool)
	after, isPool := e.ObjectNew.(*v1.NodePool)
	if !wasPool || !isPool || before.Annotations[v1.DisruptionHistoryAnnotationKey] == after.Annotations[v1.DisruptionHistoryAnnotationKey] {
		return true
	}
	old, fresh := maps.Clone(before.Annotations), maps.Clone(after.Annotations)
	delete(old, v1.DisruptionHistoryAnnotationKey)
	delete(fresh, v1.DisruptionHistoryAnnotationKey)
	return before.UID != after.UID || before.Generation != after.Generation || !maps.Equal(old, fresh) || !apiequality.Semantic.DeepEqual(before.Status, after.Status)
}

func (r *conditionReconciler) claimsOfPool(ctx context.Context, pool client.Object) []reconcile.Request {
	return r.claimsWhere(ctx, func(c *v1.NodeClaim) bool {
		return v1.PoolOf(c.Labels) == v1.PoolKey{Generation: v1.GenerationOf(pool), Name: pool.GetName()}
	})
}

func (r *conditionReconciler) claimsOfClass(ctx context.Context, class client.Object) []reconcile.Request {
	r.mu.Lock()
	r.classChanges++
	r.mu.Unlock()
	return r.claimsWhere(ctx, func(c *v1.NodeClaim) bool { return c.Spec.NodeClassRef.Name == class.GetName() })
}

func (r *conditionReconciler) claimsWhere(ctx context.Context, is func(*v1.NodeClaim) bool) []reconcile.Request {
	var list v1.NodeClaimList
	if err := r.client.List(ctx, &list); err != nil {
		r.log.Error("cannot list NodeClaims that a change may affect, ignoring the change", "error", err)
		return nil
	}
	var out []reconcile.Request
	for i := range list.Items {
		if is(&list.Items[i]) {
			out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
	}
	return out
}

// Reconcile checks one claim.
func (r *conditionReconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	claim := &v1.NodeClaim{}
	if err := r.client.Get(ctx, request.NamespacedName, claim); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if claim.DeletionTimestamp != nil {
		r.forget(claim.UID)
		return reconcile.Result{}, nil
	}
	if !r.provider.Describe().SupportsNodeClass(claim.Spec.NodeClassRef) {
		return reconcile.Result{}, nil // another provider's
	}
	pool, err := poolOf(ctx, r.client, claim)
	if err != nil {
		return reconcile.Result{}, err
	}
	want := claim.DeepCopy()
	again := r.consolidatable(want, pool)
	driftAgain, driftErr := r.drift(ctx, want, pool)
	again = sooner(again, driftAgain)
	if _, err := putClaim(ctx, r.client, claim, want); err != nil {
		if apierrors.IsConflict(err) {
			return reconcile.Result{RequeueAfter: conflictRetry}, nil
		}
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: again}, driftErr
}

// unseenRetry is the delay for a claim that is not in the view of the cluster yet.
const unseenRetry = time.Second

func (r *conditionReconciler) consolidatable(claim *v1.NodeClaim, pool *v1.NodePool) (again time.Duration) {
	instance := r.state.Node(v1.QualifiedName(claim))
	if instance == nil || instance.Claim == nil || instance.Claim.UID != claim.UID {
		return unseenRetry
	}
	seen := *instance
	seen.Claim = claim // the claim in the view may be older than this claim
	_, again = disruption.MarkConsolidatable(claim, &seen, pool, r.now())
	return again
}

// drift sets the condition Drifted. Without its pool, the claim can't be checked for drift.
func (r *conditionReconciler) drift(ctx context.Context, claim *v1.NodeClaim, pool *v1.NodePool) (time.Duration, error) {
	now := r.now()
	if r.withoutDrift {
		claim.Conditions().Clear(v1.ConditionDrifted, now)
		return 0, nil
	}
	state := disruption.DriftState{Claim: claim.DeepCopy(), Pool: pool, Lookup: r.lookup}
	if pool != nil {
		state.InstanceTypes = r.typesOf(pool.Key())
	}
	step, err := disruption.MarkDrift(claim, state, now)
	if err != nil || !step.Ask {
		return step.Again, err
	}
	answer := r.ask(ctx, claim, pool, now)
	state.Provider = &answer
	step, err = disruption.MarkDrift(claim, state, now)
	return step.Again, err
}

// ask asks the provider, unless a recent result exists. After an error, the provider is asked again in each call.
func (r *conditionReconciler) ask(ctx context.Context, claim *v1.NodeClaim, pool *v1.NodePool, now time.Time) disruption.ProviderDrift {
	if r.detector == nil {
		return disruption.ProviderDrift{}
	}
	r.mu.Lock()
	known, changes := r.answers[claim.UID], int64(r.classChanges)
	r.mu.Unlock()
	if known.Err == nil && now.Sub(known.at) < driftAnswerFor && known.generation == pool.Generation && known.classChanges == changes {
		return known.ProviderDrift
	}
	reason, err := r.detector.IsDrifted(ctx, claim)
	answer := driftAnswer{ProviderDrift: disruption.ProviderDrift{Reason: reason, Err: err}, at: now, generation: pool.Generation, classChanges: changes}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answers[claim.UID] = answer
	return answer.ProviderDrift
}

func (r *conditionReconciler) forget(uid types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.answers, uid)
}
