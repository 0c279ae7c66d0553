package provisioning

import (
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling/limits"
)

// The number of remembered results of a pool, and the number of failures that make it unhealthy.
const (
	healthMemory   = 4
	healthFailures = 2
)

// RegistrationHealth remembers how the last launches of each pool ended: with a registered node, or with a claim that was deleted before.
// The pool's condition NodeRegistrationHealthy shows the result, so that planners know the pools whose launches often fail. It has no clock
// and no lock: only one goroutine may use it.
type RegistrationHealth struct {
	pools map[types.UID]*poolHealth
}

type poolHealth struct {
	// outcomes are the last outcomes, the oldest first: true if a node was registered, false if a launch or registration failed.
	outcomes []bool
	// pool and class are the values of metadata.generation of the NodePool and of its node class to which the outcomes belong.
	pool, class int64
	reason      string
	message     string
}

// NewRegistrationHealth returns an empty memory.
func NewRegistrationHealth() *RegistrationHealth {
	return &RegistrationHealth{pools: make(map[types.UID]*poolHealth)}
}

// Registered records that a node of the pool has registered.
func (h *RegistrationHealth) Registered(pool *v1.NodePool) { h.add(pool, true, "", "") }

// GivenUp records that a claim of the pool was deleted because it was not launched or registered in time. reason and message are
// those of its condition Launched; an empty reason counts as RegistrationFailed.
func (h *RegistrationHealth) GivenUp(pool *v1.NodePool, reason, message string) {
	if reason == "" {
		reason = "RegistrationFailed"
	}
	h.add(pool, false, reason, message)
}

// Forget drops a pool that is gone.
func (h *RegistrationHealth) Forget(uid types.UID) { delete(h.pools, uid) }

// Update writes the condition to the pool, as of now, and reports whether this changed the pool. pool must not be shared. After a change to
// the pool or its node class, earlier results no longer count.
func (h *RegistrationHealth) Update(pool *v1.NodePool, now time.Time) bool {
	p := h.of(pool)
	switch {
	case len(p.outcomes) == 0:
		return pool.Conditions().SetUnknown(v1.ConditionNodeRegistrationHealthy, v1.ConditionNodeRegistrationHealthy, "no launch has ended yet", now)
	case p.healthy():
		return pool.Conditions().SetTrue(v1.ConditionNodeRegistrationHealthy, now)
	}
	return pool.Conditions().SetFalse(v1.ConditionNodeRegistrationHealthy, p.reason, p.message, now)
}

// Healthy reports whether the pool's recorded launches led to registered nodes.
func (h *RegistrationHealth) Healthy(pool *v1.NodePool) bool { return h.of(pool).healthy() }

// of returns the recorded outcomes of the pool. If the pool or its node class has changed, the outcomes are empty. After a restart, they
// are restored from the pool's condition.
func (h *RegistrationHealth) of(pool *v1.NodePool) *poolHealth {
	p := h.pools[pool.UID]
	if p != nil && p.pool == pool.Generation && p.class == pool.Status.NodeClassObservedGeneration {
		return p
	}
	restarted := p == nil
	p = &poolHealth{pool: pool.Generation, class: pool.Status.NodeClassObservedGeneration, reason: "RegistrationFailed"}
	if h.pools == nil {
		h.pools = make(map[types.UID]*poolHealth)
	}
	h.pools[pool.UID] = p
	if !restarted {
		return p
	}
	switch c := pool.DeepCopy().Conditions().Get(v1.ConditionNodeRegistrationHealthy); {
	case c.ObservedGeneration != pool.Generation:
	case c.Status == "True":
		p.outcomes = []bool{true}
	case c.Status == "False":
		p.outcomes = []bool{false, false}
		p.reason, p.message = c.Reason, c.Message
	}
	return p
}

func (h *RegistrationHealth) add(pool *v1.NodePool, registered bool, reason, message string) {
	p := h.of(pool)
	p.outcomes = append(p.outcomes, registered)
	if extra := len(p.outcomes) - healthMemory; extra > 0 {
		p.outcomes = p.outcomes[extra:]
	}
	if !registered {
		p.reason, p.message = reason, message
	}
}

