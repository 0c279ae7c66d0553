package reconcilers

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/scheduling/cluster"
)

// PRV-028: 15 seconds after a claim was assumed that the watch never showed, the API is asked: one that is gone leaves the
// view and its pods are planned again; one that is there stays and is asked for no more.
func TestUnconfirmedClaims(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		reads := &countingReader{Reader: w.client}
		w.confirmer.reader = reads
		for _, name := range []string{"gone", "there"} {
			claim := build.Claim(name)
			w.create(claim)
			if err := w.feed.state.Apply(cluster.Assume(claim.DeepCopy())); err != nil {
				t.Fatal(err)
			}
		}
		w.delete(get(w, &v1.NodeClaim{}, "gone")) // and no watch reports it
		w.planner.triggers = newTriggers()
		w.planner.triggers.standby = false
		if !slices.Contains(w.runnables(), manager.Runnable(w.confirmer)) {
			t.Error("the manager is not given the confirmer")
		}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go func() { _ = w.confirmer.Start(ctx) }()
		shown := func() (claims []string, unconfirmed int) {
			view := w.feed.state.Snapshot(cluster.Query{Time: time.Now()})
			for _, m := range view.Nodes {
				claims = append(claims, m.Claim.Name)
			}
			return claims, len(view.Unconfirmed)
		}

		time.Sleep(confirmAfter + time.Second) // seen first at the first tick: not due yet
		synctest.Wait()
		if claims, open := shown(); len(claims) != 2 || open != 2 || reads.n.Load() != 0 {
			t.Fatalf("before its time: claims %v, %d unconfirmed, %d reads", claims, open, reads.n.Load())
		}
		time.Sleep(confirmEvery)
		synctest.Wait()
		claims, open := shown()
		if len(claims) != 1 || claims[0] != "there" || open != 0 || reads.n.Load() != 2 {
			t.Errorf("claims %v, %d unconfirmed, %d reads; want the one that is there, confirmed, and a read of each", claims, open, reads.n.Load())
		}
		select {
		case <-w.planner.triggers.wake:
		default:
			t.Error("nobody plans for the pods that were promised room on the claim that is gone")
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if reads.n.Load() != 2 {
			t.Errorf("%d reads, want no more than the two", reads.n.Load())
		}
	})
}

// PRV-028: an API that does not answer is asked again, and what was assumed stays until it has; a claim that was made
// again by the name of one that went replaces it.
func TestUnconfirmedClaimReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		reads := &countingReader{Reader: w.client, err: errors.New("no answer")}
		w.confirmer.reader = reads
		assumed := build.Claim("a")
		w.create(assumed)
		if err := w.feed.state.Apply(cluster.Assume(assumed.DeepCopy())); err != nil {
			t.Fatal(err)
		}
		w.delete(assumed.DeepCopy())
		again := build.Claim("a")
		w.create(again)
		_ = w.confirmer.confirm(t.Context())
		time.Sleep(confirmAfter)
		for range 2 {
			if err := w.confirmer.confirm(t.Context()); !errors.Is(err, reads.err) {
				t.Errorf("the error is %v, want the API's", err)
			}
		}
		if open := w.feed.state.Snapshot(cluster.Query{}).Unconfirmed; len(open) != 1 {
			t.Errorf("unconfirmed are %v after reads that failed", open)
		}
		reads.err = nil
		if err := w.confirmer.confirm(t.Context()); err != nil {
			t.Error(err)
		}
		view := w.feed.state.Snapshot(cluster.Query{})
		if len(view.Unconfirmed) != 0 || len(view.Nodes) != 1 || view.Nodes[0].Claim.UID != again.UID {
			t.Errorf("unconfirmed %v, instances %v; want the claim with UID %s", view.Unconfirmed, view.Nodes, again.UID)
		}
	})
}

// countingReader counts reads, and refuses them if there is an error.
type countingReader struct {
	client.Reader
	n   atomic.Int64
	err error
}

func (r *countingReader) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	r.n.Add(1)
	if r.err != nil {
		return r.err
	}
	return r.Reader.Get(ctx, key, into, options...)
}
