package provisioning

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// How many outcomes of a pool are remembered, and how many failures among them make it unhealthy.
const (
	healthMemory   = 4
	healthFailures = 2
)

// RegistrationHealth remembers of each pool how its last launches ended: registered, or given up. What it says is shown
// as the pool's condition NodeRegistrationHealthy, and tells planners which pools rarely give a node. It
// holds no clock and no lock: one goroutine owns it.
type RegistrationHealth struct {
	pools map[types.UID]*poolHealth
}

type poolHealth struct {
	// outcomes are the last ones, the oldest first; true is registered.
	outcomes []bool
	// pool and class are the generations they are of.
	pool, class int64
	reason      string
	message     string
}

// NewRegistrationHealth makes a memory of no outcomes.
func NewRegistrationHealth() *RegistrationHealth {
	return &RegistrationHealth{pools: make(map[types.UID]*poolHealth)}
}

// Registered says that a node of the pool has registered.
func (h *RegistrationHealth) Registered(pool *v1.NodePool) { h.add(pool, true, "", "") }

// GivenUp says that a claim of the pool was given up because it was not launched or registered in time. reason and
// message are those of its condition Launched; an empty reason reads as RegistrationFailed.
func (h *RegistrationHealth) GivenUp(pool *v1.NodePool, reason, message string) {
	if reason == "" {
		reason = "RegistrationFailed"
	}
	h.add(pool, false, reason, message)
}

// Forget drops a pool that is gone.
func (h *RegistrationHealth) Forget(uid types.UID) { delete(h.pools, uid) }

// Update shows on the pool, as of now, what is remembered; it reports whether that changed anything. pool must not be
// shared. After a change of the pool or its node class what was remembered says nothing any more.
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

// Healthy reports whether the pool's launches give nodes, as far as is known.
func (h *RegistrationHealth) Healthy(pool *v1.NodePool) bool { return h.of(pool).healthy() }

// of is the pool's memory, begun anew when the pool or its node class has changed, and after a restart from what its
// condition says.
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
