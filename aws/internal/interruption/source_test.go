package interruption_test

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
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/mock/gomock"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/aws/internal/interruption"
	"github.com/drawknife/drawknife/aws/sdk/mock"
	"github.com/drawknife/drawknife/cloudprovider"
)

// queue is SQS in memory: what was received comes again unless it was deleted.
type queue struct {
	mu       sync.Mutex
	bodies   []string
	deleted  []string
	receives int
	refuse   map[string]bool
}

//lint:ignore ST1003 the name is the SDK's
func (q *queue) GetQueueUrl(context.Context, *sqs.GetQueueUrlInput, ...func(*sqs.Options)) (*sqs.GetQueueUrlOutput, error) {
	return &sqs.GetQueueUrlOutput{QueueUrl: aws.String("https://queue")}, nil
}

func (q *queue) ReceiveMessage(ctx context.Context, in *sqs.ReceiveMessageInput, _ ...func(*sqs.Options)) (*sqs.ReceiveMessageOutput, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.bodies) == 0 {
		q.mu.Unlock()
		<-ctx.Done()
		q.mu.Lock()
		return nil, ctx.Err()
	}
	out := &sqs.ReceiveMessageOutput{}
	for len(out.Messages) < int(in.MaxNumberOfMessages) && len(q.bodies) > 0 {
		q.receives++
		out.Messages = append(out.Messages, sqstypes.Message{Body: aws.String(q.bodies[0]), ReceiptHandle: aws.String(fmt.Sprint("r", q.receives))})
		q.bodies = q.bodies[1:]
	}
	return out, nil
}

func (q *queue) DeleteMessage(context.Context, *sqs.DeleteMessageInput, ...func(*sqs.Options)) (*sqs.DeleteMessageOutput, error) {
	return nil, errors.New("messages are deleted in batches")
}

func (q *queue) DeleteMessageBatch(_ context.Context, in *sqs.DeleteMessageBatchInput, _ ...func(*sqs.Options)) (*sqs.DeleteMessageBatchOutput, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	out := &sqs.DeleteMessageBatchOutput{}
	for _, e := range in.Entries {
		if q.refuse[*e.ReceiptHandle] {
			out.Failed = append(out.Failed, sqstypes.BatchResultErrorEntry{Id: e.Id, Code: aws.String("InternalError"), Message: aws.String("try again")})
			continue
		}
		q.deleted = append(q.deleted, *e.ReceiptHandle)
	}
	return out, nil
}

// find knows instances whose ID begins with i-.
func find(id string) (interruption.Instance, bool) {
	return interruption.Instance{ProviderID: "aws:///zone-a/" + id, InstanceType: "m5.large", Zone: "zone-a", CapacityType: "spot"}, len(id) > 2 && id[:2] == "i-"
}

