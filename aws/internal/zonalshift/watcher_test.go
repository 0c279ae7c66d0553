package zonalshift_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/arczonalshift"
	"github.com/aws/aws-sdk-go-v2/service/arczonalshift/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/mock/gomock"

	"github.com/drawknife/drawknife/aws/internal/zonalshift"
	"github.com/drawknife/drawknife/aws/sdk/mock"
	"github.com/drawknife/drawknife/cloudprovider"
)

const arn = "arn:aws:eks:us-east-1:123456789012:cluster/shop"

func start() time.Time { return time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC) }

// arc is ARC, and a clock.
type arc struct {
	now time.Time
	out arczonalshift.GetManagedResourceOutput
	err error
}

func (a *arc) Now() time.Time { return a.now }

func (a *arc) GetManagedResource(_ context.Context, in *arczonalshift.GetManagedResourceInput, _ ...func(*arczonalshift.Options)) (*arczonalshift.GetManagedResourceOutput, error) {
	if *in.ResourceIdentifier != arn {
		return nil, fmt.Errorf("asked for %q", *in.ResourceIdentifier)
	}
	out := a.out
	return &out, a.err
}

func shift(zone string, end time.Duration, status types.AppliedStatus) types.ZonalShiftInResource {
	return types.ZonalShiftInResource{AwayFrom: aws.String(zone), ExpiryTime: aws.Time(start().Add(end)), AppliedStatus: status}
}

