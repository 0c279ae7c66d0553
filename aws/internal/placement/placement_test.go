package placement_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/mock/gomock"

	"github.com/drawknife/drawknife/api/requirements"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/placement"
	"github.com/drawknife/drawknife/aws/sdk/mock"
	"github.com/drawknife/drawknife/cloudprovider"
)

type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

func newClock() *clock { return &clock{now: time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)} }

func partitioned(n int32) *placement.Group {
	return &placement.Group{ID: "pg-1", Name: "racks", Strategy: placement.StrategyPartition, Partitions: n}
}

func wanting(values ...string) requirements.Set {
	return requirements.NewSet(requirements.In(awsv1.LabelPlacementGroupPartition, values...))
}

func available(groups ...ec2types.PlacementGroup) *ec2.DescribePlacementGroupsOutput {
	return &ec2.DescribePlacementGroupsOutput{PlacementGroups: groups}
}

func ec2Group(id string, partitions int32) ec2types.PlacementGroup {
	return ec2types.PlacementGroup{GroupId: aws.String(id), GroupName: aws.String("racks"), Strategy: "partition", PartitionCount: aws.Int32(partitions)}
}

// AWN-112, AWN-113, AWI-137: by id or name, only available ones, the first; cached for a minute; the last answer with the error for a day.
func TestFind(t *testing.T) {
	c := newClock()
	api := mock.NewMockEC2API(gomock.NewController(t))
	finder := placement.NewFinder(api, c.Now)
	byName := &awsv1.PlacementGroupSelector{Name: aws.String("racks")}
	want := &ec2.DescribePlacementGroupsInput{
		GroupNames: []string{"racks"}, Filters: []ec2types.Filter{{Name: aws.String("state"), Values: []string{"available"}}},
	}
	api.EXPECT().DescribePlacementGroups(gomock.Any(), gomock.Eq(want)).Return(available(ec2Group("pg-2", 3), ec2Group("pg-1", 5)), nil)
	group, err := finder.Find(t.Context(), byName)
	if diff := cmp.Diff(partitioned(5), group); err != nil || diff != "" {
		t.Fatal(err, diff)
	}
	c.now = c.now.Add(time.Minute - 1)
	if again, err := finder.Find(t.Context(), byName); again != group || err != nil {
		t.Errorf("within a minute: %v, %v", again, err)
	}
	c.now = c.now.Add(1)
	api.EXPECT().DescribePlacementGroups(gomock.Any(), gomock.Any()).Return(available(ec2Group("pg-1", 5)), nil)
	if again, err := finder.Find(t.Context(), byName); again != group || err != nil {
		t.Errorf("the same group is another pointer: %v, %v", again, err)
	}
	down := &smithy.GenericAPIError{Code: "InternalError", Fault: smithy.FaultServer}
	c.now = c.now.Add(24*time.Hour - time.Second)
	api.EXPECT().DescribePlacementGroups(gomock.Any(), gomock.Any()).Return(nil, down).Times(2)
	if again, err := finder.Find(t.Context(), byName); again != group || !errors.Is(err, cloudprovider.Transient) {
		t.Errorf("EC2 is down for a day: %v, %v", again, err)
	}
	c.now = c.now.Add(time.Second)
	if again, err := finder.Find(t.Context(), byName); again != nil || err == nil {
		t.Errorf("EC2 is down for longer: %v, %v", again, err)
	}
	byID := &awsv1.PlacementGroupSelector{ID: aws.String("pg-9")}
	api.EXPECT().DescribePlacementGroups(gomock.Any(), gomock.Any()).Return(nil, &smithy.GenericAPIError{Code: "InvalidPlacementGroupId.NotFound"})
	for range 2 { // the second is answered from the cache
		_, err = finder.Find(t.Context(), byID)
		var missing *placement.NotFoundError
		if !errors.As(err, &missing) || !strings.Contains(err.Error(), `id "pg-9"`) {
			t.Errorf("a group that is not there: %v", err)
		}
	}
	if group, err := finder.Find(t.Context(), nil); group != nil || err != nil {
		t.Errorf("no selector gives %v, %v", group, err)
	}
}

