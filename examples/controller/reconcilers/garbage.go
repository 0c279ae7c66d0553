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
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/provisioning"
)

// garbageCollector regularly compares the cloud's instances and the cluster's claims.
type garbageCollector struct {
	*actor
	// reader reads from the API server, because an instance whose claim the cache does not show yet must not be terminated.
	reader client.Reader
	// refused contains the pieces of garbage that could not be collected, by Garbage.ID. Only the goroutine of Start uses it.
	refused map[string]refusal
}

// refusal is the state of an object that could not be removed.
type refusal struct {
	// failures is the number of failures in a row.
	failures int
	// until is the time of the next attempt.
	until time.Time
}

const (
	// garbageAtOnce is how many pieces of garbage are collected in parallel, so that a call that hangs does not stop the others.
	garbageAtOnce = 10
	// garbageWithin limits the time for one piece of garbage.
	garbageWithin = time.Minute
)

// NeedLeaderElection returns true: only one process deletes.
func (g *garbageCollector) NeedLeaderElection() bool { return true }

// Start collects until ctx ends.
func (g *garbageCollector) Start(ctx context.Context) error {
	ticker := time.NewTicker(provisioning.GarbageEvery)
	defer ticker.Stop()
	for {
		if err := g.collect(ctx); err != nil && ctx.Err() == nil {
			g.log.Error("cannot look for garbage, retrying", "retryAfter", provisioning.GarbageEvery, "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// piece is a piece of garbage that is checked again and then removed.
type piece struct {
	provisioning.Garbage
	// instance is the instance that the provider returned when it was asked a second time, or nil if the provider does not know it.
	instance *v1.NodeClaim
	err      error
}

// collect looks once. It returns an error only if the lists could not be read; it handles errors of a single piece of garbage
// separately.
func (g *garbageCollector) collect(ctx context.Context) error {
	began := g.now()
	instances, err := g.provider.List(ctx) // list instances before the claims: see GarbageState
	if err != nil {
		return fmt.Errorf("listing instances: %w", err)
	}
	state := provisioning.GarbageState{Instances: instances, Lag: g.provider.Describe().ConsistencyWindow.Duration, Supports: g.owns}
	if state.Claims, err = g.listClaims(ctx); err != nil {
		return err
	}
	if state.Nodes, err = g.listNodes(ctx); err != nil {
		return fmt.Errorf("listing nodes: %w", err)
	}
	pieces := g.due(provisioning.CollectGarbage(state, began), began)
	if len(pieces) == 0 {
		return nil
	}
	began = g.now()
	g.each(ctx, pieces, g.askAgain)
	if state.Claims, err = g.listClaims(ctx); err != nil {
		return err
	}
	g.each(ctx, pieces, func(ctx context.Context, p *piece) {
		if p.err == nil {
			p.err = g.end(ctx, p, provisioning.GarbageState{Claims: state.Claims, Lag: state.Lag, Supports: state.Supports}, began)
		}
	})
	for _, p := range pieces {
		g.note(ctx, p)
	}
	return nil
}

func (g *garbageCollector) listClaims(ctx context.Context) ([]*v1.NodeClaim, error) {
	var claims v1.NodeClaimList
	if err := g.reader.List(ctx, &claims); err != nil {
		return nil, fmt.Errorf("listing nodeclaims: %w", err)
	}
	return pointers(claims.Items), nil
}

// listNodes lists all nodes except nodes of other providers' pools.
func (g *garbageCollector) listNodes(ctx context.Context) ([]*corev1.Node, error) {
	list, err := allNodes(ctx, g.client)
	if err != nil {
		return nil, err
	}
	foreign, err := g.foreignPools(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list, func(n *corev1.Node) bool { return foreign[v1.PoolOf(n.Labels)] }), nil
}

// due returns the pieces of garbage that can be tried now. It forgets pieces that are no longer garbage.
func (g *garbageCollector) due(found []provisioning.Garbage, now time.Time) []*piece {
	refused := map[string]refusal{}
	var pieces []*piece
	for _, each := range found {
		was, failed := g.refused[each.ID()]
		if failed {
			refused[each.ID()] = was
		}
		if !now.Before(was.until) {
			pieces = append(pieces, &piece{Garbage: each})
		}
	}
	g.refused = refused
	return pieces
}

// each calls do for all pieces. It handles a few in parallel, and each has its own time limit.
func (g *garbageCollector) each(ctx context.Context, pieces []*piece, do func(context.Context, *piece)) {
	var group sync.WaitGroup
	places := make(chan struct{}, garbageAtOnce)
	for _, p := range pieces {
		places <- struct{}{}
		group.Go(func() {
			defer func() { <-places }()
			within, cancel := context.WithTimeout(ctx, garbageWithin)
			defer cancel()
			do(within, p)
		})
	}
	group.Wait()
}

// askAgain asks the provider for the instance of the piece, because the provider's list may have been incomplete.
func (g *garbageCollector) askAgain(ctx context.Context, p *piece) {
	p.instance, p.err = g.provider.Get(ctx, p.ProviderID)
	if cloudprovider.IsNodeClaimNotFound(p.err) {
		p.instance, p.err = nil, nil
	}
}

// end reads the nodes of the piece from the API, and removes the piece if it is still garbage.
func (g *garbageCollector) end(ctx context.Context, p *piece, again provisioning.GarbageState, began time.Time) error {
	if p.instance != nil {
		again.Instances = []*v1.NodeClaim{p.instance}
	}
	for _, n := range p.Nodes {
		node := &corev1.Node{}
		switch err := g.reader.Get(ctx, client.ObjectKeyFromObject(n), node); {
		case apierrors.IsNotFound(err):
		case err != nil:
			return fmt.Errorf("reading node %s: %w", n.Name, err)
		case node.Spec.ProviderID == p.ProviderID:
			again.Nodes = append(again.Nodes, node)
		}
	}
	step := p.Collect(again, began)
	if len(step.Effects) == 0 {
		g.log.Debug("kept object because a second check found that it is not garbage", "garbage", p.String())
		return nil
	}
	if err := g.doAll(ctx, newRound(again.Claims, again.Nodes), step.Effects); err != nil {
		return err
	}
	g.metrics.garbageCollected.WithLabelValues(string(p.Kind), poolName(p.Labels())).Inc()
	g.log.Info("collected garbage", p.attributes()...)
	for _, event := range step.Events {
		if event.Kind == "NodePool" {
			event.UID = g.uidOfPool(ctx, event.Name)
		}
		g.recorder.publishAs(p.ID(), event)
	}
	return nil
}

// note records whether the piece was collected. After failures, each piece has its own wait.
func (g *garbageCollector) note(ctx context.Context, p *piece) {
	if p.err == nil || ctx.Err() != nil {
		delete(g.refused, p.ID())
		return
	}
	failures := g.refused[p.ID()].failures + 1
	wait := provisioning.GarbageBackOff(failures)
	// The shortest wait is as long as the interval between checks. Shorten every wait by half of this interval: otherwise the next check
	// could come just before the end of the wait.
	g.refused[p.ID()] = refusal{failures: failures, until: g.now().Add(wait - provisioning.GarbageEvery/2)}
	g.metrics.garbageFailed.WithLabelValues(string(p.Kind), poolName(p.Labels())).Inc()
	g.log.Warn("cannot collect garbage, retrying", append(p.attributes(), "failures", failures, "retryAfter", wait, "error", p.err)...)
}

// attributes returns the attributes of a log record about the piece.
func (p *piece) attributes() []any {
	list := []any{"kind", string(p.Kind), "nodePool", poolName(p.Labels()), "providerID", p.ProviderID}
	if p.Claim != nil && p.Claim.Name != "" {
		list = append(list, "nodeClaim", p.Claim.Name)
	}
	for _, n := range p.Nodes {
		list = append(list, "node", n.Name)
	}
	return list
}

// uidOfPool returns the UID of a pool, because an event without a UID is not shown with the pool. It returns "" if the pool is deleted.
func (g *garbageCollector) uidOfPool(ctx context.Context, name string) types.UID {
	pool := &v1.NodePool{}
	if err := g.client.Get(ctx, qualified(name), pool); err != nil {
		return ""
	}
	return pool.UID
}
