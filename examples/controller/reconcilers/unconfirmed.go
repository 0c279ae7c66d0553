package reconcilers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/drawknife/drawknife/scheduling/cluster"
)

// confirmer reads assumed objects that the watch does not show. If a claim was deleted before the watch saw it, the watch sends no event.
// The confirmer then removes the claim from the view.
type confirmer struct {
	state *cluster.State
	// reader reads from the API server, because it is used for objects that the cache lacks.
	reader client.Reader
	kinds  []watched
	log    *slog.Logger
	now    func() time.Time
	// gone is called if an assumed object does not exist: then the pods planned for it must be planned again.
	gone func()
	// since is when each object was first found unconfirmed. Only the goroutine of Start uses it.
	since map[cluster.ObjectKey]time.Time
}

const (
	// confirmAfter is how long the watch may take to show an assumed object.
	confirmAfter = 15 * time.Second
	// confirmEvery is how often unconfirmed objects are checked.
	confirmEvery = 5 * time.Second
	// readWithin limits the time of one read, so that other objects do not wait forever if the API server does not answer.
	readWithin = 10 * time.Second
)

// NeedLeaderElection returns true: only the process that plans has assumed objects.
func (c *confirmer) NeedLeaderElection() bool { return true }

// Start checks objects until ctx ends.
func (c *confirmer) Start(ctx context.Context) error {
	ticker := time.NewTicker(confirmEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		if err := c.confirm(ctx); err != nil && ctx.Err() == nil {
			c.log.Error("cannot check objects missing from the cache, retrying", "retryAfter", confirmEvery, "error", err)
		}
	}
}

// confirm looks once. Objects that can't be read are read again next time.
func (c *confirmer) confirm(ctx context.Context) error {
	now := c.now()
	view := c.state.Snapshot(cluster.Query{Time: now})
	since := make(map[cluster.ObjectKey]time.Time, len(view.Unconfirmed))
	var errs []error
	for _, key := range view.Unconfirmed {
		first, known := c.since[key]
		if !known {
			first = now
		}
		since[key] = first
		if now.Sub(first) < confirmAfter || ctx.Err() != nil {
			continue
		}
		if err := c.read(ctx, key, assumedUID(view, key)); err != nil {
			errs = append(errs, err)
			continue
		}
		delete(since, key)
	}
	c.since = since
	return errors.Join(errs...)
}

// read passes the API server's version of an assumed object to the state; uid is the UID with which it was assumed.
func (c *confirmer) read(ctx context.Context, key cluster.ObjectKey, uid types.UID) error {
	object := c.empty(key.Kind)
	if object == nil {
		return fmt.Errorf("%s: objects of this kind are not watched: assume only objects of watched kinds", key)
	}
	ctx, cancel := context.WithTimeout(ctx, readWithin)
	defer cancel()
	switch err := c.reader.Get(ctx, key.NamespacedName, object); {
	case err == nil:
		return c.state.Apply(cluster.Upsert(object).At(c.now()))
	case !apierrors.IsNotFound(err):
		return fmt.Errorf("reading %s: %w", key, err)
	}
	object = c.empty(key.Kind)
	object.SetNamespace(key.Namespace)
	object.SetName(key.Name)
	object.SetUID(uid) // with the UID, an object with the same name that was created after the read is kept
	if err := c.state.Apply(cluster.Delete(object).At(c.now())); err != nil {
		return err
	}
	c.log.Info("dropped object that was deleted before the cache showed it", "object", key.String())
	c.gone()
	return nil
}

// empty returns a new object of the kind, or nil if the feed does not watch it.
func (c *confirmer) empty(kind cluster.Kind) client.Object {
	for _, w := range c.kinds {
		if w.kind == kind {
			return w.object.DeepCopyObject().(client.Object) // the object of each watched kind in the feed is empty
		}
	}
	return nil
}

// assumedUID returns the UID of a claim in the view. It returns "" for other kinds, and for claims that the view leaves out.
func assumedUID(view *cluster.View, key cluster.ObjectKey) types.UID {
	if key.Kind != cluster.KindNodeClaim {
		return ""
	}
	for i := range view.Nodes {
		if claim := view.Nodes[i].Claim; claim != nil && client.ObjectKeyFromObject(claim) == key.NamespacedName {
			return claim.UID
		}
	}
	return ""
}
