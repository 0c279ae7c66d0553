package reconcilers

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/cache"
)

// laterGroups watches kinds of pod groups as soon as the API server serves them, because their CRDs may be installed after the controller
// has started.
type laterGroups struct {
	feed   *feed
	mapper meta.RESTMapper
	// waiting are the kinds that are not served yet.
	waiting []groupKind
}

// lookForGroupsEvery is the interval for asking the API server whether it serves these kinds now: one small request for each API group.
const lookForGroupsEvery = time.Minute

// run looks for the kinds until all are watched or ctx ends.
func (g *laterGroups) run(ctx context.Context) {
	if g == nil || len(g.waiting) == 0 {
		return
	}
	ticker := time.NewTicker(lookForGroupsEvery)
	defer ticker.Stop()
	for len(g.waiting) > 0 {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			g.look(ctx)
		}
	}
}

// look starts watches of those kinds that are now served. It does not wait for their objects: plans use them as they arrive.
func (g *laterGroups) look(ctx context.Context) {
	g.waiting = slices.DeleteFunc(g.waiting, func(k groupKind) bool {
		object, err := k.served(g.mapper)
		if err != nil {
			g.feed.log.Error("cannot check whether the API server serves a kind of pod groups, retrying", "kind", k.of.String(), "error", err)
		}
		if err != nil || object == nil {
			return false
		}
		informer, err := g.feed.informers.GetInformer(ctx, object, cache.BlockUntilSynced(false))
		if err == nil {
			_, err = informer.AddEventHandler(g.feed.handler()) // the handler is never removed
		}
		if err != nil {
			g.feed.log.Error("cannot watch kind of pod groups, retrying", "kind", k.of.String(), "error", err)
			return false
		}
		k.announce(g.feed.log, object)
		return true
	})
}