func (p *poolHealth) healthy() bool {
	failures := 0
	for _, registered := range p.outcomes {
		if !registered {
			failures++
		}
	}
	return failures < healthFailures
}

// Reasons of a pool's condition LaunchHealthy. For failures of the provider, the reason is the error's kind or the error's own reason.
const (
	// LaunchReasonRefused: the NodeClaim could not be stored; the message has the API server's error.
	LaunchReasonRefused = "NodeClaimRefused"
	// LaunchReasonLimit: the pool's limits have no room for the node.
	LaunchReasonLimit = "LimitExceeded"
	// LaunchReasonHeldBack: the launch rate limiter allows no more nodes at present.
	LaunchReasonHeldBack = "HeldBack"
)

// launchFailureShown is how long a pool's condition shows a launch failure if no other launch follows.
const launchFailureShown = time.Hour

// LaunchHealth remembers why the last launch of each pool failed, and shows it as the pool's condition LaunchHealthy. So a pool without
// nodes shows the reason even if no pod is pending. It has no clock and no lock: only one goroutine may use it. The zero value is empty.
type LaunchHealth struct {
	pools map[v1.PoolKey]*launchOutcome
}

// Minimum and maximum pause of a pool after its NodeClaims could not be stored. If the API server refused an object, it will probably
// refuse it again; other failures may be short.
const (
	closedFirst        = time.Second
	closedMost         = 5 * time.Minute
	closedMostByFaults = 10 * time.Second
)

// launchOutcome has the results of a pool's last launches. order is the last failure to store a NodeClaim, and launch is the last failure
// to launch an instance. Each is nil after a success.
type launchOutcome struct {
	order, launch *launchFailure
	// refused is the number of failures in a row to store NodeClaims, without the failures during a pause. until is the end of the present
	// pause.
	refused int
	until   time.Time
}

type launchFailure struct {
	reason, message string
	at              time.Time
}

// Ordered records the result of storing a NodeClaim of the pool. err is Launched.Err; it is nil if the claim was stored.
func (h *LaunchHealth) Ordered(pool v1.PoolKey, err error, now time.Time) {
	if err == nil {
		outcome := h.of(pool)
		outcome.order, outcome.refused, outcome.until = nil, 0, time.Time{}
		return
	}
	var exceeded *limits.ExceededError
	var limited *RateLimitError
	reason := LaunchReasonRefused
	switch {
	case errors.As(err, &exceeded):
		reason = LaunchReasonLimit
	case errors.As(err, &limited):
		reason = LaunchReasonHeldBack
	}
	outcome := h.of(pool)
	outcome.order = &launchFailure{reason, shortened(err.Error()), now}
	if reason == LaunchReasonRefused && !now.Before(outcome.until) { // failures during the pause, for example further failures of the same pass, are not counted
		outcome.refused++
		outcome.until = now.Add(closedFor(outcome.refused, err))
	}
}

// closedFor returns how long a pool pauses after this number of failures in a row. err is the last failure.
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

// Closed returns why the pool must not launch nodes now, and until when: its last NodeClaims could not be stored, so other pools should
// launch nodes instead. The pauses get longer with each failure. why is empty if the pool may launch nodes. See
// scheduling.NodePool.NotReady.
func (h *LaunchHealth) Closed(pool v1.PoolKey, now time.Time) (why string, until time.Time) {
	known := h.pools[pool]
	if known == nil || known.order == nil || !now.Before(known.until) {
		return "", time.Time{}
	}
	return fmt.Sprintf("its NodeClaims could not be stored, %d times in a row: %s; next try at %s", known.refused, known.order.message, known.until.UTC().Format(time.RFC3339)), known.until
}

// Launched records the result of launching an instance for the pool; err is the provider's error.
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

// Update writes the condition to the pool, as of now, and reports whether this changed the pool. pool must not be shared. If nothing is
// known, for example after a restart, the condition stays.
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