// Of many who ask at the same time one does, and after a failure nobody does for a while: a second, then two, four, and so
// on up to a minute.
func TestFindOnce(t *testing.T) {
	c := newClock()
	api := mock.NewMockEC2API(gomock.NewController(t))
	finder := placement.NewFinder(api, c.Now)
	selector := &awsv1.PlacementGroupSelector{Name: aws.String("racks")}
	answered, asked := make(chan struct{}), make(chan struct{})
	api.EXPECT().DescribePlacementGroups(gomock.Any(), gomock.Any()).DoAndReturn(
		func(context.Context, *ec2.DescribePlacementGroupsInput, ...func(*ec2.Options)) (*ec2.DescribePlacementGroupsOutput, error) {
			close(asked)
			<-answered
			return available(ec2Group("pg-1", 5)), nil
		})
	var wg sync.WaitGroup
	ask := func(ctx context.Context) {
		if group, err := finder.Find(ctx, selector); err != nil || group.ID != "pg-1" {
			t.Errorf("got %v, %v", group, err)
		}
	}
	wg.Go(func() { ask(t.Context()) })
	<-asked
	for range 10 {
		wg.Go(func() { ask(t.Context()) })
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := finder.Find(gone, selector); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that gives up waiting gets %v", err)
	}
	close(answered)
	wg.Wait()

	calls := 0
	api.EXPECT().DescribePlacementGroups(gomock.Any(), gomock.Any()).AnyTimes().DoAndReturn(
		func(context.Context, *ec2.DescribePlacementGroupsInput, ...func(*ec2.Options)) (*ec2.DescribePlacementGroupsOutput, error) {
			calls++
			return nil, &smithy.GenericAPIError{Code: "RequestLimitExceeded"}
		})
	c.now = c.now.Add(time.Minute)
	var at []int
	for second := range 200 {
		before := calls
		if group, err := finder.Find(t.Context(), selector); group == nil || !cloudprovider.IsThrottled(err) {
			t.Fatalf("got %v, %v", group, err)
		}
		if calls > before {
			at = append(at, second)
		}
		c.now = c.now.Add(time.Second)
	}
	if diff := cmp.Diff([]int{0, 1, 3, 7, 15, 31, 63, 123, 183}, at); diff != "" {
		t.Errorf("asked at other seconds than with growing pauses (-want +got):\n%s", diff)
	}
}

// A question that was cut short by its caller says nothing about EC2: the next caller asks at once.
func TestFindCut(t *testing.T) {
	c := newClock()
	api := mock.NewMockEC2API(gomock.NewController(t))
	finder := placement.NewFinder(api, c.Now)
	selector := &awsv1.PlacementGroupSelector{Name: aws.String("racks")}
	ctx, cancel := context.WithCancel(t.Context())
	gomock.InOrder(
		api.EXPECT().DescribePlacementGroups(gomock.Any(), gomock.Any()).DoAndReturn(
			func(ctx context.Context, _ *ec2.DescribePlacementGroupsInput, _ ...func(*ec2.Options)) (*ec2.DescribePlacementGroupsOutput, error) {
				cancel()
				return nil, ctx.Err()
			}),
		api.EXPECT().DescribePlacementGroups(gomock.Any(), gomock.Any()).Return(available(ec2Group("pg-1", 5)), nil),
	)
	if _, err := finder.Find(ctx, selector); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if group, err := finder.Find(t.Context(), selector); err != nil || group.ID != "pg-1" {
		t.Errorf("got %v, %v", group, err)
	}
}

