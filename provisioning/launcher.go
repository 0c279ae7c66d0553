package provisioning

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/api/option"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1alpha5"
	"github.com/drawknife/drawknife/scheduling/limits"
)

// NodeClaimCreator stores new NodeClaims.
type NodeClaimCreator interface {
	// CreateNodeClaim stores the claim and returns it as stored, with its name and UID. token is unique to the order: if CreateNodeClaim is
	// called again with the same token, because the first answer was lost, it returns the existing claim. The argument is not changed.
	CreateNodeClaim(ctx context.Context, token string, claim *v1.NodeClaim) (*v1.NodeClaim, error)
}

// LauncherOptions configure a Launcher.
type LauncherOptions struct {
	// Claims stores NodeClaims. Required.
	Claims NodeClaimCreator
	// Limits tracks NodePool limits. Nil means that only the planner enforces these limits.
	Limits *limits.Tracker
	// RateLimiter limits the rate of launches. Nil means no limit.
	RateLimiter *RateLimiter
	// Parallelism is the maximum number of claims created in parallel, at least 1. Nil means DefaultLaunchParallelism.
	Parallelism *int
}

// DefaultLaunchParallelism is the default of LauncherOptions.Parallelism.
const DefaultLaunchParallelism = 10

// Launcher creates the NodeClaims that a pass ordered. It is safe for concurrent use.
type Launcher struct {
	options     LauncherOptions
	parallelism int
}

// NewLauncher returns a Launcher. The error is an *option.Error.
func NewLauncher(o LauncherOptions) (*Launcher, error) {
	switch {
	case o.Claims == nil:
		return nil, &option.Error{Package: "provisioning", Option: "Launcher.Claims", Rule: "a function that stores NodeClaims is required"}
	case o.Parallelism != nil && *o.Parallelism < 1:
		return nil, &option.Error{Package: "provisioning", Option: "Launcher.Parallelism", Rule: fmt.Sprintf("is %d: at least one claim is created at a time; nil is the default", *o.Parallelism)}
	}
	return &Launcher{options: o, parallelism: option.Or(o.Parallelism, DefaultLaunchParallelism)}, nil
}

// Launched is the result of one order.
type Launched struct {
	// Launch is the order.
	Launch Launch
	// Claim is the claim as stored, or nil if Err is set.
	Claim *v1.NodeClaim
	// Err is why there is no claim: a *limits.ExceededError, a *RateLimitError, or the store's error. Then nothing stays reserved in
	// the limits.
	Err error
	// RetryAt is when the launch rate limiter may allow the launch; zero if something else prevented it.
	RetryAt time.Time
}

// Outcome is the result of all orders.
type Outcome struct {
	// Launched has the results in the order of the orders.
	Launched []Launched
	// Events for the owners of the pods.
	Events []Event
	// Failed is true if an order has no claim: its pods must be planned again.
	Failed bool
}

// Launch creates the claims of the orders, each independently of the others. Orders of one group (Launch.Group) are an exception: limits
// and launch rate limiter admit all of them or none. Orders of a refused group have a *GroupError. Limits and launch rate limiter are
// checked in the order of the list, so that the same orders give the same refusals. Then claims are created in parallel. pass is the name
// of the pass. Together with the index of an order it forms the order's token, so a pass that is repeated after lost answers creates
// nothing twice. When ctx ends, orders that were not started fail with its error.
func (l *Launcher) Launch(ctx context.Context, pass string, orders []Launch, now time.Time) Outcome {
	out := Outcome{Launched: make([]Launched, len(orders))}
	groups := l.admitGroups(ctx, pass, orders, now)
	for i := range orders {
		done := &out.Launched[i]
		done.Launch = orders[i]
		if err, grouped := groups[orders[i].Group]; grouped {
			done.Err = err
		} else {
			done.Err = l.admit(ctx, tokenOf(pass, i), &orders[i], now)
		}
		if done.Err != nil {
			var limited *RateLimitError
			if errors.As(done.Err, &limited) {
				done.RetryAt = limited.RetryAt
			}
		}
	}
	// All orders are admitted before the first claim is created. If claims were created earlier, a failed creation could release its
	// reservation before or after a later order is admitted, so the result would depend on timing.
	var group errgroup.Group
	group.SetLimit(l.parallelism)
	for i := range out.Launched {
		if done := &out.Launched[i]; done.Err == nil {
			group.Go(func() error {
				done.Claim, done.Err = l.create(ctx, tokenOf(pass, i), &orders[i])
				return nil // the error is in done.Err
			})
		}
	}
	_ = group.Wait() // no function returns an error
	for i := range out.Launched {
		out.Failed = out.Failed || out.Launched[i].Err != nil
		out.Events = append(out.Events, eventsOf(&out.Launched[i])...)
	}
	return out
}

