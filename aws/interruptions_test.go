package aws_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"go.uber.org/mock/gomock"

	"github.com/drawknife/drawknife/aws"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/reservations"
	"github.com/drawknife/drawknife/aws/sdk/mock"
	"github.com/drawknife/drawknife/cloudprovider"
)

func (a *account) DescribeInstanceStatus(context.Context, *ec2.DescribeInstanceStatusInput, ...func(*ec2.Options)) (*ec2.DescribeInstanceStatusOutput, error) {
	return &ec2.DescribeInstanceStatusOutput{}, a.called("DescribeInstanceStatus")
}

// mailbox is a queue of one receive at a time.
func mailbox(t *testing.T, deleted *int) (*mock.MockSQSAPI, func(bodies ...string)) {
	api := mock.NewMockSQSAPI(gomock.NewController(t))
	api.EXPECT().GetQueueUrl(gomock.Any(), gomock.Any()).Return(&sqs.GetQueueUrlOutput{QueueUrl: awssdk.String("https://queue")}, nil).AnyTimes()
	api.EXPECT().DeleteMessageBatch(gomock.Any(), gomock.Any()).AnyTimes().DoAndReturn(
		func(_ context.Context, in *sqs.DeleteMessageBatchInput, _ ...func(*sqs.Options)) (*sqs.DeleteMessageBatchOutput, error) {
			*deleted += len(in.Entries)
			return &sqs.DeleteMessageBatchOutput{}, nil
		})
	received := 0
	return api, func(bodies ...string) {
		out := &sqs.ReceiveMessageOutput{}
		for _, body := range bodies {
			received++
			out.Messages = append(out.Messages, sqstypes.Message{Body: awssdk.String(body), ReceiptHandle: awssdk.String(fmt.Sprint("r", received))})
		}
		api.EXPECT().ReceiveMessage(gomock.Any(), gomock.Any()).Return(out, nil)
	}
}

func warning(id, detailType, instance string) string {
	return fmt.Sprintf(`{"version":"0","id":%q,"detail-type":%q,"source":"aws.ec2","time":"2026-08-01T00:00:00Z","detail":{"instance-id":%q}}`, id, detailType, instance)
}

// Without an index of the caller's, the provider knows the instances it has listed and launched: it lists before it first
// listens, hears nothing while it can't, and lists again once a minute. AWN-287, AWN-291.
func TestInterruptionsOfListedInstances(t *testing.T) {
	a, deleted := newAccount(t), 0
	queue, send := mailbox(t, &deleted)
	now := &clock{time.Unix(1.8e9, 0)}
	p := newProvider(t, a, func(c *aws.Config, o *aws.Options) {
		c.InterruptionQueue, c.IsolatedVPC, o.Clock = "events", true, now
		o.Clients = clients{account: a, sqs: queue, pricing: o.Clients.Pricing(0)}
	})
	there := a.put("i-1", "m5.large", "default")
	a.fail["DescribeInstances"] = apiError("UnauthorizedOperation", "not authorized to perform: ec2:DescribeInstances")
	if _, err := p.ReceiveInterruptions(t.Context()); !cloudprovider.IsUnauthorized(err) {
		t.Errorf("instances can't be listed: %v", err)
	}
	a.fail["DescribeInstances"] = nil
	send(warning("e-1", "EC2 Spot Instance Interruption Warning", "i-1"), warning("e-2", "EC2 Spot Instance Interruption Warning", "i-other"))
	list, err := p.ReceiveInterruptions(t.Context())
	if err != nil || len(list) != 1 || list[0].ProviderID != there || deleted != 1 {
		t.Fatalf("heard %v, %v; %d removed", list, err, deleted)
	}
	if err := p.AckInterruptions(t.Context(), list[0].ID); err != nil || deleted != 2 {
		t.Errorf("%v, %d removed", err, deleted)
	}
	if keys := p.Unavailable().Snapshot().Keys(); len(keys) != 1 || keys[0].InstanceType != "m5.large" || keys[0].CapacityType != "spot" || keys[0].Zone != "us-east-1a" {
		t.Errorf("marked %v (AWN-289)", keys)
	}

	launched, err := p.Create(t.Context(), claim("a"))
	if err != nil {
		t.Fatal(err)
	}
	id := launched.Status.ProviderID[strings.LastIndexByte(launched.Status.ProviderID, '/')+1:]
	lists := a.count("DescribeInstances")
	send(warning("e-3", "EC2 Instance Rebalance Recommendation", id))
	if list, err = p.ReceiveInterruptions(t.Context()); err != nil || len(list) != 1 || list[0].Kind != cloudprovider.InterruptionRebalance || a.count("DescribeInstances") != lists {
		t.Errorf("an instance just launched: %v, %v, %d lists", list, err, a.count("DescribeInstances")-lists)
	}
	for n, want := range []int{0, 0, 1} {
		_, _ = p.Refresh(t.Context()) // types are out of reach here
		if got := a.count("DescribeInstances") - lists; got != want {
			t.Errorf("round %d: %d lists, want %d", n, got, want)
		}
		lists = a.count("DescribeInstances")
		now.now = now.now.Add(30 * time.Second)
	}
}

