package requests

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/autoscaling/v1"
	"github.com/drawknife/drawknife/api/option"
	apiv1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Round is one pass over all requests, in which each request is answered once.
type Round struct {
	// Snapshot is the input of the plan: the snapshot of the Input, changed in three ways. Bookings hold their room, requests of
	// v1.ClassBestEffortAtomicScaleUp are gangs, and the pods in HeldBack are left out.
	Snapshot *scheduling.Snapshot
	// HeldBack are waiting pods that use a request of v1.ClassCheckCapacity without booked room. Nothing is launched for them.
	HeldBack []scheduling.PodKey

	in      Input
	demands []*demand
	// booked, checks, scaleUps and plans are the demands of this round, grouped by the work to do.
	booked, checks, scaleUps, plans []*demand
	// held are pods that represent booked room, by node. nominee has, for each pod that uses booked room, the name of the node with this
	// room.
	held    map[string][]*corev1.Pod
	nominee map[scheduling.PodKey]string
	// ready are the nodes that have joined and are initialised.
	ready map[string]bool
	// inGang are the members of the gangs that the snapshot has apart from the requests.
	inGang map[scheduling.PodKey]bool
}

// Begin starts a round, before the snapshot is planned. It returns an *option.ArgumentError without a snapshot, a *scheduling.SnapshotError
// for a contradictory snapshot, and the context's error if the context has ended.
func Begin(ctx context.Context, in Input) (*Round, error) {
	if in.Snapshot == nil {
		return nil, option.Missing("requests.Begin", "the snapshot")
	}
	r := newRound(in)
	if err := r.holdBookings(ctx); err != nil {
		return nil, err
	}
	r.pickPods()
	if err := r.checkCapacity(ctx); err != nil {
		return nil, err
	}
	r.Snapshot = With(r.Snapshot, r.held)
	for _, d := range r.scaleUps {
		if g, any := d.gang(-1, r.inGang); any {
			r.Snapshot.Gangs = append(r.Snapshot.Gangs, g)
		}
	}
	return r, nil
}

// newRound groups the requests by the work to do, and ends the requests whose time is over.
func newRound(in Input) *Round {
	r := &Round{
		in: in, held: map[string][]*corev1.Pod{}, nominee: map[scheduling.PodKey]string{},
		ready: map[string]bool{}, inGang: map[scheduling.PodKey]bool{},
	}
	for i := range in.Snapshot.Nodes {
		if n := &in.Snapshot.Nodes[i]; isReady(n) {
			r.ready[n.Name] = true
		}
	}
	left := in.maxPods()
	for _, g := range in.Snapshot.Gangs {
		left -= g.Size() - len(g.Members)
		for _, key := range g.Members {
			r.inGang[key] = true
		}
	}
	moulds, consumers := newResolver(&in), findConsumers(in.Snapshot)
	for _, request := range in.mine() {
		d := &demand{given: request, answer: request.DeepCopy()}
		if d.answer.Status.ProvisioningClassDetails == nil {
			d.answer.Status.ProvisioningClassDetails = map[string]v1.Detail{}
		}
		r.demands = append(r.demands, d)
		d.pods = len(consumers[nameOf(request)])
		if r.sort(d, moulds) {
			d.match(consumers[nameOf(request)])
			r.assign(d, &left)
		}
	}
	return r
}

// isReady reports whether the node has joined and, if it was launched for a claim, is initialised.
func isReady(n *scheduling.Node) bool {
	return n.Object != nil && !n.Leaving && (n.Claim == nil || n.Object.Labels[apiv1.NodeInitializedLabelKey] == "true")
}

// sort ends the request if its time is over or if it is invalid. If neither is the case, it makes the request's pods if their PodTemplates
// exist. It reports whether the request still needs work in this round.
func (r *Round) sort(d *demand, moulds *resolver) bool {
	if d.given.Done() {
		return false
	}
	booked := d.given.Booked()
	if booked && r.in.over(r.bookedUntil(d.given)) {
		r.set(d, v1.ConditionBookingExpired, v1.ReasonCapacityReservationTimeExpired, "the time is over for which room was booked")
		return false
	}
	if errs := d.given.Validate(); len(errs) > 0 {
		r.set(d, v1.ConditionFailed, v1.ReasonFailedToCreatePods, errs.ToAggregate().Error())
		return false
	}
	if most := r.in.maxPods(); d.count() > most {
		r.set(d, v1.ConditionFailed, v1.ReasonFailedToCreatePods, fmt.Sprintf("it asks for %d pods, and more than %d are not planned together: make smaller requests", d.count(), most))
		return false
	}
	late := r.late(d.given) && !booked
	if name := moulds.missing(d.given); name != "" {
		why := fmt.Sprintf("there is no PodTemplate %q in namespace %q", name, d.given.Namespace)
		switch {
		case booked:
			r.revoke(d, v1.ReasonPodTemplateNotFound, why)
		case late:
			r.set(d, v1.ConditionFailed, v1.ReasonExpired, "its time is over: "+why)
		default:
			d.answer.SetCondition(v1.ConditionAccepted, no, v1.ReasonPodTemplateNotFound, why+" yet", r.in.Snapshot.Time)
		}
		return false
	}
	if tried := d.given.Condition(v1.ConditionProvisioned); late && tried.Status == no {
		r.set(d, v1.ConditionFailed, v1.ReasonExpired, "its time is over: "+tried.Message)
		return false
	}
	moulds.fill(d)
	d.answer.SetCondition(v1.ConditionAccepted, yes, v1.ReasonAccepted, "the request is understood", r.in.Snapshot.Time)
	return true
}

