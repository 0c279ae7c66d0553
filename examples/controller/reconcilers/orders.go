package reconcilers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/provisioning"
	"github.com/drawknife/drawknife/scheduling/cluster"
	"github.com/drawknife/drawknife/scheduling/limits"
)

// launch creates claims for planned instances, within the pools' limits and the launch rate. When it returns, the claims are in
// the view of the cluster, so nothing is launched twice.
func (p *planner) launch(ctx context.Context, orders []provisioning.Launch, reason string) provisioning.Outcome {
	return p.launchInstead(ctx, "", orders, reason, nil)
}

// launchInstead launches instances. Claims in the parameter leaving no longer count against limits, because the instances replace them.
// token identifies the launch in all processes; it is empty for a launch of this process only.
func (p *planner) launchInstead(ctx context.Context, token string, orders []provisioning.Launch, reason string, leaving map[types.UID]bool) provisioning.Outcome {
	p.launching.Lock()
	defer p.launching.Unlock()
	if len(orders) == 0 {
		return provisioning.Outcome{}
	}
	if err := p.bringBooksUpToDate(leaving); err != nil {
		p.log.Error("cannot update the limits of NodePools or the amounts that count against them; launching with the previous limits and amounts", "error", err)
	}
	p.passes++
	if token == "" {
		token = fmt.Sprintf("%s/%d", p.process, p.passes)
	}
	outcome := p.launcher.Launch(ctx, token, orders, p.now())
	p.probes(outcome.Launched, p.now())
	for _, launched := range outcome.Launched {
		p.health.ordered(launched.Launch.Pool, launched.Err, p.now())
		if launched.Err != nil {
			p.log.Warn("cannot create NodeClaim", "nodePool", launched.Launch.Pool.String(), "pods", len(launched.Launch.Pods), "error", launched.Err)
			continue
		}
		claim := launched.Claim
		if err := p.state.Apply(cluster.Assume(claim).At(p.now())); err != nil {
			p.log.Error("cannot add NodeClaim to the cluster state, waiting until the cache shows it", "nodeClaim", claim.Name, "error", err)
		}
		// Nominate nodes that are planned for pods: for pending pods, pods that must leave their nodes, placeholders, and pods of requests
		// that do not exist yet.
		if reason == reasonPlanned || len(leaving) > 0 {
			p.state.NominateNew(v1.QualifiedName(claim), p.options.nomination())
		}
		p.metrics.claimCreated(claim, reason)
		p.log.Info("created NodeClaim", "nodeClaim", claim.Name, "nodePool", launched.Launch.Pool.String(), "pods", len(launched.Launch.Pods),
			"requests", amounts(claim.Spec.Resources.Requests), "instanceTypes", firstTypes(claim), "pricePerHour", launched.Launch.Price)
	}
	p.recorder.publish(outcome.Events)
	return outcome
}

// reasonPlanned is the metric label for nodes that a planning pass launches.
const reasonPlanned = "provisioned"

// amounts are resources in the usual notation for logs: {"cpu":"2","memory":"4Gi"}.
type amounts corev1.ResourceList

// LogValue returns a group with the amount of each resource, sorted by name.
func (a amounts) LogValue() slog.Value {
	var values []slog.Attr
	for _, name := range slices.Sorted(maps.Keys(a)) {
		q := a[name]
		values = append(values, slog.String(string(name), q.String()))
	}
	return slog.GroupValue(values...)
}

// shownTypes is the number of instance types that a log record names.
const shownTypes = 5

// firstTypes returns the possible instance types of a claim, the cheapest first: "t3.large, m5.large and 58 other(s)".
func firstTypes(claim *v1.NodeClaim) string {
	for i := range claim.Spec.Requirements {
		r := &claim.Spec.Requirements[i]
		if r.Key != corev1.LabelInstanceTypeStable || r.Operator != corev1.NodeSelectorOpIn {
			continue
		}
		if len(r.Values) <= shownTypes {
			return strings.Join(r.Values, ", ")
		}
		return fmt.Sprintf("%s and %d other(s)", strings.Join(r.Values[:shownTypes], ", "), len(r.Values)-shownTypes)
	}
	return "any" // a claim of a static pool names no types: the provider chooses
}

// repeatAfter returns an error if launches failed and another attempt should follow at once. Nodes that the launch rate limiter holds back
// are launched later.
func (p *planner) repeatAfter(outcome provisioning.Outcome) error {
	var errs []error
	for _, launched := range outcome.Launched {
		switch {
		case launched.Err == nil:
		case !launched.RetryAt.IsZero():
			if p.retryAt.IsZero() || launched.RetryAt.Before(p.retryAt) {
				p.retryAt = launched.RetryAt
			}
		default:
			var exceeded *limits.ExceededError
			if !errors.As(launched.Err, &exceeded) { // a launch that exceeds a limit is planned again when something changes
				errs = append(errs, launched.Err)
			}
		}
	}
	return errors.Join(errs...)
}

// bringBooksUpToDate updates the limit tracker with the instances in the cluster. Instances whose claims are in the parameter leaving count
// as being removed.
func (p *planner) bringBooksUpToDate(leaving map[types.UID]bool) error {
	view := p.state.Snapshot(cluster.Query{Time: p.now()})
	known := map[string]bool{}
	var errs []error
	for _, pool := range p.state.NodePools() {
		errs = append(errs, p.limits.SetLimits(pool.Key(), pool.Spec.Limits))
	}
	for i := range view.Nodes {
		m := &view.Nodes[i]
		if m.Pool.Name == "" || m.Claim == nil {
			continue
		}
		id := string(m.Claim.UID)
		known[id] = true
		phase := limits.Live
		switch {
		case m.Leaving, leaving[m.Claim.UID]:
			phase = limits.Leaving
		case m.ProviderID == "":
			phase = limits.Launching
		}
		if phase == limits.Launching && len(m.Claim.Status.Capacity) == 0 {
			continue // the status has no capacity yet: keep the amounts that were recorded when the NodeClaim was ordered
		}
		errs = append(errs, p.limits.Observe(m.Pool, id, phase, view.Snapshot.Nodes[i].Capacity()))
	}
	for _, entry := range p.limits.Entries() {
		if entry.Phase != limits.Planned && !known[entry.ID] {
			p.limits.Release(entry.ID)
		}
	}
	return errors.Join(errs...)
}
