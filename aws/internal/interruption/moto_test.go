package interruption_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/aws/iam"
	"github.com/drawknife/drawknife/aws/internal/interruption"
	"github.com/drawknife/drawknife/aws/internal/mototest"
	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/moto"
)

var server moto.Server

func TestMain(m *testing.M) { os.Exit(server.Run(m)) }

// AWN-283, AWN-284, AWN-290, AWN-291, AWN-341: the queue that package iam describes, in an SQS that is not ours: what is of
// no use goes at once, the rest once it is dealt with, and what is not comes again.
func TestMotoQueue(t *testing.T) {
	ctx, cloud := t.Context(), server.Start(t)
	raw, clients := sqs.NewFromConfig(mototest.Config(cloud)), mototest.Clients(t, cloud)
	setup, err := iam.Generate(iam.Settings{
		Region: "us-east-1", AccountID: "123456789012", ClusterName: "demo", NodeRoles: []string{"demo-nodes"}, Queue: "demo",
	})
	if err != nil {
		t.Fatal(err)
	}
	removed := 0
	s := newSource(t, interruption.Options{Queue: setup.Queue.Name, SQS: clients.SQS(sdk.Normal), OnRemoved: func(n int) { removed += n }})
	if _, err := s.ReceiveInterruptions(ctx); err == nil || !strings.Contains(err.Error(), "looking for queue demo") {
		t.Fatalf("without a queue: %v", err)
	}
	made, err := raw.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: &setup.Queue.Name, Attributes: setup.Queue.Attributes()})
	if err != nil {
		t.Fatal(err)
	}
	for n, body := range []string{
		"no event",
		eventNamed("e-1", "aws.ec2", spotWarning, `{"instance-id":"other-1"}`),
		eventNamed("e-2", "aws.ec2", spotWarning, `{"instance-id":"i-7"}`),
		eventNamed("e-3", "aws.health", healthEvent, `{"service":"EC2","eventTypeCategory":"scheduledChange","affectedEntities":[{"entityValue":"i-8"},{"entityValue":"i-9"}]}`),
	} {
		if _, err := raw.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: made.QueueUrl, MessageBody: aws.String(body)}); err != nil {
			t.Fatal(n, err)
		}
	}
	left := func() (n int) {
		t.Helper()
		out, err := raw.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: made.QueueUrl, AttributeNames: []sqstypes.QueueAttributeName{"All"}})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"} {
			count, err := strconv.Atoi(out.Attributes[name])
			if err != nil {
				t.Fatal(err)
			}
			n += count
		}
		return n
	}
	heard := map[string]cloudprovider.Interruption{}
	hear := func(want int) {
		t.Helper()
		for n := 0; n < want; {
			list := receive(t, s)
			n += len(list)
			for _, i := range list {
				heard[fmt.Sprint(i.Kind, " ", i.ProviderID)] = i
			}
		}
	}
	hear(3)
	if left() != 2 || removed != 2 {
		t.Errorf("%d messages are left, %d removed: want those for the cluster, and the others gone", left(), removed)
	}
	spot, maintenance := heard["SpotReclaim aws:///zone-a/i-7"], heard["Maintenance aws:///zone-a/i-8"]
	if diff := cmp.Diff([]time.Time{sent, sent.Add(2 * time.Minute)}, []time.Time{spot.Time, spot.Deadline}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := s.AckInterruptions(ctx, spot.ID, maintenance.ID); err != nil || left() != 1 {
		t.Errorf("%v; %d messages are left", err, left())
	}
	// Only one of the two instances was seen to: the message comes again when its time with this reader is over.
	_, receipt, _ := strings.Cut(maintenance.ID, "/")
	if _, err := raw.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{QueueUrl: made.QueueUrl, ReceiptHandle: &receipt}); err != nil {
		t.Fatal(err)
	}
	hear(2)
	if err := s.AckInterruptions(ctx, heard["Maintenance aws:///zone-a/i-8"].ID, heard["Maintenance aws:///zone-a/i-9"].ID); err != nil || left() != 0 || removed != 4 {
		t.Errorf("%v; %d messages are left, %d were removed", err, left(), removed)
	}
}
