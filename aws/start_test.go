package aws_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/arczonalshift"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/smithy-go"
	"go.uber.org/mock/gomock"

	"github.com/drawknife/drawknife/aws"
	"github.com/drawknife/drawknife/aws/sdk/mock"
	"github.com/drawknife/drawknife/cloudprovider"
)

// clock is the time, as a test sets it.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

// AWI-004, AWI-134: with types handed in, what passes by itself keeps nobody from starting, but is logged and told, until
// AWS answers; a permission that is missing is named.
func TestNewDegraded(t *testing.T) {
	a := newAccount(t)
	for _, call := range []string{"Probe", "DescribeInstanceTypeOfferings"} {
		a.fail[call] = apiError("RequestLimitExceeded", "slow")
	}
	ctrl := gomock.NewController(t)
	clusters, arc := mock.NewMockEKSAPI(ctrl), mock.NewMockZonalShiftAPI(ctrl)
	throttled := &smithy.OperationError{ServiceID: "EKS", OperationName: "DescribeCluster", Err: &smithy.GenericAPIError{Code: "ThrottlingException"}}
	clusters.EXPECT().DescribeCluster(gomock.Any(), gomock.Any()).Return(nil, throttled)
	var logged strings.Builder
	now := &clock{time.Unix(1.8e9, 0)}
	p := newProvider(t, a, func(c *aws.Config, o *aws.Options) {
		c.ZonalShift = true
		list := mock.NewMockPricingAPI(ctrl)
		list.EXPECT().GetProducts(gomock.Any(), gomock.Any()).Return(nil, throttled).AnyTimes()
		o.Clients = clients{account: a, eks: clusters, shifts: arc, pricing: list}
		o.Logger, o.Clock = slog.New(slog.NewTextHandler(&logged, nil)), now
	})
	of := func() string {
		var all []string
		for _, trouble := range p.Troubles() {
			if trouble.Err == nil || !strings.Contains(trouble.String(), trouble.Of) || !strings.Contains(trouble.String(), trouble.Meanwhile) {
				t.Errorf("%q", trouble)
			}
			all = append(all, trouble.Of)
		}
		return strings.Join(all, ", ")
	}
	if got := of(); got != "instance types, zonal shifts" {
		t.Errorf("troubles: %s", got)
	}
	for _, want := range []string{"cannot reach EC2", "cannot list zonal shifts", "cannot read instance types"} {
		if !strings.Contains(logged.String(), want) {
			t.Errorf("the log does not say %q", want)
		}
	}
	if all, err := p.InstanceTypes(t.Context(), nodePool()); err != nil || len(all) < 1000 {
		t.Errorf("%d types, %v", len(all), err)
	}
	clusters.EXPECT().DescribeCluster(gomock.Any(), gomock.Any()).Return(&eks.DescribeClusterOutput{Cluster: &ekstypes.Cluster{Arn: awssdk.String("arn")}}, nil)
	arc.EXPECT().GetManagedResource(gomock.Any(), gomock.Any()).Return(&arczonalshift.GetManagedResourceOutput{}, nil)
	now.now = now.now.Add(time.Minute)
	_, _ = p.Refresh(t.Context())
	if got := of(); got != "instance types, prices (on-demand), prices (spot)" {
		t.Errorf("troubles once EKS answers: %s", got)
	}

	refused := &smithy.OperationError{ServiceID: "EKS", OperationName: "DescribeCluster", Err: &smithy.GenericAPIError{Code: "AccessDeniedException"}}
	clusters.EXPECT().DescribeCluster(gomock.Any(), gomock.Any()).Return(nil, refused)
	seed, _ := embedded()
	_, err := aws.New(t.Context(), aws.Config{ClusterName: "demo", ZonalShift: true}, aws.Options{
		NodeClasses: aws.NodeClasses{}, Cluster: aws.StaticCluster{}, Clients: clients{account: a, eks: clusters, shifts: arc}, Types: seed, BuiltIn: seed,
	})
	if !cloudprovider.IsUnauthorized(err) || !strings.Contains(err.Error(), "eks:DescribeCluster") {
		t.Errorf("got %v, want the permission named", err)
	}
}
