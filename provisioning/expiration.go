package provisioning

import (
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// Expire deletes a claim whose node has lived for as long as it may (PRV-080): no budget holds it, and the next pass
// finds its pods another place. One that expires later is looked at again then; expireAfter Never is never, and
// none reads as the default.
func Expire(claim *v1.NodeClaim, now time.Time) Step {
	after, expires := claim.Spec.ExpireAfter.Duration()
	if claim.Spec.ExpireAfter.IsZero() {
		after, expires = v1.DefaultExpireAfter, true
	}
	if claim.DeletionTimestamp != nil || !expires {
		return Step{}
	}
	if wait := claim.CreationTimestamp.Add(after).Sub(now); wait > 0 {
		return Step{Again: wait}
	}
	return Step{Effects: []Effect{DeleteClaim{Name: claim.Name, UID: claim.UID, Reason: ReasonExpired}}}
}
