package subnets

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"
	"go.uber.org/mock/gomock"

	"github.com/drawknife/drawknife/aws/sdk/mock"
	"github.com/drawknife/drawknife/cloudprovider"
)

// AWI-179: counts come from EC2 when nobody has told them lately, page by page, once for all who ask.
func TestCounter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := mock.NewMockEC2API(gomock.NewController(t))
		calls := 0
		api.EXPECT().DescribeSubnets(gomock.Any(), gomock.Any()).AnyTimes().DoAndReturn(
			func(_ context.Context, in *ec2.DescribeSubnetsInput, _ ...func(*ec2.Options)) (*ec2.DescribeSubnetsOutput, error) {
				calls++
				if in.NextToken == nil {
					return &ec2.DescribeSubnetsOutput{NextToken: aws.String("2"), Subnets: []ec2types.Subnet{{SubnetId: aws.String("a1"), AvailableIpAddressCount: aws.Int32(7)}}}, nil
				}
				return &ec2.DescribeSubnetsOutput{Subnets: []ec2types.Subnet{{SubnetId: aws.String("b1"), AvailableIpAddressCount: aws.Int32(9)}}}, nil
			})
		c := NewCounter(api, New(Options{}))
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if err := c.Refresh(t.Context(), found); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if calls != 2 {
			t.Errorf("%d calls, want one of two pages for all", calls)
		}
		for id, want := range map[string]int64{"a1": 7, "b1": 9, "c1": 0} {
			if got, known := c.Tracker().Free(id); got != want || !known {
				t.Errorf("%s: %d, %v", id, got, known)
			}
		}
		if err := c.Refresh(t.Context(), found); err != nil || calls != 2 {
			t.Errorf("asked again at once: %d calls, %v", calls, err)
		}
		time.Sleep(CountEvery)
		if err := c.Refresh(t.Context(), found); err != nil || calls != 4 {
			t.Errorf("not asked again after a minute: %d calls, %v", calls, err)
		}
	})
}

// A call that fails leaves what was known; the error has a kind.
func TestCounterFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := mock.NewMockEC2API(gomock.NewController(t))
		refused := &smithy.OperationError{ServiceID: "EC2", OperationName: "DescribeSubnets", Err: &smithy.GenericAPIError{Code: "UnauthorizedOperation"}}
		api.EXPECT().DescribeSubnets(gomock.Any(), gomock.Any()).Return(nil, refused).Times(1)
		c := NewCounter(api, New(Options{}))
		err := c.Refresh(t.Context(), found)
		var unauthorized *cloudprovider.UnauthorizedError
		if !errors.As(err, &unauthorized) || unauthorized.Action != "ec2:DescribeSubnets" {
			t.Errorf("got %v", err)
		}
		if _, known := c.Tracker().Free("a1"); known {
			t.Error("a failed call made a count known")
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := c.Refresh(ctx, found); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}
