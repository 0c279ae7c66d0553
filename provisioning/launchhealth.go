package provisioning

import (
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling/limits"
)

// Reasons of a pool's condition LaunchHealthy. Failures of the provider have the error's kind or its own reason.
const (
	// LaunchReasonRefused: the NodeClaim could not be stored; the API server's words say why.
	LaunchReasonRefused = "NodeClaimRefused"
	// LaunchReasonLimit: the pool's limits have no room for the node.
	LaunchReasonLimit = "LimitExceeded"
	// LaunchReasonHeldBack: the launch rate limiter lets no more nodes through for now.
	LaunchReasonHeldBack = "HeldBack"
)

// launchFailureShown is for how long a failure is shown after which nothing was launched at all.
const launchFailureShown = time.Hour

// LaunchHealth remembers of each pool why its last launch failed, and shows it as the pool's condition LaunchHealthy, so that
// a pool that gets no nodes says why even if no pod waits for them. It holds no clock and no lock: one goroutine owns it.
// The zero value remembers nothing.
type LaunchHealth struct {
	pools map[v1.PoolKey]*launchOutcome
}

// Bounds of how long a pool launches nothing after its NodeClaims could not be stored: what the API server refuses it will refuse again, what
// failed otherwise may be over soon.
const (
	closedFirst        = time.Second
	closedMost         = 5 * time.Minute
	closedMostByFaults = 10 * time.Second
)

// launchOutcome is how the last launches of a pool ended. A NodeClaim that was stored says nothing of its instance.
type launchOutcome struct {
	order, launch *launchFailure
	// refused is how many orders in a row could not be stored, until when nothing is launched for that.
	refused int
	until   time.Time
}

type launchFailure struct {
	reason, message string
	at              time.Time
}

// Ordered says how storing a NodeClaim of the pool ended at the time now: err as in Launched, nil when it was stored.
func (h *LaunchHealth) Ordered(pool v1.PoolKey, err error, now time.Time) {
	if err == nil {
		outcome := h.of(pool)
		outcome.order, outcome.refused, outcome.until = nil, 0, time.Time{}
		return
	}
	var exceeded *limits.ExceededError
	var governed *GovernedError
	reason := LaunchReasonRefused
	switch {
	case errors.As(err, &exceeded):
		reason = LaunchReasonLimit
	case errors.As(err, &governed):
		reason = LaunchReasonHeldBack
	}
	outcome := h.of(pool)
	outcome.order = &launchFailure{reason, shortened(err.Error()), now}
	if reason == LaunchReasonRefused && !now.Before(outcome.until) { // orders of one pass are one failure
		outcome.refused++
		outcome.until = now.Add(closedFor(outcome.refused, err))
	}
}

// closedFor is for how long a pool launches nothing after so many failures in a row.
func closedFor(failures int, err error) time.Duration {
	most := closedMostByFaults
	if apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) {
		most = closedMost
	}
	if failures > 16 {
		return most
	}
	return min(closedFirst<<(failures-1), most)
}

// Closed says why the pool must not launch anything at the time now, and until when: its last NodeClaims could not be stored, so that another
// pool had better launch. It is tried again later and later. Empty: it may. See scheduling.NodePool.NotReady.
func (h *LaunchHealth) Closed(pool v1.PoolKey, now time.Time) (why string, until time.Time) {
	known := h.pools[pool]
	if known == nil || known.order == nil || !now.Before(known.until) {
		return "", time.Time{}
	}
	return fmt.Sprintf("its NodeClaims could not be stored, %d times in a row: %s; next try at %s", known.refused, known.order.message, known.until.UTC().Format(time.RFC3339)), known.until
}

// Launched says how launching an instance for the pool ended at the time now: err as the provider gave it.
func (h *LaunchHealth) Launched(pool v1.PoolKey, err error, now time.Time) {
	if err == nil {
		h.of(pool).launch = nil
		return
	}
	reason := string(cloudprovider.KindOf(err))
	var create *cloudprovider.CreateError
	if errors.As(err, &create) && create.Reason != "" {
		reason = create.Reason
	}
	if reason == "" {
		reason = "LaunchFailed"
	}
	h.of(pool).launch = &launchFailure{reason, shortened(err.Error()), now}
}

// Forget drops a pool that is gone.
func (h *LaunchHealth) Forget(pool v1.PoolKey) { delete(h.pools, pool) }

// Update shows on the pool, as of now, how its last launch ended; it reports whether that changed anything. pool must not be
// shared. Where nothing is known, after a restart for instance, what the condition says stays.
func (h *LaunchHealth) Update(pool *v1.NodePool, now time.Time) bool {
	if pool == nil {
		return false
	}
	known := h.pools[pool.Key()]
	if known == nil {
		return false
	}
	for _, failure := range []*launchFailure{known.order, known.launch} {
		if failure != nil && now.Sub(failure.at) < launchFailureShown {
			return pool.Conditions().SetFalse(v1.ConditionLaunchHealthy, failure.reason, failure.message, now)
		}
	}
	return pool.Conditions().SetTrue(v1.ConditionLaunchHealthy, now)
}

func (h *LaunchHealth) of(pool v1.PoolKey) *launchOutcome {
	if h.pools == nil {
		h.pools = make(map[v1.PoolKey]*launchOutcome)
	}
	if h.pools[pool] == nil {
		h.pools[pool] = &launchOutcome{}
	}
	return h.pools[pool]
}
