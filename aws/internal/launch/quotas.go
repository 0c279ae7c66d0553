package launch

import (
	"fmt"
	"sync"
	"time"

	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/cloudprovider"
)

// The shortest and longest time for which all launches wait after EC2 has reported that a general quota of the account is used up. The time
// grows with each further report.
const (
	firstQuotaWait   = 30 * time.Second
	longestQuotaWait = 10 * time.Minute
)

// accountQuotas remembers which general quotas of the account and region are used up. General means that every launch would exceed the
// quota, whatever offering it tries. An example is the quota on the total size of volumes. The zero value contains no quotas. accountQuotas
// is safe for concurrent use.
type accountQuotas struct {
	mu    sync.Mutex
	known map[string]*quotaWait
}

type quotaWait struct {
	wait  time.Duration
	until time.Time
}

// hit remembers an error code if it means that a general quota is used up.
func (q *accountQuotas) hit(code string, now time.Time) {
	if !sdk.AccountQuota(code) {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.known == nil {
		q.known = make(map[string]*quotaWait)
	}
	w := q.known[code]
	switch {
	case w == nil:
		w = &quotaWait{wait: firstQuotaWait}
		q.known[code] = w
	case now.Before(w.until):
		return // this report is from a launch that was in progress when the quota was reported before
	default:
		w.wait = min(2*w.wait, longestQuotaWait)
	}
	w.until = now.Add(w.wait)
}

// clear removes all quotas, because an instance was launched.
func (q *accountQuotas) clear() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.known = nil
}

// exceeded returns a cloudprovider.QuotaExceededError while another launch would exceed a quota, or nil if a launch may be tried.
func (q *accountQuotas) exceeded(now time.Time) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	worst := ""
	for code, w := range q.known {
		if now.Before(w.until) && (worst == "" || code < worst) {
			worst = code
		}
	}
	if worst == "" {
		return nil
	}
	_, sentence := sdk.Explain(worst, "EC2 reported this at the last launch; launches are tried again after "+q.known[worst].until.UTC().Format(time.RFC3339))
	return cloudprovider.NewQuotaExceededError(worst, fmt.Errorf("launches are paused: %s", sentence))
}