func newSource(t testing.TB, o interruption.Options) *interruption.Source {
	t.Helper()
	if o.Find == nil {
		o.Find = find
	}
	if o.Now == nil {
		o.Now = func() time.Time { return time.Date(2026, 5, 4, 12, 0, 1, 0, time.UTC) }
	}
	s, err := interruption.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func receive(t *testing.T, s *interruption.Source) []cloudprovider.Interruption {
	t.Helper()
	list, err := s.ReceiveInterruptions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// AWN-285, AWN-287 to AWN-291, AWN-319, AWN-340, AWN-367, DIS-270, CP-INTERRUPT-02, CP-INTERRUPT-06: what reaches readers, after
// functions were told of it, and what is removed without them. Kinds are those of TestParse.
func TestReceive(t *testing.T) {
	q := &queue{bodies: []string{
		"no event",
		event("aws.ec2", stateChange, stateOf("running")),
		event("aws.ec2", spotWarning, `{"instance-id":"other-1"}`),
		event("aws.ec2", spotWarning, `{"instance-id":"i-7"}`),
		event("aws.health", healthEvent, `{"service":"EC2","eventTypeCategory":"scheduledChange","affectedEntities":[{"entityValue":"i-8"},{"entityValue":"other-2"},{"entityValue":"i-9"}]}`),
	}}
	var noted, kinds []string
	removed := 0
	s := newSource(t, interruption.Options{
		Queue: "q", SQS: q,
		OnEvent: func(_ context.Context, kind interruption.Kind, i interruption.Instance) {
			noted = append(noted, string(kind)+" "+i.ProviderID)
		},
		OnMessage: func(m interruption.Message) { kinds = append(kinds, fmt.Sprint(m.Kind, " ", m.Latency, " ", m.Ours)) },
		OnRemoved: func(n int) { removed += n },
	})
	list := receive(t, s)
	var got []string
	for _, i := range list {
		got = append(got, string(i.Kind)+" "+i.ProviderID)
	}
	if diff := cmp.Diff([]string{"SpotReclaim aws:///zone-a/i-7", "Maintenance aws:///zone-a/i-8", "Maintenance aws:///zone-a/i-9"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"r1", "r2", "r3"}, q.deleted); diff != "" {
		t.Errorf("removed without a reader (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"spot_interrupted aws:///zone-a/i-7", "scheduled_change aws:///zone-a/i-8", "scheduled_change aws:///zone-a/i-9"}, noted); diff != "" {
		t.Errorf("AWN-289: noted (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"no_op 1s false", "spot_interrupted 1s false", "spot_interrupted 1s true", "scheduled_change 1s true"}, kinds); diff != "" {
		t.Errorf("AWN-294: told of (-want +got):\n%s", diff)
	}
	if removed != 3 {
		t.Errorf("AWN-319: told of %d messages that were removed", removed)
	}
	// A message goes once all its instances are dealt with.
	q.deleted = nil
	for i, want := range [][]string{{"r4"}, {"r4"}, {"r4", "r5"}} {
		if err := s.AckInterruptions(t.Context(), list[i].ID); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, q.deleted); diff != "" {
			t.Errorf("after %d (-want +got):\n%s", i, diff)
		}
	}
	if err := s.AckInterruptions(t.Context(), list[0].ID, "nonsense", "9/r99"); err != nil || len(q.deleted) != 2 {
		t.Errorf("CP-INTERRUPT-05: %v, deleted %v", err, q.deleted)
	}
	if removed != 5 {
		t.Errorf("AWN-319: told of %d messages that were removed", removed)
	}
}

// AWN-303, AWN-340: where nothing is to be acted on, all is told and removed, and nothing handed out.
func TestReportOnly(t *testing.T) {
	q := &queue{bodies: []string{event("aws.ec2", spotWarning, `{"instance-id":"i-7"}`)}}
	m := mock.NewMockEC2API(gomock.NewController(t))
	impaired := []ec2types.InstanceStatus{{InstanceId: aws.String("i-8"), InstanceStatus: summary(sent.Add(-time.Hour))}}
	m.EXPECT().DescribeInstanceStatus(gomock.Any(), gomock.Any()).Return(&ec2.DescribeInstanceStatusOutput{InstanceStatuses: impaired}, nil).AnyTimes()
	var noted []string
	ctx, cancel := context.WithCancel(t.Context())
	now := sent
	s := newSource(t, interruption.Options{
		Queue: "q", SQS: q, EC2: m, ReportOnly: true, Now: func() time.Time { now = now.Add(time.Minute); return now },
		OnEvent: func(_ context.Context, kind interruption.Kind, i interruption.Instance) {
			if noted = append(noted, string(kind)+" "+i.ProviderID); len(noted) == 2 {
				cancel()
			}
		},
	})
	if list, err := s.ReceiveInterruptions(ctx); !errors.Is(err, context.Canceled) || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
	if diff := cmp.Diff([]string{"instance_status aws:///zone-a/i-8", "spot_interrupted aws:///zone-a/i-7"}, noted); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"r1"}, q.deleted); diff != "" {
		t.Errorf("removed (-want +got):\n%s", diff)
	}
}

// AWN-284, AWN-296, AWN-340, AWN-367: several readers empty a queue side by side, and each message is dealt with once.
func TestReaders(t *testing.T) {
	const readers = 4
	messages := 15000
	if testing.Short() {
		messages = 100
	}
	q := &queue{}
	for i := range messages {
		q.bodies = append(q.bodies, eventNamed(fmt.Sprint("e-", i), "aws.ec2", spotWarning, fmt.Sprintf(`{"instance-id":"i-%d"}`, i)))
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var (
		mu      sync.Mutex
		handled = map[string]int{}
		working sync.WaitGroup
	)
	s := newSource(t, interruption.Options{Queue: "q", SQS: q})
	for range readers {
		working.Go(func() {
			for {
				list, err := s.ReceiveInterruptions(ctx)
				if err != nil {
					return // the queue is empty, and the others were told
				}
				mu.Lock()
				ids := make([]string, len(list))
				for i := range list {
					ids[i] = list[i].ID
					handled[list[i].ProviderID]++
				}
				all := len(handled) == messages
				mu.Unlock()
				if err := s.AckInterruptions(t.Context(), ids...); err != nil {
					t.Error(err)
				}
				if all {
					cancel()
				}
			}
		})
	}
	working.Wait()
	for id, times := range handled {
		if times != 1 {
			t.Errorf("%s was handed out %d times", id, times)
		}
	}
	if len(handled) != messages || len(q.deleted) != messages {
		t.Errorf("%d of %d messages were handed out, %d removed", len(handled), messages, len(q.deleted))
	}
}

// CP-INTERRUPT-01, AWN-290, AWN-367: what is not acknowledged comes again; what was, and is delivered once more, does not.
func TestRedelivery(t *testing.T) {
	body := event("aws.ec2", spotWarning, `{"instance-id":"i-7"}`)
	q := &queue{bodies: []string{body}}
	s := newSource(t, interruption.Options{Queue: "q", SQS: q})
	receive(t, s)
	q.bodies = []string{body}
	again := receive(t, s)
	if len(again) != 1 || again[0].ID != "0/r2" {
		t.Fatalf("%+v", again)
	}
	if err := s.AckInterruptions(t.Context(), again[0].ID); err != nil {
		t.Fatal(err)
	}
	q.bodies = []string{body, eventNamed("e-2", "aws.ec2", rebalance, `{"instance-id":"i-8"}`)}
	list := receive(t, s)
	if len(list) != 1 || list[0].Kind != cloudprovider.InterruptionRebalance {
		t.Errorf("%+v", list)
	}
	if diff := cmp.Diff([]string{"r2", "r3"}, q.deleted[:2]); diff != "" {
		t.Error(diff)
	}
}

// What SQS does not remove is said, and comes again.
func TestAckFails(t *testing.T) {
	q := &queue{bodies: []string{event("aws.ec2", spotWarning, `{"instance-id":"i-7"}`)}, refuse: map[string]bool{"r1": true}}
	s := newSource(t, interruption.Options{Queue: "q", SQS: q})
	if err := s.AckInterruptions(t.Context(), receive(t, s)[0].ID); err == nil || err.Error() != "removing a message from queue q: InternalError: try again" {
		t.Errorf("%v", err)
	}
}

// AWN-283, AWN-284, CP-INTERRUPT-03: a queue that is not there, one that goes, and a reader that gives up.
func TestQueueFaults(t *testing.T) {
	m := mock.NewMockSQSAPI(gomock.NewController(t))
	missing := &smithy.GenericAPIError{Code: "AWS.SimpleQueueService.NonExistentQueue", Message: "no such queue"}
	url := &sqs.GetQueueUrlOutput{QueueUrl: aws.String("u")}
	gomock.InOrder(
		m.EXPECT().GetQueueUrl(gomock.Any(), gomock.Any()).Return(nil, missing),
		m.EXPECT().GetQueueUrl(gomock.Any(), gomock.Any()).Return(url, nil),
		m.EXPECT().ReceiveMessage(gomock.Any(), gomock.Any()).Return(nil, missing),
		m.EXPECT().GetQueueUrl(gomock.Any(), gomock.Any()).Return(url, nil),
		m.EXPECT().ReceiveMessage(gomock.Any(), gomock.Any()).Return(nil, &smithy.GenericAPIError{Code: "RequestThrottled", Message: "slow down"}),
	)
	s := newSource(t, interruption.Options{Queue: "q", SQS: m})
	for i, throttled := range []bool{false, false, true} {
		_, err := s.ReceiveInterruptions(t.Context())
		if err == nil || cloudprovider.IsThrottled(err) != throttled {
			t.Errorf("call %d: %v", i, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.ReceiveInterruptions(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("CP-INTERRUPT-03: %v", err)
	}
}

// AWN-283: what a source can't be made of.
func TestOptions(t *testing.T) {
	for name, o := range map[string]interruption.Options{
		"nothing to listen to": {Find: find}, "an ARN": {Queue: "arn:aws:sqs:us-east-1:1:q", SQS: &queue{}, Find: find},
		"a URL": {Queue: "https://sqs/q", SQS: &queue{}, Find: find}, "nobody to read it": {Queue: "q", Find: find},
		"nobody to find": {Queue: "q", SQS: &queue{}}, "a negative time": {Queue: "q", SQS: &queue{}, Find: find, StatusEvery: -1},
		"another negative time": {Queue: "q", SQS: &queue{}, Find: find, ImpairedFor: -1},
	} {
		var wrong *option.Error
		if _, err := interruption.New(o); !errors.As(err, &wrong) {
			t.Errorf("%s: %v", name, err)
		}
		if name == "an ARN" && !strings.HasSuffix(wrong.Rule, `not the ARN or the URL: "q"`) {
			t.Errorf("AWN-340: %q does not say which name", wrong.Rule)
		}
	}
}

func summary(since time.Time) *ec2types.InstanceStatusSummary {
	return &ec2types.InstanceStatusSummary{Details: []ec2types.InstanceStatusDetails{{
		Name: ec2types.StatusNameReachability, Status: ec2types.StatusTypeFailed, ImpairedSince: &since,
	}}}
}

// AWN-298 to AWN-302, AWN-305, AWN-306, AWN-319, AWN-356, AWN-368, DIS-270: what a poll of EC2 finds about the cluster's instances,
// once while it lasts: after two minutes, not a second sooner, of both categories at once, and maintenance at once.
func TestStatus(t *testing.T) {
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	due := now.Add(24 * time.Hour)
	statuses := []ec2types.InstanceStatus{
		{InstanceId: aws.String("i-impaired"), InstanceStatus: summary(now.Add(-2 * time.Minute)), SystemStatus: summary(now.Add(-time.Hour))},
		{InstanceId: aws.String("i-shortly"), InstanceStatus: summary(now.Add(-119 * time.Second))},
		{InstanceId: aws.String("i-retired"), Events: []ec2types.InstanceStatusEvent{
			{Code: ec2types.EventCodeInstanceReboot, Description: aws.String("[Completed] done")},
			{Code: ec2types.EventCodeInstanceRetirement, Description: aws.String("hardware"), NotBefore: &due},
		}},
		{InstanceId: aws.String("i-over"), Events: []ec2types.InstanceStatusEvent{{Code: ec2types.EventCodeSystemReboot, Description: aws.String("[Completed] done")}}},
		{InstanceId: aws.String("other"), InstanceStatus: summary(now.Add(-time.Hour))},
	}
	var filters []string
	m := mock.NewMockEC2API(gomock.NewController(t))
	m.EXPECT().DescribeInstanceStatus(gomock.Any(), gomock.Any()).DoAndReturn(func(_ context.Context, in *ec2.DescribeInstanceStatusInput, _ ...func(*ec2.Options)) (*ec2.DescribeInstanceStatusOutput, error) {
		if in.NextToken == nil {
			filters = append(filters, *in.Filters[0].Name)
			return &ec2.DescribeInstanceStatusOutput{NextToken: aws.String("more")}, nil
		}
		return &ec2.DescribeInstanceStatusOutput{InstanceStatuses: statuses}, nil
	}).AnyTimes()
	waited := make(chan time.Time, 1)
	counted := map[string]int{}
	s := newSource(t, interruption.Options{
		EC2: m, Now: func() time.Time { return now }, After: func(time.Duration) <-chan time.Time { return waited },
		OnUnhealthy: func(kind interruption.Kind, i interruption.Instance) { counted[string(kind)+" "+i.ProviderID]++ },
	})
	texts := func(list []cloudprovider.Interruption) (out []string) {
		for _, i := range list {
			out = append(out, i.ID+" "+string(i.Kind)+" "+i.Message)
		}
		return out
	}
	first := receive(t, s)
	want := []string{
		"status/i-impaired/instance_status Unhealthy check reachability has failed",
		"status/i-impaired/system_status Unhealthy check reachability has failed",
		"status/i-retired/event_status Maintenance instance-retirement: hardware",
	}
	if diff := cmp.Diff(want, texts(first)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"instance-status.status", "system-status.status", "event.code"}, filters); diff != "" {
		t.Errorf("AWN-298: filters (-want +got):\n%s", diff)
	}
	if !first[2].Deadline.Equal(due) {
		t.Errorf("deadline %s", first[2].Deadline)
	}
	// What was dealt with is not said again while it lasts; what was not is.
	if err := s.AckInterruptions(t.Context(), first[0].ID, first[2].ID); err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Minute)
	if diff := cmp.Diff([]string{want[1], "status/i-shortly/instance_status Unhealthy check reachability has failed"}, texts(receive(t, s))); diff != "" {
		t.Errorf("a minute later (-want +got):\n%s", diff)
	}
	// Each is counted once, dealt with or not (AWN-302).
	if diff := cmp.Diff(map[string]int{
		"instance_status aws:///zone-a/i-impaired": 1, "system_status aws:///zone-a/i-impaired": 1,
		"instance_status aws:///zone-a/i-shortly": 1, "event_status aws:///zone-a/i-retired": 1,
	}, counted); diff != "" {
		t.Errorf("AWN-302: counted (-want +got):\n%s", diff)
	}
	// Gone for one poll, it is news again (AWN-302).
	all := statuses
	statuses = statuses[1:2]
	now = now.Add(time.Minute)
	receive(t, s)
	statuses = all[:1]
	now = now.Add(time.Minute)
	if diff := cmp.Diff(want[:2], texts(receive(t, s))); diff != "" {
		t.Errorf("AWN-302: back again (-want +got):\n%s", diff)
	}
	if n := counted["instance_status aws:///zone-a/i-impaired"]; n != 2 {
		t.Errorf("AWN-302: counted %d times", n)
	}
	// Between polls a reader waits.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.ReceiveInterruptions(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// AWN-356: how long an impairment must last may be said.
func TestImpairedFor(t *testing.T) {
	m := mock.NewMockEC2API(gomock.NewController(t))
	impaired := []ec2types.InstanceStatus{
		{InstanceId: aws.String("i-1"), InstanceStatus: summary(sent.Add(-9 * time.Minute))},
		{InstanceId: aws.String("i-2"), InstanceStatus: summary(sent.Add(-10 * time.Minute))},
	}
	m.EXPECT().DescribeInstanceStatus(gomock.Any(), gomock.Any()).Return(&ec2.DescribeInstanceStatusOutput{InstanceStatuses: impaired}, nil).AnyTimes()
	s := newSource(t, interruption.Options{EC2: m, ImpairedFor: 10 * time.Minute, Now: func() time.Time { return sent }})
	if list := receive(t, s); len(list) != 1 || list[0].ProviderID != "aws:///zone-a/i-2" {
		t.Errorf("%+v", list)
	}
}

// AWN-304, AWN-356, AWN-368: a missing permission does not keep the queue from being read, and is tried again, slowly.
func TestStatusNotPermitted(t *testing.T) {
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	m := mock.NewMockEC2API(gomock.NewController(t))
	calls := 0
	m.EXPECT().DescribeInstanceStatus(gomock.Any(), gomock.Any()).DoAndReturn(func(context.Context, *ec2.DescribeInstanceStatusInput, ...func(*ec2.Options)) (*ec2.DescribeInstanceStatusOutput, error) {
		calls++
		return nil, &smithy.GenericAPIError{Code: "UnauthorizedOperation", Message: "not you"}
	}).AnyTimes()
	q := &queue{}
	s := newSource(t, interruption.Options{Queue: "q", SQS: q, EC2: m, Now: func() time.Time { return now }})
	for i, want := range []int{1, 1, 1, 2} {
		q.bodies = append(q.bodies, event("aws.ec2", spotWarning, fmt.Sprintf(`{"instance-id":"i-%d"}`, i)))
		if list := receive(t, s); len(list) != 1 || calls != want {
			t.Errorf("receive %d: %d messages, %d calls, want %d", i, len(list), calls, want)
		}
		now = now.Add(4 * time.Minute)
	}
}

// Messages decoded and handled in this process, from a queue that answers at once (goals: at least 10,000 a second): a
// third each of scheduled changes, spot warnings and state changes (AWN-296, AWN-367).
func BenchmarkMessages(b *testing.B) {
	bodies := []func(id string) string{
		func(id string) string {
			return eventNamed(id, "aws.health", healthEvent, `{"service":"EC2","eventTypeCategory":"scheduledChange","affectedEntities":[{"entityValue":"i-8"}]}`)
		},
		func(id string) string { return eventNamed(id, "aws.ec2", spotWarning, `{"instance-id":"i-7"}`) },
		func(id string) string { return eventNamed(id, "aws.ec2", stateChange, stateOf("stopped")) },
	}
	q := &queue{}
	noted := 0
	s := newSource(b, interruption.Options{Queue: "q", SQS: q, OnEvent: func(context.Context, interruption.Kind, interruption.Instance) { noted++ }})
	b.ReportAllocs()
	handled := 0
	for b.Loop() {
		for i := range 10 {
			q.bodies = append(q.bodies, bodies[i%3](fmt.Sprint("e-", handled+i))) // part of what is timed, and little
		}
		list, err := s.ReceiveInterruptions(b.Context())
		if err != nil || len(list) != 10 {
			b.Fatal(len(list), err)
		}
		ids := make([]string, len(list))
		for i := range list {
			ids[i] = list[i].ID
		}
		if err := s.AckInterruptions(b.Context(), ids...); err != nil {
			b.Fatal(err)
		}
		q.deleted = q.deleted[:0]
		handled += len(list)
	}
	b.ReportMetric(float64(handled)/b.Elapsed().Seconds(), "messages/s")
}
