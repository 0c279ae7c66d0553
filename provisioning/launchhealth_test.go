package provisioning_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/provisioning"
	"github.com/drawknife/drawknife/scheduling/limits"
)

// A pool whose NodeClaims can't be stored launches nothing for a growing time: for minutes where the API server refuses them, for seconds after
// any other fault. What limits or the launch rate limiter hold back says nothing of that.
func TestClosedPools(t *testing.T) {
	pool := v1.NewPoolKey("default")
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "nodeclaims"}, "x", errors.New("denied by a webhook"))
	for name, c := range map[string]struct {
		err  error
		want []int
	}{
		"refused":      {forbidden, []int{1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300}},
		"unreachable":  {errors.New("no route to host"), []int{1, 2, 4, 8, 10, 10}},
		"limit":        {&limits.ExceededError{}, []int{0, 0}},
		"rate limiter": {&provisioning.RateLimitError{}, []int{0, 0}},
	} {
		var h provisioning.LaunchHealth
		now := at(0)
		for i, seconds := range c.want {
			h.Ordered(pool, c.err, now)
			h.Ordered(pool, c.err, now) // another order of the same pass
			why, until := h.Closed(pool, now)
			if want := now.Add(time.Duration(seconds) * time.Second); seconds == 0 && why != "" || seconds > 0 && (!until.Equal(want) || !strings.Contains(why, c.err.Error())) {
				t.Fatalf("%s: failure %d: %q until %s, want %s", name, i+1, why, until, want)
			}
			if why, _ := h.Closed(pool, now.Add(time.Duration(seconds)*time.Second)); why != "" {
				t.Errorf("%s: still closed after its time: %q", name, why)
			}
			now = now.Add(time.Duration(seconds) * time.Second)
		}
		h.Ordered(pool, nil, now)
		if h.Ordered(pool, forbidden, now); c.want[0] > 0 {
			if _, until := h.Closed(pool, now); !until.Equal(now.Add(time.Second)) {
				t.Errorf("%s: a success does not end the row: %s", name, until)
			}
		}
	}
}