// tokenOf returns the token that identifies an order of a pass.
func tokenOf(pass string, order int) string { return fmt.Sprintf("%s/%d", pass, order) }

// admit reserves the order's capacity in the NodePool's limits, and asks the launch rate limiter to admit the launch. If the launch rate
// limiter refuses, the reservation is released.
func (l *Launcher) admit(ctx context.Context, token string, order *Launch, now time.Time) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("creating a nodeclaim of nodepool %s: %w", order.Pool, err)
	}
	if l.options.Limits != nil {
		if err := l.options.Limits.Reserve(order.Pool, token, order.Capacity); err != nil {
			return err
		}
	}
	limiter := l.options.RateLimiter
	if limiter == nil {
		return nil
	}
	err := limiter.Admit(token, order.Price, now)
	if err != nil {
		l.release(token)
	}
	return err
}

// create stores the claim. After that, the limits and the launch rate limiter identify the order by the claim's UID, and no longer by the
// token.
func (l *Launcher) create(ctx context.Context, token string, order *Launch) (*v1.NodeClaim, error) {
	// The request that creates the claim must also set the finalizer. If a second request set it, a claim that is deleted between the two
	// requests would leave its instance behind.
	wanted := order.Claim.DeepCopy()
	if !slices.Contains(wanted.Finalizers, v1.TerminationFinalizer) {
		wanted.Finalizers = append(wanted.Finalizers, v1.TerminationFinalizer)
	}
	var claim *v1.NodeClaim
	err := ctx.Err()
	if err == nil {
		claim, err = l.options.Claims.CreateNodeClaim(ctx, token, wanted)
	}
	if err == nil && claim == nil {
		err = errors.New("the store returned neither a claim nor an error")
	}
	if err != nil {
		l.release(token)
		if limiter := l.options.RateLimiter; limiter != nil {
			limiter.Withdraw(token)
		}
		return nil, fmt.Errorf("creating a nodeclaim of nodepool %s: %w", order.Pool, err)
	}
	l.rename(token, claim.UID)
	if l.options.Limits != nil {
		if err := l.options.Limits.Observe(order.Pool, string(claim.UID), limits.Launching, order.Capacity); err != nil {
			return nil, fmt.Errorf("counting nodeclaim %s against the limits of nodepool %s: %w", claim.Name, order.Pool, err)
		}
	}
	return claim, nil
}

// rename changes the key of the order's reservation from the token to the claim's UID. If informers have already reported the claim, the
// limits already have an entry for the UID. In this case, the reservation is released.
func (l *Launcher) rename(token string, uid types.UID) {
	if limiter := l.options.RateLimiter; limiter != nil {
		limiter.rename(token, string(uid))
	}
	if l.options.Limits != nil && l.options.Limits.Rename(token, string(uid)) != nil {
		l.options.Limits.Release(token)
	}
}

func (l *Launcher) release(token string) {
	if l.options.Limits != nil {
		l.options.Limits.Release(token)
	}
}

