package provisioning

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// The number of remembered results of a pool, and the number of failures that make it unhealthy.
const (
	healthMemory   = 4
	healthFailures = 2
)

// RegistrationHealth remembers how the last launches of each pool ended: registered, or deleted before that. The pool's condition
// NodeRegistrationHealthy shows it, so that planners know which pools rarely give a node. It has no clock and no lock: only one
// goroutine may use it.
type RegistrationHealth struct {
	pools map[types.UID]*poolHealth
}

type poolHealth struct {
	// outcomes are the last outcomes, the oldest first. True means registered.
	outcomes []bool
	// pool and class are the generations they are of.
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

// Update writes the condition to the pool, as of now, and reports whether that changed it. pool must not be shared. After a change
// to the pool or its node class, earlier results no longer count.
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

// Healthy reports whether the pool's launches lead to nodes, as far as is known.
func (h *RegistrationHealth) Healthy(pool *v1.NodePool) bool { return h.of(pool).healthy() }

// of returns the pool's memory. It is reset when the pool or its node class has changed, and restored from the condition after a
// restart.
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
