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
	"github.com/drawknife/drawknife/aws/sdk"
)

const (
	// Period is how long an answer of EC2's is good for.
	Period = time.Minute
	// Remember is how long an answer stands in while EC2 does not answer.
	Remember = 24 * time.Hour
)

// NotFoundError says that the group a class selects is not there, or not available.
type NotFoundError struct {
	// Selector names the group: `id "pg-1"`.
	Selector string
}

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("no available placement group has %s: create it, or change placementGroupSelector", e.Selector)
}

// Finder asks EC2 for placement groups. It is safe for concurrent use; no lock is held while EC2 is asked.
type Finder struct {
	api sdk.EC2API
	now func() time.Time

	mu      sync.Mutex
	answers map[string]answer
}

type answer struct {
	at    time.Time
	group *Group // nil: there is none
}

// NewFinder makes a finder. now is the clock; nil means time.Now.
func NewFinder(api sdk.EC2API, now func() time.Time) *Finder {
	if now == nil {
		now = time.Now
	}
	return &Finder{api: api, now: now, answers: map[string]answer{}}
}

// Find is the group that a selector names; nil without a selector. A group that is not there is a *NotFoundError. When
// EC2 can't be asked, the group of the last answer is returned together with the error, if that answer is less than
// Remember old (AWI-137). The group is shared: it is not to be changed.
func (f *Finder) Find(ctx context.Context, selector *awsv1.PlacementGroupSelector) (*Group, error) {
	if selector == nil || selector.ID == nil && selector.Name == nil {
		return nil, nil
	}
	key, in := question(selector)
	f.mu.Lock()
	known, ok := f.answers[key]
	f.mu.Unlock()
	now := f.now()
	if ok && now.Sub(known.at) < Period {
		return known.result(key)
	}
	out, err := f.api.DescribePlacementGroups(ctx, in)
	if err != nil && !sdk.IsNotFound(err) {
		err = sdk.Wrap("reading the placement group with "+key, err)
		if ok && now.Sub(known.at) < Remember {
			return known.group, err
		}
		return nil, err
	}
	a := answer{at: now}
	if err == nil {
		a.group = first(out.PlacementGroups)
	}
	// A change of strategy is a new group: EC2 can't change one. So the same content keeps its pointer.
	if ok && known.group != nil && a.group != nil && *known.group == *a.group {
		a.group = known.group
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	maps.DeleteFunc(f.answers, func(_ string, old answer) bool { return now.Sub(old.at) >= Remember })
	f.answers[key] = a
	return a.result(key)
}

func (a answer) result(key string) (*Group, error) {
	if a.group == nil {
		return nil, &NotFoundError{Selector: key}
	}
	return a.group, nil
}

// question is what EC2 is asked, and its text. Only groups that can be launched into are wanted.
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

// first is the group with the lowest id; nil when there is none.
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
