package reservations

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/refresh"
	"github.com/drawknife/drawknife/aws/sdk"
)

// Period is how long an answer of EC2 is used, and how often reservations are checked.
const Period = time.Minute

// Finder queries EC2 for reservations. It is safe for concurrent use; no lock is held during a call to EC2.
type Finder struct {
	api     sdk.EC2API
	now     func() time.Time
	tracker *Tracker

	mu      sync.Mutex
	answers map[string]answer
}

type answer struct {
	at    time.Time
	found []Reservation
	// rejected are *RejectedError.
	rejected []error
}

// NewFinder returns a finder that updates the tracker. Pass the tracker of the provider that launches into the reservations
// (aws.Provider.Reservations), or nil for a new one. now is the clock; nil means time.Now.
func NewFinder(api sdk.EC2API, tracker *Tracker, now func() time.Time) *Finder {
	if now == nil {
		now = time.Now
	}
	if tracker == nil {
		tracker = NewTracker(now)
	}
	return &Finder{api: api, now: now, tracker: tracker, answers: map[string]answer{}}
}

// Tracker returns the tracker, which counts the room in all reservations that were ever found.
func (f *Finder) Tracker() *Tracker { return f.tracker }

// Find returns the reservations that any of the terms selects, sorted by id, without those that have ended. Answers that are younger than
// Period are reused. Unusable reservations are left out, and rejected says why. If EC2 fails, err is its error and there is no result.
func (f *Finder) Find(ctx context.Context, terms []awsv1.CapacityReservationSelectorTerm) (found Found, rejected, err error) {
	return f.find(ctx, terms, f.now().Add(-Period))
}

// FindNow is like Find, but always calls EC2, because drift must be confirmed by the current state.
func (f *Finder) FindNow(ctx context.Context, terms []awsv1.CapacityReservationSelectorTerm) (found Found, rejected, err error) {
	return f.find(ctx, terms, f.now())
}

func (f *Finder) find(ctx context.Context, terms []awsv1.CapacityReservationSelectorTerm, newerThan time.Time) (Found, error, error) {
	var (
		all      []Reservation
		rejected []error
	)
	for _, q := range Queries(terms) {
		a, err := f.ask(ctx, q, newerThan)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, a.found...)
		rejected = append(rejected, a.rejected...)
	}
	now := f.now()
	all = slices.DeleteFunc(all, func(r Reservation) bool { return Ended(r.CapacityReservation, now) })
	for i := range all {
		all[i].State = StateAt(all[i].CapacityReservation, now)
	}
	return sorted(all), errors.Join(rejected...), nil
}

func (f *Finder) ask(ctx context.Context, q Query, newerThan time.Time) (answer, error) {
	key := q.Key()
	f.mu.Lock()
	known, ok := f.answers[key]
	f.mu.Unlock()
	if ok && known.at.After(newerThan) {
		return known, nil
	}
	// The counts in the answer are from the time of the call, so they may not include a launch that was in progress then.
	a := answer{at: f.now()}
	err := refresh.Pages(ctx, func(token *string) (*string, error) {
		out, err := f.api.DescribeCapacityReservations(ctx, q.input(token))
		if err != nil {
			return nil, err
		}
		for _, each := range out.CapacityReservations {
			r, err := fromEC2(each, a.at)
			if err != nil {
				a.rejected = append(a.rejected, err)
				continue
			}
			a.found = append(a.found, r)
		}
		return out.NextToken, nil
	})
	switch {
	case sdk.IsNotFound(err):
		a.found, a.rejected = nil, nil // an id that does not exist selects no reservation
	case err != nil:
		return answer{}, sdk.Wrap(fmt.Sprintf("reading capacity reservations by %s", q.describe()), err)
	}
	f.tracker.Sync(a.at, a.found...)
	f.mu.Lock()
	defer f.mu.Unlock()
	if known, ok := f.answers[key]; ok && known.at.After(a.at) {
		return known, nil
	}
	// Drop old answers, for instance to queries of deleted classes.
	maps.DeleteFunc(f.answers, func(_ string, old answer) bool { return a.at.Sub(old.at) > Period })
	f.answers[key] = a
	return a, nil
}

// describe returns the query for people.
func (q Query) describe() string {
	if q.id != "" {
		return fmt.Sprintf("id %q", q.id)
	}
	text := ""
	for _, f := range q.filters {
		text += fmt.Sprintf(" %s=%s", f.name, f.value)
	}
	return "filters" + text
}
