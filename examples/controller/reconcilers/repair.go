package reconcilers

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/disruption"
)

// repairReconciler removes nodes that stay broken.
type repairReconciler struct {
	*remover
	policies []cloudprovider.RepairPolicy
}

func (r *repairReconciler) setup(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).Named("node.repair").
		For(&corev1.Node{}, withPredicate(func(o client.Object) bool { return o.GetLabels()[v1.NodeRegisteredLabelKey] == "true" })).
		Complete(r)
}

// Reconcile checks one node.
func (r *repairReconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	node := &corev1.Node{}
	if err := r.client.Get(ctx, request.NamespacedName, node); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	claims, err := claimsWithProviderID(ctx, r.client, node.Spec.ProviderID)
	if err != nil || len(claims) != 1 || !r.provider.Describe().SupportsNodeClass(claims[0].Spec.NodeClassRef) {
		return reconcile.Result{}, err
	}
	nodes, err := allNodes(ctx, r.client)
	if err != nil {
		return reconcile.Result{}, err
	}
	step := disruption.Repair(disruption.RepairState{Node: node, Claim: claims[0], Policies: r.policies, Nodes: nodes}, r.now())
	if step.Block != nil {
		r.log.Warn("skipped node repair", "node", node.Name, "reason", step.Block.String())
		publishDisruption(r.recorder, step.Block.Events(node, claims[0]))
	}
	if step.Removal != nil {
		if err := r.remove(ctx, step.Removal, node.Name); err != nil {
			if apierrors.IsConflict(err) {
				return reconcile.Result{RequeueAfter: conflictRetry}, nil
			}
			return reconcile.Result{}, err
		}
	}
	return reconcile.Result{RequeueAfter: step.Again}, nil
}
