package subnets

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/batch"
	"github.com/drawknife/drawknife/aws/internal/refresh"
	"github.com/drawknife/drawknife/aws/sdk"
)

// CountEvery is the age at which a count is read again before a launch.
const CountEvery = time.Minute

// mostIDs is the number of values that EC2 allows in one filter.
const mostIDs = 200

// Counter reads the free addresses of subnets from EC2 if a tracker has no recent count, because no node class has resolved these subnets
// recently. It is safe for concurrent use. Simultaneous callers wait for the same call of EC2. Make one with NewCounter.
type Counter struct {
	api     sdk.EC2API
	tracker *Tracker
	calls   *batch.Batcher[string, struct{}]
}

// NewCounter makes a counter that passes its counts to a tracker.
func NewCounter(api sdk.EC2API, tracker *Tracker) *Counter {
	c := &Counter{api: api, tracker: tracker}
	c.calls = batch.New(batch.Options[string, struct{}]{
		Name: "describe_subnets", Idle: 10 * time.Millisecond, Max: 100 * time.Millisecond, MaxItems: 1000, Do: c.count, Attempts: 1,
	})
	return c
}

// Tracker returns the tracker to which the counter passes its counts.
func (c *Counter) Tracker() *Tracker { return c.tracker }

// Refresh updates outdated counts of the subnets in the tracker. If EC2 does not answer, the tracker stays unchanged and the error says
// why; the launch can still continue.
func (c *Counter) Refresh(ctx context.Context, found []awsv1.Subnet) error {
	unknown := c.tracker.Unknown(CountEvery, found)
	answers := make(chan error, len(unknown))
	for _, id := range unknown {
		go func() {
			_, err := c.calls.Call(ctx, id)
			answers <- err
		}()
	}
	var errs []error
	for range unknown {
		if err := <-answers; err != nil && !slices.ContainsFunc(errs, func(e error) bool { return e.Error() == err.Error() }) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// count reads the counts of subnets, up to mostIDs per call.
func (c *Counter) count(ctx context.Context, ids []string) []batch.Answer[struct{}] {
	answers := make([]batch.Answer[struct{}], len(ids))
	distinct := slices.Compact(slices.Sorted(slices.Values(ids)))
	for lot := range slices.Chunk(distinct, mostIDs) {
		free, err := c.read(ctx, lot)
		if err == nil {
			c.tracker.Observe(free)
			continue
		}
		for n, id := range ids {
			if slices.Contains(lot, id) {
				answers[n].Err = sdk.Wrap("DescribeSubnets", err)
			}
		}
	}
	return answers
}

// read reads the counts of subnets; a subnet that EC2 does not know has no free addresses.
func (c *Counter) read(ctx context.Context, ids []string) (map[string]int64, error) {
	free := make(map[string]int64, len(ids))
	for _, id := range ids {
		free[id] = 0
	}
	err := refresh.Pages(ctx, func(token *string) (*string, error) {
		out, err := c.api.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{
			Filters: []ec2types.Filter{{Name: aws.String("subnet-id"), Values: ids}}, NextToken: token,
		})
		if err != nil {
			return nil, err
		}
		if out == nil {
			return nil, errors.New("the answer is empty")
		}
		for _, s := range out.Subnets {
			if id := aws.ToString(s.SubnetId); id != "" {
				free[id] = int64(aws.ToInt32(s.AvailableIpAddressCount))
			}
		}
		return out.NextToken, nil
	})
	return free, err
}
