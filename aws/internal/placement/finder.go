package placement

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/refresh"
	"github.com/drawknife/drawknife/aws/sdk"
)

const (
	// Period is how long an answer of EC2 is used.
	Period = time.Minute
	// Remember is how long an earlier answer is used while EC2 can't be reached.
	Remember = 24 * time.Hour
)

// NotFoundError means that the group that a class selects does not exist, or is not available.
type NotFoundError struct {
	// Selector names the group: `id "pg-1"`.
	Selector string
}

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("no available placement group has %s: create it, or change placementGroupSelector", e.Selector)
}

// Finder asks EC2 for placement groups. It is safe for concurrent use; no lock is held during a call to EC2.
type Finder struct {
	api sdk.EC2API
	now func() time.Time

	asking  refresh.Turns[string]
	mu      sync.Mutex
	answers map[string]answer
}

// answer contains the known facts about the group that a selector names.
type answer struct {
	at    time.Time // time of EC2's answer; zero if there was none
	group *Group    // nil means that the group does not exist
	// Failures since EC2's answer: their number in a row, the last error, and when to call EC2 again.
	failures int
	err      error
	again    time.Time
}

// NewFinder makes a finder. now is the clock; nil means time.Now.
func NewFinder(api sdk.EC2API, now func() time.Time) *Finder {
	if now == nil {
		now = time.Now
	}
	return &Finder{api: api, now: now, answers: map[string]answer{}}
}

// Find returns the group that a selector names, or nil if selector is nil. If the group does not exist, the error is a *NotFoundError. If
// EC2 can't be reached, the group of the last answer is returned together with the error, if that answer is younger than Remember. If
// several callers need an answer, one of them calls EC2, and the other callers use its result. After a failure, Find pauses calls to EC2
// for one second. This pause doubles with each further failure, up to Period. During the pause, Find returns the last failure. The group is
// shared and must not be changed.
func (f *Finder) Find(ctx context.Context, selector *awsv1.PlacementGroupSelector) (*Group, error) {
	if selector == nil || selector.ID == nil && selector.Name == nil {
		return nil, nil
	}
	key, in := question(selector)
	if known, ok := f.known(key); ok {
		return known.result(key, f.now())
	}
	end, err := f.asking.Begin(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("reading the placement group with %s: %w", key, err)
	}
	defer end()
	if known, ok := f.known(key); ok { // another goroutine has called EC2 in the meantime
		return known.result(key, f.now())
	}
	now := f.now()
	out, err := f.api.DescribePlacementGroups(ctx, in)
	if err != nil && ctx.Err() != nil {
		// An ended context says nothing about EC2, so the waiting callers call EC2 themselves.
		return nil, sdk.Wrap("reading the placement group with "+key, err)
	}
	return f.learn(key, now, out, err).result(key, now)
}

// known returns the cached answer, and whether it can be used: it is younger than Period, or EC2 must not be called again yet after a
// failure.
func (f *Finder) known(key string) (answer, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	a, now := f.answers[key], f.now()
	return a, !a.at.IsZero() && now.Sub(a.at) < Period || a.err != nil && now.Before(a.again)
}

// learn records EC2's answer, or the error, at the given time.
func (f *Finder) learn(key string, at time.Time, out *ec2.DescribePlacementGroupsOutput, err error) answer {
	f.mu.Lock()
	defer f.mu.Unlock()
	maps.DeleteFunc(f.answers, func(_ string, old answer) bool {
		return at.Sub(old.at) >= Remember && !at.Before(old.again.Add(Period))
	})
	a := f.answers[key]
	if err != nil && !sdk.IsNotFound(err) {
		a.failures++
		a.err = sdk.Wrap("reading the placement group with "+key, err)
		a.again = at.Add(min(refresh.DefaultBackoff<<min(a.failures-1, 10), Period))
		f.answers[key] = a
		return a
	}
	last := a.group
	a = answer{at: at}
	if err == nil {
		a.group = first(out.PlacementGroups)
	}
	// EC2 can't change the strategy of a group, so another strategy means a new group. If the group is unchanged, its pointer stays the
	// same.
	if last != nil && a.group != nil && *last == *a.group {
		a.group = last
	}
	f.answers[key] = a
	return a
}

func (a answer) result(key string, now time.Time) (*Group, error) {
	switch {
	case a.err != nil && a.group != nil && now.Sub(a.at) < Remember:
		return a.group, a.err
	case a.err != nil:
		return nil, a.err
	case a.group == nil:
		return nil, &NotFoundError{Selector: key}
	}
	return a.group, nil
}

// question returns a query to EC2, and its text as a key. It asks only for groups in which instances can be launched.
func question(s *awsv1.PlacementGroupSelector) (key string, in *ec2.DescribePlacementGroupsInput) {
	in = &ec2.DescribePlacementGroupsInput{
		Filters: []ec2types.Filter{{Name: aws.String("state"), Values: []string{string(ec2types.PlacementGroupStateAvailable)}}},
	}
	if s.ID != nil {
		in.GroupIds = []string{*s.ID}
		return fmt.Sprintf("id %q", *s.ID), in
	}
	in.GroupNames = []string{*s.Name}
	return fmt.Sprintf("name %q", *s.Name), in
}

// first returns the group with the lowest id, or nil if there is none.
func first(groups []ec2types.PlacementGroup) *Group {
	if len(groups) == 0 {
		return nil
	}
	g := slices.MinFunc(groups, func(a, b ec2types.PlacementGroup) int {
		return strings.Compare(aws.ToString(a.GroupId), aws.ToString(b.GroupId))
	})
	found := &Group{ID: aws.ToString(g.GroupId), Name: aws.ToString(g.GroupName), Strategy: string(g.Strategy)}
	if found.Strategy == StrategyPartition {
		found.Partitions = aws.ToInt32(g.PartitionCount)
	}
	return found
}
