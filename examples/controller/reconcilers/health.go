package reconcilers

import (
	"context"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/provisioning"
)

// health records the results of launches and registrations; many reconcilers share it.
type health struct {
	mu       sync.Mutex
	memory   *provisioning.RegistrationHealth
	launches provisioning.LaunchHealth
}

func newHealth() *health { return &health{memory: provisioning.NewRegistrationHealth()} }

// registered records that a claim's node has registered. If the pool can't be read, the registration is not recorded. The record is only
// for information, and the next result corrects it.
func (h *health) registered(ctx context.Context, c client.Reader, claim *v1.NodeClaim) {
	if pool, err := poolOf(ctx, c, claim); err == nil && pool != nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.memory.Registered(pool)
	}
}

// givenUp records that a claim was abandoned because its instance was not launched, or its node did not register, in time.
func (h *health) givenUp(ctx context.Context, c client.Reader, claim *v1.NodeClaim) {
	pool, err := poolOf(ctx, c, claim)
	if err != nil || pool == nil {
		return
	}
	launched := claim.DeepCopy().Conditions().Get(v1.ConditionLaunched)
	reason, message := launched.Reason, launched.Message
	if launched.Status == "True" {
		reason, message = "", "the instance of nodeclaim "+claim.Name+" did not register in time"
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.memory.GivenUp(pool, reason, message)
}

// show calls f with the records, which f may read and change.
func (h *health) show(f func(*provisioning.RegistrationHealth, *provisioning.LaunchHealth)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f(h.memory, &h.launches)
}

// launched records the result of launching an instance for a claim.
func (h *health) launched(claim *v1.NodeClaim, err error, now time.Time) {
	if pool := v1.PoolOf(claim.Labels); !pool.IsZero() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.launches.Launched(pool, err, now)
	}
}

// closed returns why a pool must not launch now, and until when. why is empty if the pool may launch.
func (h *health) closed(pool v1.PoolKey, now time.Time) (why string, until time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.launches.Closed(pool, now)
}

// ordered records the result of storing a claim of the pool.
func (h *health) ordered(pool v1.PoolKey, err error, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.launches.Ordered(pool, err, now)
}