func poll(t *testing.T, w *zonalshift.Watcher) string {
	t.Helper()
	c, err := w.Poll(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("started %v ended %v", c.Started, c.Ended)
}

// AWN-312, AWI-135, AWI-136: shifts in effect, until they expire or are taken back, and what to announce.
func TestPoll(t *testing.T) {
	a := &arc{now: start()}
	w := zonalshift.New(a, arn, a.Now)
	if got := poll(t, w); got != "started [] ended []" {
		t.Errorf("nothing: %s", got)
	}
	a.out.ZonalShifts = []types.ZonalShiftInResource{
		shift("use1-az2", time.Hour, types.AppliedStatusApplied), shift("use1-az1", 2*time.Hour, types.AppliedStatusApplied),
		shift("use1-az3", time.Hour, types.AppliedStatusNotApplied), shift("use1-az4", -time.Hour, types.AppliedStatusApplied),
		{AppliedStatus: types.AppliedStatusApplied}, {AwayFrom: aws.String("use1-az5"), AppliedStatus: types.AppliedStatusApplied},
	}
	if got := poll(t, w); got != "started [use1-az1 use1-az2] ended []" {
		t.Errorf("two shifts: %s", got)
	}
	s := w.Snapshot()
	if diff := cmp.Diff([]string{"use1-az1", "use1-az2"}, s.Zones()); diff != "" || !s.Shifted("use1-az1") || s.Shifted("use1-az3") {
		t.Error(diff)
	}
	if got := poll(t, w); got != "started [] ended []" || w.Snapshot() != s {
		t.Errorf("the same again: %s", got)
	}
	a.now = start().Add(time.Hour)
	if w.Snapshot().Shifted("use1-az2") || !w.Snapshot().Shifted("use1-az1") {
		t.Error("AWI-135: a shift that expired is in force")
	}
	a.err = &smithy.GenericAPIError{Code: "InternalServerException", Fault: smithy.FaultServer}
	c, err := w.Poll(t.Context())
	if !errors.Is(err, cloudprovider.Transient) || fmt.Sprint(c) != "{[] [use1-az2]}" {
		t.Errorf("ARC is down: %v, %v", c, err)
	}
	if !w.Snapshot().Shifted("use1-az1") {
		t.Error("a shift is forgotten because ARC is down")
	}
	a.err, a.out.ZonalShifts = nil, nil
	if got := poll(t, w); got != "started [] ended [use1-az1]" || len(w.Snapshot().Zones()) != 0 {
		t.Errorf("taken back: %s", got)
	}
}

// A shift that is taken back while another goes on ends at once.
func TestOneOfTwoIsTakenBack(t *testing.T) {
	a := &arc{now: start()}
	w := zonalshift.New(a, arn, a.Now)
	a.out.ZonalShifts = []types.ZonalShiftInResource{shift("a", time.Hour, types.AppliedStatusApplied), shift("b", time.Hour, types.AppliedStatusApplied)}
	poll(t, w)
	a.out.ZonalShifts = a.out.ZonalShifts[1:]
	if got := poll(t, w); got != "started [] ended [a]" {
		t.Error(got)
	}
}

// Shifts that AWS starts by itself count too, until it says that they ended.
func TestAutoshift(t *testing.T) {
	a := &arc{now: start()}
	w := zonalshift.New(a, arn, a.Now)
	a.out.Autoshifts = []types.AutoshiftInResource{
		{AwayFrom: aws.String("a"), AppliedStatus: types.AutoshiftAppliedStatusApplied}, {AwayFrom: aws.String("b"), AppliedStatus: types.AutoshiftAppliedStatusNotApplied},
	}
	if got := poll(t, w); got != "started [a] ended []" {
		t.Error(got)
	}
	a.now = start().Add(24 * time.Hour)
	if !w.Snapshot().Shifted("a") {
		t.Error("ended by itself")
	}
	var none *zonalshift.Snapshot
	if none.Shifted("a") || none.Zones() != nil {
		t.Error("no snapshot has zones")
	}
}

// AWI-134: the cluster's ARN, or why there is none.
func TestClusterARN(t *testing.T) {
	api := mock.NewMockEKSAPI(gomock.NewController(t))
	gomock.InOrder(
		api.EXPECT().DescribeCluster(gomock.Any(), gomock.Eq(&eks.DescribeClusterInput{Name: aws.String("shop")})).
			Return(&eks.DescribeClusterOutput{Cluster: &ekstypes.Cluster{Arn: aws.String(arn)}}, nil),
		api.EXPECT().DescribeCluster(gomock.Any(), gomock.Any()).Return(&eks.DescribeClusterOutput{}, nil),
		api.EXPECT().DescribeCluster(gomock.Any(), gomock.Any()).
			Return(nil, &smithy.OperationError{ServiceID: "EKS", OperationName: "DescribeCluster", Err: &smithy.GenericAPIError{Code: "AccessDeniedException"}}),
	)
	if got, err := zonalshift.ClusterARN(t.Context(), api, "shop"); got != arn || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := zonalshift.ClusterARN(t.Context(), api, "shop"); err == nil || !strings.Contains(err.Error(), `"shop"`) {
		t.Errorf("no ARN: %v", err)
	}
	if _, err := zonalshift.ClusterARN(t.Context(), api, "shop"); !errors.Is(err, cloudprovider.Unauthorized) || !strings.Contains(err.Error(), "eks:DescribeCluster") {
		t.Errorf("no permission: %v", err)
	}
}

// A watcher of a cluster finds its ARN once EKS answers, and asks no more then.
func TestForCluster(t *testing.T) {
	api := mock.NewMockEKSAPI(gomock.NewController(t))
	gomock.InOrder(
		api.EXPECT().DescribeCluster(gomock.Any(), gomock.Any()).
			Return(nil, &smithy.OperationError{ServiceID: "EKS", OperationName: "DescribeCluster", Err: &smithy.GenericAPIError{Code: "ThrottlingException"}}),
		api.EXPECT().DescribeCluster(gomock.Any(), gomock.Any()).Return(&eks.DescribeClusterOutput{Cluster: &ekstypes.Cluster{Arn: aws.String(arn)}}, nil),
	)
	a := &arc{now: start()}
	w := zonalshift.ForCluster(a, api, "shop", a.Now)
	if _, err := w.Poll(t.Context()); !cloudprovider.IsThrottled(err) {
		t.Errorf("EKS throttles: %v", err)
	}
	for range 2 {
		if _, err := w.Poll(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func Example() {
	now := start()
	a := &arc{now: now, out: arczonalshift.GetManagedResourceOutput{
		ZonalShifts: []types.ZonalShiftInResource{shift("use1-az2", time.Hour, types.AppliedStatusApplied)},
	}}
	watcher := zonalshift.New(a, arn, a.Now)
	change, err := watcher.Poll(context.Background())
	fmt.Println(change.Started, err, watcher.Snapshot().Shifted("use1-az2"))
	// Output: [use1-az2] <nil> true
}
