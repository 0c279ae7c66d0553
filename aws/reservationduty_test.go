package aws_test

import (
	"context"
	"errors"
	"testing"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/aws"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// AWI-130, AWI-131, AWN-307 to AWN-309: what became of instances in reservations, by one list of them; and nothing is asked
// when no claim is in one.
func TestReviewReservations(t *testing.T) {
	a, class, now := newAccount(t), readyClass("default"), &clock{time.Unix(1.8e9, 0)}
	end := metav1.NewTime(now.now.Add(39 * time.Minute))
	class.Status.CapacityReservations = []awsv1.CapacityReservation{
		{ID: "cr-1"}, {ID: "cr-block", ReservationType: awsv1.CapacityReservationTypeCapacityBlock, EndTime: &end},
	}
	p := newProvider(t, a, func(_ *aws.Config, o *aws.Options) { o.NodeClasses, o.Clock = reader{class}, now })
	reserved := func(name, id string, in bool) *v1.NodeClaim {
		c := claim(name)
		c.Labels[v1.CapacityTypeLabelKey], c.Labels[awsv1.LabelCapacityReservationID] = v1.CapacityTypeReserved, id
		c.Labels[awsv1.LabelCapacityReservationInterruptible] = "false"
		c.Status.ProviderID = a.put("i-"+name, "m5.large", "default", func(i *ec2types.Instance) {
			if in {
				i.CapacityReservationId = &id
				i.CapacityReservationSpecification = &ec2types.CapacityReservationSpecificationResponse{CapacityReservationPreference: "capacity-reservations-only"}
			}
		})
		return c
	}
	onDemand := claim("on-demand")
	onDemand.Status.ProviderID = a.put("i-on-demand", "m5.large", "default")
	if got, err := p.ReviewReservations(t.Context(), []*v1.NodeClaim{onDemand, nil}); got != nil || err != nil || len(a.calls) != 0 {
		t.Errorf("without reserved claims: %v, %v, %q", got, err, a.calls)
	}
	deleting, gone, strange := reserved("deleting", "cr-1", false), reserved("gone", "cr-1", false), reserved("strange", "cr-1", false)
	deleting.DeletionTimestamp = &end
	gone.Status.ProviderID = "aws:///us-east-1a/i-nowhere"
	strange.Spec.NodeClassRef.Name = "broken"
	claims := []*v1.NodeClaim{
		onDemand, reserved("in", "cr-1", true), reserved("fell", "cr-1", false), reserved("block", "cr-block", true), deleting, gone, strange,
	}
	demotion := aws.Relabeling{
		Set:    map[string]string{v1.CapacityTypeLabelKey: v1.CapacityTypeOnDemand},
		Remove: []string{awsv1.LabelCapacityReservationID, awsv1.LabelCapacityReservationInterruptible},
	}
	got, err := p.ReviewReservations(t.Context(), claims)
	want := []aws.ReservationDuty{{NodeClaim: "block", Leave: true}, {NodeClaim: "fell", Relabel: demotion}, {NodeClaim: "strange", Relabel: demotion}}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !errors.Is(err, errBroken) || a.count("DescribeInstances") != 1 {
		t.Errorf("%v after %d lists: want the class that can't be read named, after one list", err, a.count("DescribeInstances"))
	}
	a.fail["DescribeInstances"] = apiError("RequestLimitExceeded", "slow")
	if _, err := p.ReviewReservations(t.Context(), claims); !cloudprovider.IsThrottled(err) {
		t.Errorf("throttled: %v", err)
	}
	without := newProvider(t, newAccount(t), func(c *aws.Config, _ *aws.Options) { c.WithoutReservedCapacity = true })
	if got, err := without.ReviewReservations(t.Context(), claims); got != nil || err != nil {
		t.Errorf("without reserved capacity: %v, %v", got, err)
	}
}

var errBroken = errors.New("the class can't be read")

// reader reads a class, and fails at all others.
type reader struct{ class *awsv1.EC2NodeClass }

func (r reader) NodeClass(_ context.Context, name string) (*awsv1.EC2NodeClass, error) {
	if name != r.class.Name {
		return nil, errBroken
	}
	return r.class, nil
}
