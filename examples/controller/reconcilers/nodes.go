package reconcilers

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
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

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/provisioning"
)

// nodeReconciler terminates Nodes that are being deleted: it drains the node, waits for its volumes, terminates the instance, and removes
// the finalizer. Nodes without drawknife's finalizer and nodes of other providers are ignored.
type nodeReconciler struct {
	*actor
	mu sync.Mutex
	// draining contains the start of each node's drain, by the node's name, because a node without a claim has no object to store it in.
	draining map[string]drainStart
}

type drainStart struct {
	uid   types.UID
	since time.Time
}

func (r *nodeReconciler) setup(mgr ctrl.Manager, concurrency int) error {
	leaving := func(o client.Object) bool {
		return o.GetDeletionTimestamp() != nil && slices.Contains(o.GetFinalizers(), v1.TerminationFinalizer)
	}
	return ctrl.NewControllerManagedBy(mgr).Named("node.termination").
		For(&corev1.Node{}, withPredicate(leaving)).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(r.leavingNodeOf), withPredicate(func(o client.Object) bool {
			return o.(*corev1.Pod).Spec.NodeName != ""
		})).
		WithOptions(controller.Options{MaxConcurrentReconciles: concurrency}).
		Complete(r)
}

// leavingNodeOf returns a request for the node of a pod if the node is being deleted.
func (r *nodeReconciler) leavingNodeOf(ctx context.Context, pod client.Object) []reconcile.Request {
	name := types.NamespacedName{Name: pod.(*corev1.Pod).Spec.NodeName}
	node := &corev1.Node{}
	if err := r.client.Get(ctx, name, node); err != nil || node.DeletionTimestamp == nil {
		return nil
	}
	return []reconcile.Request{{NamespacedName: name}}
}

// Reconcile handles one node that is being deleted.
func (r *nodeReconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	node := &corev1.Node{}
	if err := r.client.Get(ctx, request.NamespacedName, node); err != nil {
		if apierrors.IsNotFound(err) {
			r.forget(request.Name)
		}
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if node.DeletionTimestamp == nil || !slices.Contains(node.Finalizers, v1.TerminationFinalizer) {
		return reconcile.Result{}, nil
	}
	again, err := r.see(ctx, node)
	if apierrors.IsConflict(err) {
		return reconcile.Result{RequeueAfter: conflictRetry}, nil
	}
	return reconcile.Result{RequeueAfter: again}, err
}

func (r *nodeReconciler) see(ctx context.Context, node *corev1.Node) (time.Duration, error) {
	claims, err := claimsWithProviderID(ctx, r.client, node.Spec.ProviderID)
	if err != nil {
		return 0, err
	}
	if foreign, err := r.foreignNode(ctx, node, claims); err != nil || foreign {
		return 0, err
	}
	state := provisioning.NodeTermination{DrainingSince: r.drainingSince(node)}
	if state.Pods, err = podsOnNode(ctx, r.client, node.Name); err != nil {
		return 0, err
	}
	if state.Attachments, err = attachmentsTo(ctx, r.client, node.Name); err != nil {
		return 0, err
	}
	if state.VolumesOf, err = volumesOf(ctx, r.client, state.Pods); err != nil {
		return 0, err
	}
	uid := node.UID
	work := newRound(claims, []*corev1.Node{node})
	for range longestRound {
		if state.Node = work.nodes[uid]; state.Node == nil {
			r.forget(node.Name)
			r.evictions.remove(state.Pods)
			return 0, nil
		}
		state.Claims = nil
		for _, c := range claims {
			if stored := work.claims[c.UID]; stored != nil {
				state.Claims = append(state.Claims, stored)
			}
		}
		state.Instance = work.instance
		before := snapshotOf(work)
		work.forget()
		step := provisioning.TerminateNode(state, r.now())
		if err := r.run(ctx, work, step); err != nil {
			return 0, err
		}
		switch {
		case snapshotOf(work) == before && !work.learned():
			// A requested deletion triggers a reconcile when it happens, but a drain must also be checked at intervals.
			return sooner(step.Again, drainPause), nil
		case step.Again > 0 && work.instance != provisioning.InstanceGone:
			return step.Again, nil
		}
	}
	return 0, fmt.Errorf("node %s still changes after %d steps", node.Name, longestRound)
}

// drainPause is the longest time between two checks of a node that is being drained.
const drainPause = 5 * time.Second

// snapshotOf returns a text with the versions of all objects of the round. If the text has changed, an object was written.
func snapshotOf(work *round) string {
	versions := make([]string, 0, len(work.claims)+len(work.nodes))
	for uid, c := range work.claims {
		if c != nil {
			versions = append(versions, string(uid)+"="+c.ResourceVersion)
		}
	}
	for uid, n := range work.nodes {
		if n != nil {
			versions = append(versions, string(uid)+"="+n.ResourceVersion)
		}
	}
	slices.Sort(versions)
	return fmt.Sprint(versions)
}

// drainingSince returns the time when this process first saw that the node is being drained.
func (r *nodeReconciler) drainingSince(node *corev1.Node) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	start := r.draining[node.Name]
	if start.uid != node.UID {
		start = drainStart{uid: node.UID, since: r.now()}
		r.draining[node.Name] = start
	}
	return start.since
}

func (r *nodeReconciler) forget(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.draining, name)
}

// withPredicate keeps irrelevant objects out of a controller's queue.
func withPredicate(wanted func(client.Object) bool) builder.Predicates {
	return builder.WithPredicates(predicate.Funcs{
		CreateFunc:  func(e event.CreateEvent) bool { return wanted(e.Object) },
		UpdateFunc:  func(e event.UpdateEvent) bool { return wanted(e.ObjectNew) },
		DeleteFunc:  func(e event.DeleteEvent) bool { return wanted(e.Object) },
		GenericFunc: func(e event.GenericEvent) bool { return wanted(e.Object) },
	})
}
