package reconcilers

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/provisioning"
)

// garbageCollector compares the cloud's machines and the cluster's claims from time to time (PRV-081).
type garbageCollector struct {
	*actor
	// reader reads the API itself: a claim that a cache does not show yet must not cost its machine.
	reader client.Reader
}

// NeedLeaderElection is true: one process deletes.
func (g *garbageCollector) NeedLeaderElection() bool { return true }

// Start collects until ctx ends.
func (g *garbageCollector) Start(ctx context.Context) error {
	ticker := time.NewTicker(provisioning.GarbageEvery)
	defer ticker.Stop()
	for {
		if err := g.collect(ctx); err != nil && ctx.Err() == nil {
			g.log.Error("garbage could not be collected; it is tried again", "in", provisioning.GarbageEvery, "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// collect looks once.
func (g *garbageCollector) collect(ctx context.Context) error {
	machines, err := g.provider.List(ctx) // before the claims: see GarbageState
	if err != nil {
		return err
	}
	state := provisioning.GarbageState{Machines: machines, Lag: g.provider.Describe().ConsistencyWindow.Duration}
	var claims v1.NodeClaimList
	if err := g.reader.List(ctx, &claims); err != nil {
		return err
	}
	state.Claims = pointers(claims.Items)
	if state.Nodes, err = allNodes(ctx, g.client); err != nil {
		return err
	}
	return g.run(ctx, newRound(state.Claims, state.Nodes), provisioning.CollectGarbage(state, g.now()))
}