// Of two who begin to listen at once, neither takes messages for another cluster's while the instances are still being
// listed. AWN-287, AWN-291.
func TestInterruptionsWhileListing(t *testing.T) {
	a, deleted := newAccount(t), 0
	queue, send := mailbox(t, &deleted)
	p := newProvider(t, a, func(c *aws.Config, o *aws.Options) {
		c.InterruptionQueue = "events"
		o.Clients = clients{account: a, sqs: queue, pricing: o.Clients.Pricing(0)}
	})
	a.put("i-1", "m5.large", "default")
	a.fail["DescribeInstances"] = apiError("RequestLimitExceeded", "")
	a.listing = func() { // while the first lists, the second asks
		a.listing = nil
		if list, err := p.ReceiveInterruptions(t.Context()); !cloudprovider.IsThrottled(err) {
			t.Errorf("heard %v, %v before the instances were known", list, err)
		}
	}
	if list, err := p.ReceiveInterruptions(t.Context()); !cloudprovider.IsThrottled(err) {
		t.Errorf("heard %v, %v before the instances were known", list, err)
	}
	a.fail["DescribeInstances"] = nil
	send(warning("e-1", "EC2 Spot Instance Interruption Warning", "i-1"))
	if list, err := p.ReceiveInterruptions(t.Context()); err != nil || len(list) != 1 || deleted != 0 {
		t.Errorf("heard %v, %v; %d removed", list, err, deleted)
	}
}

// With an index it is the caller's word that counts, nothing is listed, and a reservation that is taken back is full.
// AWN-285, AWN-287, AWN-294, AWI-133.
func TestInterruptionsOfIndexedInstances(t *testing.T) {
	a, deleted := newAccount(t), 0
	queue, send := mailbox(t, &deleted)
	var told []aws.InterruptionMessage
	p := newProvider(t, a, func(c *aws.Config, o *aws.Options) {
		c.InterruptionQueue = "events"
		o.Clients = clients{account: a, sqs: queue, pricing: o.Clients.Pricing(0)}
		o.OnInterruption = func(m aws.InterruptionMessage) { told = append(told, m) }
		o.FindInstance = func(id string) (aws.InterruptedInstance, bool) {
			return aws.InterruptedInstance{ProviderID: "aws:///us-east-1a/" + id, ReservationID: "cr-1"}, id == "i-1"
		}
	})
	p.Reservations().Sync(time.Now(), reservations.Reservation{CapacityReservation: awsv1.CapacityReservation{ID: "cr-1"}, Available: 3, Total: 5})
	send(warning("e-1", "EC2 Capacity Reservation Instance Interruption Warning", "i-1"), warning("e-2", "EC2 Spot Instance Interruption Warning", "i-2"))
	list, err := p.ReceiveInterruptions(t.Context())
	if err != nil || len(list) != 1 || list[0].Kind != cloudprovider.InterruptionReservationReclaim || a.count("DescribeInstances") != 0 {
		t.Errorf("heard %v, %v", list, err)
	}
	if room := p.Reservations().Snapshot().Room("cr-1"); room != 0 || len(told) != 2 {
		t.Errorf("room for %d; told of %v", room, told)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.ReceiveInterruptions(ctx); err == nil {
		t.Error("a context that has ended is no error")
	}
}
