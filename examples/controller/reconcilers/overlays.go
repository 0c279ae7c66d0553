package reconcilers

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider/overlay"
	"github.com/drawknife/drawknife/provisioning"
	"github.com/drawknife/drawknife/scheduling/cluster"
)

// overlayReconciler writes to the status of NodeOverlays whether they are applied, or why not. It evaluates all overlays together, because
// they may conflict with each other.
type overlayReconciler struct {
	*actor
	state  *cluster.State
	lookup *requirements.Lookup
}

const (
	// overlaysEvery is the interval at which overlays are evaluated if no object changes, because types and prices also change.
	overlaysEvery = 6 * time.Hour
	// overlaysRetry is the delay before another attempt while the view of the cluster is not complete.
	overlaysRetry = time.Second
)

func (r *overlayReconciler) setup(mgr ctrl.Manager) error {
	all := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request { return []reconcile.Request{{}} })
	return ctrl.NewControllerManagedBy(mgr).Named("nodeoverlay").
		Watches(&v1.NodeOverlay{}, all, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&v1.NodePool{}, all, builder.WithPredicates(predicate.Or[client.Object](predicate.GenerationChangedPredicate{}, becomesReady{}))).
		Complete(r)
}

// becomesReady selects updates after which a pool begins to take part in planning or no longer takes part.
type becomesReady struct{ predicate.Funcs }

// Update implements predicate.Predicate.
func (becomesReady) Update(e event.UpdateEvent) bool {
	before, wasPool := e.ObjectOld.(*v1.NodePool)
	after, isPool := e.ObjectNew.(*v1.NodePool)
	return wasPool && isPool && ready(before) != ready(after)
}

// Reconcile evaluates all overlays.
func (r *overlayReconciler) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	if !r.state.Synced() {
		return reconcile.Result{RequeueAfter: overlaysRetry}, nil
	}
	var list v1.NodeOverlayList
	if err := r.client.List(ctx, &list); err != nil {
		return reconcile.Result{}, err
	}
	if len(list.Items) == 0 {
		return reconcile.Result{}, nil
	}
	set, err := provisioning.ResolvePools(ctx, r.provider, r.state.NodePools(), nil, r.now())
	if err != nil {
		return reconcile.Result{}, err
	}
	in := overlay.Input{Overlays: pointers(list.Items), Lookup: r.lookup}
	for i := range set.NodePools {
		if pool := &set.NodePools[i]; pool.Catalog != "" {
			in.Pools = append(in.Pools, overlay.Pool{Key: pool.Key, Object: pool.Object, Types: set.Catalogs[pool.Catalog]})
		}
	}
	var errs []error
	for _, verdict := range overlay.Apply(in).Verdicts {
		errs = append(errs, r.show(ctx, verdict))
	}
	err = errors.Join(errs...)
	return reconcile.Result{RequeueAfter: overlaysEvery}, err
}

// show writes the verdict to the overlay.
func (r *overlayReconciler) show(ctx context.Context, verdict overlay.Verdict) error {
	out := verdict.Overlay.DeepCopy()
	if !verdict.Record(out, r.now()) {
		return nil
	}
	if !verdict.Applied() {
		r.log.Warn("rejected NodeOverlay", "nodeOverlay", out.Name, "reason", string(verdict.Reason), "message", verdict.Message)
	}
	err := r.client.Status().Patch(ctx, out, unchangedSince(verdict.Overlay))
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("updating the status of nodeoverlay %s: %w", out.Name, err)
	}
	return nil
}