// eventsOf returns one event for each pod of an order. If an order without pods (of a static pool) fails, eventsOf returns one event for
// the pool.
func eventsOf(done *Launched) []Event {
	var events []Event
	if done.Err != nil && len(done.Launch.Pods) == 0 {
		kind := v1.KindNodePool
		if done.Launch.Pool.Generation == v1.GenerationV1Alpha5 {
			kind = v1alpha5.KindProvisioner
		}
		events = append(events, Event{
			Kind: kind, Name: done.Launch.Pool.Name, Warning: true, Reason: EventLaunchFailed, Message: shortened(done.Err.Error()), Every: every(failedSchedulingEvery),
		})
	}
	for i, key := range done.Launch.Pods {
		event := Event{Kind: "Pod", Namespace: key.Namespace, Name: key.Name}
		if i < len(done.Launch.PodUIDs) {
			event.UID = done.Launch.PodUIDs[i]
		}
		if done.Err == nil {
			event.Reason, event.Message = EventNominated, "Pod should schedule on: nodeclaim/"+done.Claim.Name
		} else {
			event.Warning, event.Reason, event.Message, event.Every = true, EventLaunchHeldBack, done.Err.Error(), every(failedSchedulingEvery)
		}
		events = append(events, event)
	}
	return events
}

// GroupError is an order that was not executed because another order of its group was refused.
type GroupError struct {
	// Group is the name of the group: see Launch.Group.
	Group string
	// Err is why the other order was refused: a *limits.ExceededError or a *RateLimitError, or the context's error.
	Err error
}

// Error names the group and the cause.
func (e *GroupError) Error() string {
	return fmt.Sprintf("launch group %s needs all of its nodes: %v", e.Group, e.Err)
}

// Unwrap returns the cause.
func (e *GroupError) Unwrap() error { return e.Err }

// admitGroups admits each group of orders as a whole. For each group, it returns an error, or nil if the group may be launched. It admits
// the groups in the order in which they first occur in the list orders. Orders without a group are admitted later.
func (l *Launcher) admitGroups(ctx context.Context, pass string, orders []Launch, now time.Time) map[string]error {
	var names []string
	members := map[string][]int{}
	for i := range orders {
		if name := orders[i].Group; name != "" {
			if members[name] == nil {
				names = append(names, name)
			}
			members[name] = append(members[name], i)
		}
	}
	out := make(map[string]error, len(names))
	for _, name := range names {
		out[name] = nil
		if err := l.admitGroup(ctx, pass, orders, members[name], now); err != nil {
			out[name] = &GroupError{Group: name, Err: err}
		}
	}
	return out
}

// admitGroup admits all orders of a group, or none of them. The parameter members has their indexes in the list orders.
func (l *Launcher) admitGroup(ctx context.Context, pass string, orders []Launch, members []int, now time.Time) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	tokens, prices := make([]string, len(members)), make([]float64, len(members))
	for i, at := range members {
		tokens[i], prices[i] = tokenOf(pass, at), orders[at].Price
	}
	release := func(until int) {
		for _, token := range tokens[:until] {
			l.release(token)
		}
	}
	if l.options.Limits != nil {
		for i, at := range members {
			if err := l.options.Limits.Reserve(orders[at].Pool, tokens[i], orders[at].Capacity); err != nil {
				release(i)
				return err
			}
		}
	}
	if limiter := l.options.RateLimiter; limiter != nil {
		if err := limiter.admitTogether(tokens, prices, now); err != nil {
			release(len(tokens))
			return err
		}
	}
	return nil
}

// admitTogether admits all of the given launches, or none of them, by the rules of Allows.
func (g *RateLimiter) admitTogether(ids []string, prices []float64, now time.Time) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.forget(now)
	known := map[string]bool{}
	for _, a := range g.admitted {
		known[a.id] = true
	}
	var added []admission
	sum := 0.0
	for i, id := range ids {
		if !known[id] {
			added = append(added, admission{id: id, at: now, price: prices[i]})
			sum += prices[i]
		}
	}
	if len(added) == 0 {
		return nil
	}
	for _, refusal := range []*RateLimitError{g.together(len(added), now), g.costIncrease(sum, now), g.failureRate(sum, now)} {
		if refusal != nil {
			return refusal
		}
	}
	if rate, known := g.rate(); known && g.tooMany(rate) {
		g.probing = added[0].id
	}
	g.admitted = append(g.admitted, added...)
	return nil
}
