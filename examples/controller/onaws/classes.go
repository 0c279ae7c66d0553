package onaws

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/aws"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
)

// claimsByClass is the name of the index of NodeClaims by the EC2NodeClass they refer to.
const claimsByClass = "spec.nodeClassRef.ec2nodeclass"

var claimObject = &v1.NodeClaim{}

func classOf(o client.Object) []string {
	if name, ok := classNamed(o.(*v1.NodeClaim).Spec.NodeClassRef); ok {
		return []string{name}
	}
	return nil
}

func classNamed(ref v1.NodeClassReference) (string, bool) {
	return ref.Name, ref.Group == awsv1.GroupVersion().Group && ref.Kind == "EC2NodeClass"
}

// classReconciler reconciles EC2NodeClasses with the provider, and writes their status.
type classReconciler struct {
	provider *aws.Provider
	client   client.Client
	events   events.EventRecorder
	log      *slog.Logger
}

// classesAtOnce is how many classes are reconciled in parallel.
const classesAtOnce = 10

func (r *classReconciler) setup(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).Named("nodeclass").
		For(&awsv1.EC2NodeClass{}).
		Watches(&v1.NodeClaim{}, handler.EnqueueRequestsFromMapFunc(func(_ context.Context, o client.Object) []reconcile.Request {
			return requestsFor(o.(*v1.NodeClaim).Spec.NodeClassRef)
		})).
		Watches(&v1.NodePool{}, handler.EnqueueRequestsFromMapFunc(func(_ context.Context, o client.Object) []reconcile.Request {
			return requestsFor(o.(*v1.NodePool).Spec.Template.Spec.NodeClassRef)
		})).
		WithOptions(controller.Options{MaxConcurrentReconciles: classesAtOnce}).
		Complete(r)
}

func requestsFor(ref v1.NodeClassReference) []reconcile.Request {
	name, ok := classNamed(ref)
	if !ok {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: name}}}
}

// Reconcile reconciles one class.
func (r *classReconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	class := &awsv1.EC2NodeClass{}
	if err := r.client.Get(ctx, request.NamespacedName, class); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	observed, err := r.observe(ctx, class)
	if err != nil {
		return reconcile.Result{}, err
	}
	result, err := r.provider.ReconcileNodeClass(ctx, observed)
	if writeErr := r.write(ctx, &observed, &result); writeErr != nil {
		if apierrors.IsConflict(writeErr) {
			return reconcile.Result{RequeueAfter: conflictRetry}, nil
		}
		return reconcile.Result{}, errors.Join(err, writeErr)
	}
	for _, e := range result.Events {
		r.events.Eventf(class, nil, e.Type, e.Reason, e.Reason, "%s", e.Message)
	}
	return reconcile.Result{RequeueAfter: result.RequeueAfter}, err
}

func (r *classReconciler) observe(ctx context.Context, class *awsv1.EC2NodeClass) (aws.ObservedNodeClass, error) {
	observed := aws.ObservedNodeClass{NodeClass: class}
	var claims v1.NodeClaimList
	if err := r.client.List(ctx, &claims, client.MatchingFields{claimsByClass: class.Name}); err != nil {
		return observed, err
	}
	for i := range claims.Items {
		observed.NodeClaims = append(observed.NodeClaims, &claims.Items[i])
	}
	var pools v1.NodePoolList
	if err := r.client.List(ctx, &pools); err != nil {
		return observed, err
	}
	for i := range pools.Items {
		if name, ok := classNamed(pools.Items[i].Spec.Template.Spec.NodeClassRef); ok && name == class.Name {
			observed.NodePools = append(observed.NodePools, &pools.Items[i])
		}
	}
	return observed, nil
}

// write stores the result: the annotations of NodeClaims first, then the class. It writes an object only if it is unchanged since it was
// read.
func (r *classReconciler) write(ctx context.Context, observed *aws.ObservedNodeClass, result *aws.ReconciledNodeClass) error {
	for _, annotations := range result.NodeClaims {
		for _, claim := range observed.NodeClaims {
			if claim.Name != annotations.Name {
				continue
			}
			next := claim.DeepCopy()
			if next.Annotations == nil {
				next.Annotations = map[string]string{}
			}
			maps.Copy(next.Annotations, annotations.Annotations)
			if err := r.client.Patch(ctx, next, unchangedSince(claim)); client.IgnoreNotFound(err) != nil {
				return fmt.Errorf("nodeclaim %s: %w", claim.Name, err)
			}
		}
	}
	if result.NodeClass == nil {
		return nil
	}
	stored := observed.NodeClass
	if result.MetadataChanged {
		next := stored.DeepCopy()
		next.Annotations, next.Finalizers = result.NodeClass.Annotations, result.NodeClass.Finalizers
		if err := r.client.Patch(ctx, next, unchangedSince(stored)); err != nil {
			return client.IgnoreNotFound(err)
		}
		if next.DeletionTimestamp != nil && len(next.Finalizers) == 0 {
			return nil // the class is gone, because its last finalizer was removed
		}
		stored = next
	}
	if !result.StatusChanged {
		return nil
	}
	next := stored.DeepCopy()
	next.Status = result.NodeClass.Status
	if err := r.client.Status().Patch(ctx, next, unchangedSince(stored)); client.IgnoreNotFound(err) != nil {
		return err
	}
	r.log.Debug("reconciled EC2NodeClass", "nodeClass", next.Name, "conditions", len(next.Status.Conditions))
	return nil
}

func unchangedSince(base client.Object) client.Patch {
	return client.MergeFromWithOptions(base.DeepCopyObject().(client.Object), client.MergeFromWithOptimisticLock{})
}
