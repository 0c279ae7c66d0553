package decision

import (
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// Due says when a claim's node must be removed, and why.
type Due struct {
	At     time.Time
	Reason Reason
}

// ExpiryOf returns when the claim's node expires, according to the claim's own expireAfter. It returns false if the node never expires or
// is already being deleted.
func ExpiryOf(claim *v1.NodeClaim) (Due, bool) {
	if claim == nil {
		return Due{}, false
	}
	life, expires := lifetime(claim)
	if claim.DeletionTimestamp != nil || !expires {
		return Due{}, false
	}
	return Due{At: claim.CreationTimestamp.Add(life), Reason: ReasonExpired}, true
}

// lifetime returns how long the claim's node may run, from the claim's expireAfter. It returns false if the node may run without a limit.
// If expireAfter is missing, the API's default applies.
func lifetime(claim *v1.NodeClaim) (time.Duration, bool) {
	if claim.Spec.ExpireAfter.IsZero() {
		return v1.DefaultExpireAfter, true
	}
	return claim.Spec.ExpireAfter.Duration()
}
