package launch

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// Visibility is how long EC2 may take to show a new instance in answers to queries by tag or id.
	Visibility = time.Minute
	// memory is how long the attempts of a claim are remembered: longer than a claim may exist without an instance.
	memory = time.Hour
)

// attempts record for each claim which requests were sent to EC2, and with which client tokens. Without this record, EC2 would repeat a
// definite failure for as long as it knows the token, and a claim whose instance EC2 does not show yet would get a second instance.
type attempts struct {
	now func() time.Time

	mu     sync.Mutex
	claims map[types.UID]*attempt
	swept  time.Time
}

type attempt struct {
	// generation is a part of the token. It increases when the answer that EC2 gives to the token can no longer be used.
	generation int
	// launched are the instances of EC2's last answer; nil if there are none.
	launched []*Instance
	// disputed is the time since which EC2 has reported that the token was used for another request; zero if it does not report that.
	disputed time.Time
	touched  time.Time
}

func newAttempts(now func() time.Time) *attempts {
	return &attempts{now: now, claims: map[types.UID]*attempt{}}
}

// token returns the client token by which EC2 recognises a repeated request: at most 64 characters.
func token(uid types.UID, generation int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d", uid, generation))
	return "drawknife-" + hex.EncodeToString(sum[:16])
}

// begin returns the state of a launch. The list dead has former instances of the claim, each of which used up a token. If the list lacks
// the instance that was launched last, EC2 may not show it yet, and begin returns this instance.
func (a *attempts) begin(uid types.UID, dead []string) (generation int, launched *Instance) {
	generation, all := a.beginFrom(uid, dead, len(dead))
	if len(all) > 0 {
		return generation, all[0]
	}
	return generation, nil
}

// beginFrom is like begin, for a launch of any number of instances. The generation that it returns is at least the parameter least.
func (a *attempts) beginFrom(uid types.UID, dead []string, least int) (generation int, launched []*Instance) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	a.sweep(now)
	at := a.of(uid, now)
	at.generation = max(at.generation, least)
	if len(at.launched) > 0 && !slices.ContainsFunc(at.launched, func(m *Instance) bool {
		return slices.Contains(dead, m.InstanceID) || now.Sub(m.LaunchedAt) >= Visibility
	}) {
		return at.generation, at.launched
	}
	return at.generation, nil
}

// generation returns the generation of the next attempt.
func (a *attempts) generation(uid types.UID) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.of(uid, a.now()).generation
}

// succeed remembers instances. The client token of these instances is used up: a launch after these instances are gone needs a new token.
func (a *attempts) succeed(uid types.UID, launched ...*Instance) {
	a.mu.Lock()
	defer a.mu.Unlock()
	at := a.of(uid, a.now())
	at.generation++
	at.launched, at.disputed = launched, time.Time{}
}

// fail records a definite answer without an instance: the next attempt needs another token. It returns the generation of the next attempt.
func (a *attempts) fail(uid types.UID) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	at := a.of(uid, a.now())
	at.generation++
	at.disputed = time.Time{}
	return at.generation
}

// dispute records that EC2 has reported the token as used for another request, by an earlier process. The instance of that request, if
// there is one, will soon be visible. It returns how much longer to wait for that instance. It returns zero once the wait is over; the next
// attempt then has another token.
func (a *attempts) dispute(uid types.UID) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	at := a.of(uid, now)
	if at.disputed.IsZero() {
		at.disputed = now
	}
	if waited := now.Sub(at.disputed); waited < Visibility {
		return Visibility - waited
	}
	at.generation++
	at.disputed = time.Time{}
	return 0
}

func (a *attempts) of(uid types.UID, now time.Time) *attempt {
	at := a.claims[uid]
	if at == nil {
		at = &attempt{}
		a.claims[uid] = at
	}
	at.touched = now
	return at
}

// sweep deletes, from time to time, the attempts of claims that were not launched for a long time.
func (a *attempts) sweep(now time.Time) {
	if now.Sub(a.swept) < memory/10 {
		return
	}
	a.swept = now
	for uid, at := range a.claims {
		if now.Sub(at.touched) >= memory {
			delete(a.claims, uid)
		}
	}
}
