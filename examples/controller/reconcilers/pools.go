package reconcilers

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/provisioning"
	"github.com/drawknife/drawknife/scheduling/cluster"
	"github.com/drawknife/drawknife/scheduling/limits"
)

// poolReconciler writes to the status of NodePools whether they may launch, which resources their nodes use and whether their launches
// succeed. It also keeps static pools at their number of nodes.
type poolReconciler struct {
	*actor
	state  *cluster.State
	lookup *requirements.Lookup
	// classes reports whether node classes are ready. If it is nil, all classes of served kinds count as ready.
	classes cloudprovider.NodeClassStatus
	// planner orders missing nodes of static pools. static reports whether static pools are enabled.
	planner *planner
	static  bool
}

// poolEvery is the interval for checking the usage and the node class of a pool: status.resources is never older.
const poolEvery = 5 * time.Second

func (r *poolReconciler) setup(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).Named("nodepool").
		For(&v1.NodePool{}).
		Watches(&v1.NodeClaim{}, handler.EnqueueRequestsFromMapFunc(func(_ context.Context, claim client.Object) []reconcile.Request {
			pool := v1.PoolOf(claim.GetLabels())
			if pool.IsZero() {
				return nil
			}
			return []reconcile.Request{{NamespacedName: qualified(pool.String())}}
		})).
		Complete(r)
}

// Reconcile checks one pool.
func (r *poolReconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	pool := &v1.NodePool{}
	if err := r.client.Get(ctx, request.NamespacedName, pool); err != nil {
		if apierrors.IsNotFound(err) {
			r.metrics.poolGone(v1.PoolKey{Generation: v1.Generation(request.Namespace), Name: request.Name}.String())
		}
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if r.foreignPool(pool) && !r.misspelt(pool) {
		return reconcile.Result{}, nil // the controller of the pool's provider writes its status
	}
	if pool.DeletionTimestamp != nil {
		r.health.show(func(h *provisioning.RegistrationHealth, l *provisioning.LaunchHealth) {
			h.Forget(pool.UID)
			l.Forget(pool.Key())
		})
	}
	usage, nodes := r.usage(pool.Key())
	state := provisioning.PoolState{
		Pool: pool, Capabilities: r.provider.Describe(), Lookup: r.lookup, Class: r.class(ctx, pool), Usage: usage, Nodes: nodes,
	}
	var out *v1.NodePool
	r.health.show(func(h *provisioning.RegistrationHealth, l *provisioning.LaunchHealth) {
		state.Health, state.Launches = h, l
		out = provisioning.PoolStatus(state, r.now())
	})
	if out != nil {
		if err := putPool(ctx, r.client, pool, out); err != nil {
			if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
				return reconcile.Result{RequeueAfter: conflictRetry}, nil
			}
			return reconcile.Result{}, err
		}
		if !ready(out) && ready(pool) {
			r.log.Warn("marked NodePool not ready", "nodePool", v1.QualifiedName(pool), "message", out.Conditions().Ready().Message)
		}
		pool = out
	}
	r.metrics.poolShown(pool)
	if err := r.keepLearned(ctx, pool); err != nil {
		if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
			return reconcile.Result{RequeueAfter: conflictRetry}, nil
		}
		return reconcile.Result{}, err
	}
	again := poolEvery
	if r.static && pool.Spec.Replicas != nil && r.state.Synced() {
		wait, err := r.scale(ctx, pool)
		if err != nil {
			return reconcile.Result{}, err
		}
		again = sooner(again, wait)
	}
	return reconcile.Result{RequeueAfter: again}, nil
}

// class returns the readiness of the pool's node class, or nil if it is unknown.
func (r *poolReconciler) class(ctx context.Context, pool *v1.NodePool) *cloudprovider.NodeClassReadiness {
	if r.classes == nil {
		return &cloudprovider.NodeClassReadiness{Status: "True"}
	}
	ref := pool.Spec.Template.Spec.NodeClassRef
	if !r.provider.Describe().SupportsNodeClass(ref) {
		return nil
	}
	answer, err := r.classes.NodeClassStatus(ctx, ref)
	if err != nil {
		r.log.Warn("cannot read readiness of node class, treating it as unknown", "nodePool", v1.QualifiedName(pool), "nodeClass", ref.Name, "error", err)
		return nil
	}
	return &answer
}

// usage returns the total resources of the pool's nodes, or nil while the view is not complete. Nodes without an instance and nodes that
// are being removed don't count.
func (r *poolReconciler) usage(pool v1.PoolKey) (corev1.ResourceList, int) {
	if !r.state.Synced() {
		return nil, 0
	}
	usage := r.state.Snapshot(cluster.Query{Time: r.now()}).Usage()[pool]
	if usage == nil {
		usage = corev1.ResourceList{} // not nil, because the usage is known: it is empty
	}
	nodes := usage[limits.ResourceNodes]
	return usage, int(nodes.Value())
}