// late reports whether the request's time is over. A request that was never stored in an API server is not late, because it was just made.
func (r *Round) late(request *v1.ProvisioningRequest) bool {
	return !request.CreationTimestamp.IsZero() && r.in.over(request.ValidUntil())
}

// assign decides what to do with the request in this round. The parameter left is the number of further pods that the requests of this
// round may have.
func (r *Round) assign(d *demand, left *int) {
	if d.given.Booked() {
		d.booked = readPlaces(d.answer.Status.ProvisioningClassDetails, len(d.moulds))
		r.booked = append(r.booked, d)
		return
	}
	if d.class() == v1.ClassPlan {
		if d.count() <= *left {
			r.plans = append(r.plans, d)
		}
		return
	}
	if d.count() > *left {
		return // the oldest requests come first; this request is for a later round
	}
	*left -= d.count()
	if d.class() == v1.ClassCheckCapacity {
		r.checks = append(r.checks, d)
	} else {
		r.scaleUps = append(r.scaleUps, d)
	}
}

// bookedUntil returns when the request's booking ends. This is the time in the request's status. If the status has no such time, the
// booking ends after the usual duration.
func (r *Round) bookedUntil(request *v1.ProvisioningRequest) time.Time {
	if until, err := time.Parse(time.RFC3339, string(request.Status.ProvisioningClassDetails[v1.DetailBookedUntil])); err == nil {
		return until
	}
	return request.Condition(v1.ConditionProvisioned).LastTransitionTime.Add(r.bookFor())
}

func (r *Round) bookFor() time.Duration { return option.Or(r.in.BookFor, DefaultBookFor) }

// pickPods removes from the snapshot the pods for which no nodes may be launched. Pods that use a booking are nominated for the nodes of
// the booking.
func (r *Round) pickPods() {
	s := *r.in.Snapshot
	s.Pods, s.Gangs = make([]*corev1.Pod, 0, len(s.Pods)), slices.Clone(s.Gangs)
	back := map[scheduling.PodKey]bool{}
	classes := map[scheduling.PodKey]string{}
	for _, d := range r.demands {
		classes[scheduling.PodKey{Namespace: d.given.Namespace, Name: d.given.Name}] = d.class()
	}
	for _, pod := range r.in.Snapshot.Pods {
		key := planning.KeyOf(pod)
		if node, ok := r.nominee[key]; ok {
			pod = nominated(pod, node)
		} else if name := v1.ConsumedBy(pod); name != "" && classes[scheduling.PodKey{Namespace: pod.Namespace, Name: name}] == v1.ClassCheckCapacity {
			back[key] = true
			r.HeldBack = append(r.HeldBack, key)
			continue
		}
		s.Pods = append(s.Pods, pod)
	}
	r.Snapshot = &s
}

// existing returns a snapshot with the given pods and gangs. It has only the nodes that are ready, with pods for the bookings on these
// nodes, and no NodePools.
func (r *Round) existing(pods []*corev1.Pod, gangs []scheduling.Gang) *scheduling.Snapshot {
	s := *With(r.in.Snapshot, r.held)
	s.Nodes = slices.DeleteFunc(slices.Clone(s.Nodes), func(n scheduling.Node) bool { return !r.ready[n.Name] })
	s.NodePools, s.Catalogs, s.CostModel, s.NodeOverlays = nil, nil, nil, nil
	s.Pods, s.Gangs, s.Placeholders = pods, gangs, nil
	return &s
}

// solve plans a snapshot of the round.
func (r *Round) solve(ctx context.Context, s *scheduling.Snapshot) (*scheduling.Plan, error) {
	m, err := scheduling.Compile(s, scheduling.WithDeviceMatcher(r.in.DeviceMatcher))
	if err != nil {
		return nil, err
	}
	return m.Solve(ctx, r.in.Query)
}

// placeOnExisting returns, for each pod that existing nodes have room for, the name of its node.
func (r *Round) placeOnExisting(ctx context.Context, pods []*corev1.Pod) (map[scheduling.PodKey]string, error) {
	plan, err := r.solve(ctx, r.existing(pods, nil))
	if err != nil {
		return nil, err
	}
	return hostsOf(plan), nil
}

// hostsOf returns the nodes of the snapshot that the plan puts pods on.
func hostsOf(plan *scheduling.Plan) map[scheduling.PodKey]string {
	at := map[scheduling.PodKey]string{}
	for i := range plan.Existing {
		for _, key := range plan.Existing[i].Pods {
			at[key] = plan.Existing[i].Name
		}
	}
	return at
}

// last returns the lowest possible priority, for requests that are planned after all pods.
func last() *int32 {
	lowest := int32(math.MinInt32)
	return &lowest
}
