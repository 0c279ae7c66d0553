package reconcilers

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	autoscalingv1 "github.com/drawknife/drawknife/api/autoscaling/v1"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/cluster"
	"github.com/drawknife/drawknife/scheduling/requests"
)

// requestAnswerer answers ProvisioningRequests with each planning pass. All its state is in the status of the requests. A nil answerer has
// no requests.
type requestAnswerer struct {
	client client.Client
	log    *slog.Logger
	// query and matcher are the query and the device matcher of the planner.
	query   scheduling.Query
	matcher scheduling.DeviceMatcher

	mu sync.Mutex
	// written contains the answers that were written last, by the UID of the request; the cache may not show them yet.
	written map[types.UID]writtenAnswer
}

// writtenAnswer is a request as it was last written, with the resource versions that it had before. Objects with these versions are
// outdated.
type writtenAnswer struct {
	older   []string
	request *autoscalingv1.ProvisioningRequest
}

// requestsTrigger triggers a pass for requests.
const requestsTrigger types.UID = "requests"

// requestsEvery is the interval for answering requests without a trigger, because bookings end and capacity becomes free.
const requestsEvery = 15 * time.Second

// input returns the input for answering requests.
func (a *requestAnswerer) input(ctx context.Context, snapshot *scheduling.Snapshot) (requests.Input, error) {
	var list autoscalingv1.ProvisioningRequestList
	if err := a.client.List(ctx, &list); err != nil {
		return requests.Input{}, err
	}
	in := requests.Input{Snapshot: snapshot, Requests: a.latest(list.Items), Query: a.query, DeviceMatcher: a.matcher}
	if len(in.Requests) == 0 {
		return in, nil
	}
	var templates corev1.PodTemplateList
	if err := a.client.List(ctx, &templates); err != nil {
		return requests.Input{}, err
	}
	in.PodTemplates = pointers(templates.Items)
	return in, nil
}

// latest returns the requests, each with the answer that was written last. If an answer was missing for a moment, the capacity that it has
// booked could be promised again.
func (a *requestAnswerer) latest(list []autoscalingv1.ProvisioningRequest) []*autoscalingv1.ProvisioningRequest {
	a.mu.Lock()
	defer a.mu.Unlock()
	out, left := pointers(list), map[types.UID]writtenAnswer{}
	for i, r := range out {
		if w, ok := a.written[r.UID]; ok && slices.Contains(w.older, r.ResourceVersion) {
			out[i], left[r.UID] = w.request, w
		}
	}
	a.written = left
	return out
}

// begin begins a round. It returns the snapshot to plan. If there are no requests, there is no round, and begin returns snapshot.
func (a *requestAnswerer) begin(ctx context.Context, snapshot *scheduling.Snapshot) (*requests.Round, *scheduling.Snapshot, error) {
	if a == nil {
		return nil, snapshot, nil
	}
	in, err := a.input(ctx, snapshot)
	if err != nil {
		return nil, nil, err
	}
	if len(in.Requests) == 0 {
		return nil, snapshot, nil
	}
	round, err := requests.Begin(ctx, in)
	if err != nil {
		return nil, nil, fmt.Errorf("answering ProvisioningRequests: %w", err)
	}
	return round, round.Snapshot, nil
}

// answer writes the answers of the round, and returns the nodes that requests need.
func (a *requestAnswerer) answer(ctx context.Context, round *requests.Round, plan *scheduling.Plan) ([]string, error) {
	if round == nil {
		return nil, nil
	}
	answers, err := round.Answer(ctx, plan)
	if err != nil {
		return nil, fmt.Errorf("answering ProvisioningRequests: %w", err)
	}
	for _, answer := range answers {
		if answer.Changed {
			a.write(ctx, &answer)
		}
	}
	return round.Hosts(plan), nil
}

// write writes an answer. If somebody else has changed the request in the meantime, the next round answers it again.
func (a *requestAnswerer) write(ctx context.Context, answer *requests.Answer) {
	name, out := answer.Request.Namespace+"/"+answer.Request.Name, answer.Request.DeepCopy()
	if err := a.client.Status().Patch(ctx, out, unchangedSince(answer.Given)); err != nil {
		if ctx.Err() == nil {
			a.log.Warn("cannot update status of ProvisioningRequest, retrying in the next pass", "provisioningRequest", name, "error", err)
		}
		return
	}
	a.mu.Lock()
	a.written[out.UID] = writtenAnswer{append(a.written[out.UID].older, answer.Given.ResourceVersion), out}
	a.mu.Unlock()
	c := out.Outcome()
	a.log.Info("answered ProvisioningRequest", "provisioningRequest", name, "condition", c.Type, "status", string(c.Status), "reason", c.Reason)
}

// hold returns the view in which booked capacity is used by pods that must not be moved. Components that remove nodes use this view.
func (a *requestAnswerer) hold(ctx context.Context, view *cluster.View) (*cluster.View, error) {
	if a == nil {
		return view, nil
	}
	in, err := a.input(ctx, view.Snapshot)
	if err != nil {
		return nil, err
	}
	held := requests.Held(in)
	if len(held) == 0 {
		return view, nil
	}
	out := *view
	out.Snapshot, out.Nodes = requests.With(view.Snapshot, held), slices.Clone(view.Nodes)
	for i := range out.Nodes {
		if pods := held[out.Nodes[i].Name]; len(pods) > 0 {
			out.Nodes[i].Pods = slices.Concat(out.Nodes[i].Pods, pods)
		}
	}
	return &out, nil
}

// requestReconciler triggers passes for requests: at once when a request or a PodTemplate is created, changed or deleted, and also from
// time to time.
type requestReconciler struct{ add func(types.UID) }

func (r *requestReconciler) setup(mgr ctrl.Manager) error {
	all := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request { return []reconcile.Request{{}} })
	changed := builder.WithPredicates(predicate.GenerationChangedPredicate{})
	return ctrl.NewControllerManagedBy(mgr).Named("provisioningrequest").
		Watches(&autoscalingv1.ProvisioningRequest{}, all, changed).
		Watches(&corev1.PodTemplate{}, all, changed).
		Complete(r)
}

// Reconcile triggers a pass. It is called again after requestsEvery.
func (r *requestReconciler) Reconcile(context.Context, reconcile.Request) (reconcile.Result, error) {
	r.add(requestsTrigger)
	return reconcile.Result{RequeueAfter: requestsEvery}, nil
}
