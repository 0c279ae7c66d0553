package instances

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/cloudprovider"
)

const (
	// CollectAfter is the minimum age of collected instances: the claim of a younger instance may not be stored yet.
	CollectAfter = 30 * time.Second
	// The first rounds follow each other quickly, because instances are most often lost at restarts.
	earlyRounds   = 20
	earlyInterval = 10 * time.Second
	laterInterval = 2 * time.Minute
	// collectAtOnce is how many instances are terminated at the same time.
	collectAtOnce = 100
)

// ClaimRef is the part of a NodeClaim that collection needs.
type ClaimRef struct {
	// UID of the claim.
	UID types.UID
	// ProviderID of its instance; empty while the claim has no instance.
	ProviderID string
}

// Decision is the next step of collection.
type Decision struct {
	// Terminate are orphaned instances, by ID.
	Terminate []Instance
	// RequeueAfter is how long to wait before the next check.
	RequeueAfter time.Duration
}

// Next decides which instances are orphaned: instances of the cluster (see Client.List) that are old enough and belong to no claim, not
// even to one whose launch is in progress. Next is a pure function. Read the instances first and then the claims, so that claims created
// between the two reads are included. rounds is the number of rounds that have succeeded so far.
//
// An instance is kept, however old it is, if its claim exists but names no instance, or has an unreadable provider id: the next Create for
// this claim returns the instance. If the claim names another instance, the first instance is surplus and is terminated.
func Next(found []Instance, claims []ClaimRef, rounds int, now time.Time) Decision {
	claimed := make(map[string]bool, len(claims))
	expecting := make(map[types.UID]bool)
	for _, c := range claims {
		if id, err := ParseProviderID(c.ProviderID); err == nil {
			claimed[id] = true
		} else {
			expecting[c.UID] = true // the claim has no provider id yet, or an unreadable one
		}
	}
	d := Decision{RequeueAfter: laterInterval}
	if rounds+1 < earlyRounds {
		d.RequeueAfter = earlyInterval
	}
	for _, i := range found {
		switch {
		case i.Terminating(), claimed[i.ID], expected(&i, expecting), now.Sub(i.LaunchTime) <= CollectAfter:
		default:
			d.Terminate = append(d.Terminate, i)
		}
	}
	return d
}

// expected reports whether a claim without an instance may get this instance. A claim may get the instance if the instance was launched for
// it, or if the instance's claim is not known yet and the claim belongs to the instance's batch.
func expected(i *Instance, expecting map[types.UID]bool) bool {
	if uid := i.NodeClaimUID(); uid != "" {
		return expecting[types.UID(uid)]
	}
	batch, ok := i.Batch()
	return ok && slices.ContainsFunc(batch.UIDs, func(uid types.UID) bool { return expecting[uid] })
}

// Collect carries out a decision. It returns the provider ids of the instances that are terminating or terminated, so that their Node
// objects can be deleted, and joins the errors of the other instances.
func (c *Client) Collect(ctx context.Context, d Decision) ([]string, error) {
	ended := make([]bool, len(d.Terminate))
	errs := make([]error, len(d.Terminate))
	slots := make(chan struct{}, collectAtOnce)
	var running sync.WaitGroup
	for n, i := range d.Terminate {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			errs[n] = cloudprovider.IgnoreNodeClaimNotFound(c.Terminate(ctx, i))
			ended[n] = errs[n] == nil
		})
	}
	running.Wait()
	var gone []string
	for n := range d.Terminate {
		if ended[n] {
			gone = append(gone, d.Terminate[n].ProviderID())
		}
	}
	return gone, errors.Join(errs...)
}