// AWI-138: only groups with partitions have any.
func TestOtherStrategies(t *testing.T) {
	api := mock.NewMockEC2API(gomock.NewController(t))
	api.EXPECT().DescribePlacementGroups(gomock.Any(), gomock.Any()).Return(available(
		ec2types.PlacementGroup{GroupId: aws.String("pg-3"), GroupName: aws.String("near"), Strategy: "cluster", PartitionCount: aws.Int32(7)}), nil)
	group, err := placement.NewFinder(api, nil).Find(t.Context(), &awsv1.PlacementGroupSelector{ID: aws.String("pg-3")})
	want := &placement.Group{ID: "pg-3", Name: "near", Strategy: placement.StrategyCluster}
	if diff := cmp.Diff(want, group); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if n, ok := group.Partition(wanting("2"), nil); n != 0 || !ok || group.Pending(0) {
		t.Errorf("partition %d, %t", n, ok)
	}
}

// AWN-117, AWI-139, OPP-19: the lowest partition by number that is allowed and has room.
func TestPartition(t *testing.T) {
	room := func(list ...int32) func(int32) bool {
		return func(n int32) bool { return strings.Contains(fmt.Sprint(list), fmt.Sprint(n)) }
	}
	for _, test := range []struct {
		name    string
		want    requirements.Set
		hasRoom func(int32) bool
		number  int32
		ok      bool
	}{
		{"anything", requirements.NewSet(), nil, 1, true},
		{"by number, not by text", wanting("10", "2"), nil, 2, true},
		{"not some", requirements.NewSet(requirements.NotIn(awsv1.LabelPlacementGroupPartition, "1")), nil, 2, true},
		{"the lowest with room", wanting("2", "3", "10"), room(3), 3, true},
		{"none with room", wanting("2", "3"), room(), 2, true},
		{"none that there is", wanting("11"), nil, 0, false},
		{"none at all", requirements.NewSet(requirements.DoesNotExist(awsv1.LabelPlacementGroupPartition)), nil, 0, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if n, ok := partitioned(10).Partition(test.want, test.hasRoom); n != test.number || ok != test.ok {
				t.Errorf("is %d, %t", n, ok)
			}
		})
	}
	var none *placement.Group
	if n, ok := none.Partition(wanting("1"), nil); n != 0 || !ok || none.Allowed(wanting("1")) != nil || none.Labels(1) != nil {
		t.Error("no group has a partition")
	}
}

// AWN-115, AWN-116, AWI-139: the labels are of the partition that was launched into, and a node waits until EC2 knows it.
func TestLabels(t *testing.T) {
	want := map[string]string{"karpenter.k8s.aws/placement-group-id": "pg-1", "karpenter.k8s.aws/placement-group-partition": "4"}
	if diff := cmp.Diff(want, partitioned(5).Labels(4)); diff != "" {
		t.Error(diff)
	}
	if len(partitioned(5).Labels(0)) != 1 || !partitioned(5).Pending(0) || partitioned(5).Pending(4) {
		t.Error("an instance whose partition is unknown does not wait")
	}
}

// AWI-140.
func TestDrifted(t *testing.T) {
	in := partitioned(2).Labels(1)
	for _, test := range []struct {
		labels map[string]string
		group  *placement.Group
		want   bool
	}{
		{in, partitioned(2), false}, {in, nil, true}, {nil, nil, false}, {nil, partitioned(2), true}, {in, &placement.Group{ID: "pg-2"}, true},
	} {
		if got := placement.Drifted(test.labels, test.group); got != test.want {
			t.Errorf("%v in %v drifted: %t", test.labels, test.group, got)
		}
	}
}

func Example() {
	group := &placement.Group{ID: "pg-1", Strategy: placement.StrategyPartition, Partitions: 12}
	partition, ok := group.Partition(requirements.NewSet(requirements.In(awsv1.LabelPlacementGroupPartition, "9", "10")), nil)
	fmt.Println(partition, ok)
	// Output: 9 true
}
