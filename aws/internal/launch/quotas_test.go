package launch

import (
	"strings"
	"testing"
	"time"

	"github.com/drawknife/drawknife/cloudprovider"
)

// A quota that every launch of the account runs into stops launches for a while, for longer each time, without a call; a launch that
// succeeds ends that.
func TestAccountQuotas(t *testing.T) {
	var q accountQuotas
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	q.hit("VcpuLimitExceeded", now) // another type may do
	if err := q.exceeded(now); err != nil {
		t.Fatalf("a quota of one class of types: %v", err)
	}
	for i, wait := range []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 10 * time.Minute, 10 * time.Minute} {
		q.hit("VolumeLimitExceeded", now)
		q.hit("VolumeLimitExceeded", now.Add(time.Second))
		err := q.exceeded(now.Add(wait - time.Nanosecond))
		if cloudprovider.KindOf(err) != cloudprovider.QuotaExceeded || !strings.Contains(err.Error(), "ask AWS for a higher quota") {
			t.Errorf("hit %d: %v", i, err)
		}
		now = now.Add(wait)
		if err := q.exceeded(now); err != nil {
			t.Errorf("hit %d, after %s: %v", i, wait, err)
		}
	}
	q.hit("VolumeLimitExceeded", now)
	q.clear()
	if err := q.exceeded(now); err != nil {
		t.Errorf("after a launch: %v", err)
	}
}
