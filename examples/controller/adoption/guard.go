package adoption

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/drawknife/drawknife/api/option"
)

// DefaultLease is the name of Karpenter's leader election lease, in the namespace it runs in.
const DefaultLease = "karpenter-leader-election"

// HeldError says that Karpenter holds its lease and acts on the cluster, so that no other controller may act.
type HeldError struct {
	// Lease is Karpenter's lease, Holder is the replica that holds it, and Until is when it expires if it is not renewed.
	Lease  types.NamespacedName
	Holder string
	Until  time.Time
}

// Error names the lease, its holder, and what to do.
func (e *HeldError) Error() string {
	return fmt.Sprintf("Karpenter is running: %s holds the lease %s until %s; two controllers would work against each other: scale Karpenter's deployment to 0 and wait, or end this controller",
		e.Holder, e.Lease, e.Until.UTC().Format(time.RFC3339))
}

// Guard checks whether Karpenter acts. Its methods are safe for concurrent use.
type Guard struct {
	// Reader reads leases directly from the API server, without a cache.
	Reader client.Reader
	// Lease is the name of Karpenter's lease, which may be in any namespace; empty means DefaultLease.
	Lease string
	// Own is this controller's lease. It does not count as Karpenter's lease, even if it has the same name.
	Own types.NamespacedName
	// Ignored allows Karpenter to act at the same time. This is safe for a Karpenter of v1alpha5, because its Provisioners and Machines are
	// different kinds.
	Ignored bool
	// Clock is the clock. Nil means the real clock.
	Clock option.Clock
	// Logger logs when Karpenter starts or stops running; if it is nil, nothing is logged.
	Logger *slog.Logger

	mu   sync.Mutex
	last error
}

// Check returns a *HeldError while Karpenter's lease is held, and another error if it can't read the lease. Do not act after any error. A
// released or expired lease is not held.
func (g *Guard) Check(ctx context.Context) error {
	err := g.check(ctx)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.Logger != nil && ctx.Err() == nil {
		switch {
		case err != nil && g.last == nil:
			g.Logger.Warn("waiting as standby", "reason", err)
		case err == nil && g.last != nil:
			g.Logger.Info("found that Karpenter does not run")
		}
	}
	g.last = err
	return err
}

// Ready is a readiness check that returns the last result of Check.
func (g *Guard) Ready(*http.Request) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.last
}

func (g *Guard) check(ctx context.Context) error {
	if g.Ignored {
		return nil
	}
	name := g.Lease
	if name == "" {
		name = DefaultLease
	}
	var leases coordinationv1.LeaseList
	if err := g.Reader.List(ctx, &leases, client.MatchingFields{"metadata.name": name}); err != nil {
		return fmt.Errorf("cannot read Karpenter's lease %s: %w", name, err)
	}
	now := option.Time(g.Clock, time.Now)
	for i := range leases.Items {
		lease := &leases.Items[i]
		key := client.ObjectKeyFromObject(lease)
		if until, held := heldUntil(lease); held && key != g.Own && now.Before(until) {
			return &HeldError{Lease: key, Holder: *lease.Spec.HolderIdentity, Until: until}
		}
	}
	return nil
}

// heldUntil returns when the lease expires, or false if nobody holds it.
func heldUntil(lease *coordinationv1.Lease) (time.Time, bool) {
	s := lease.Spec
	if s.HolderIdentity == nil || *s.HolderIdentity == "" || s.RenewTime == nil || s.LeaseDurationSeconds == nil {
		return time.Time{}, false
	}
	return s.RenewTime.Add(time.Duration(*s.LeaseDurationSeconds) * time.Second), true
}
