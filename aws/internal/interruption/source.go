package interruption

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/cloudprovider"
)

// Settings for reading the queue.
const (
	receiveMost = 10
	waitSeconds = 20
	// visibility is how long a received message is reserved before it is delivered again. It is longer than the time for which one receive
	// call waits for messages.
	visibility = 30 * time.Second
	// rememberFor is how long a handled event is remembered, so that it is recognised when it is delivered again.
	rememberFor = 10 * time.Minute
	sweepEvery  = time.Minute
	// statusPrefix distinguishes results of polling from messages, whose receipts never begin with it.
	statusPrefix = "status/"
)

var _ cloudprovider.InterruptionSource = (*Source)(nil)

// Source receives interruptions. It is safe for concurrent use: several goroutines may receive in parallel, each with its own receive call.
type Source struct {
	options Options

	mu  sync.Mutex
	url string
	// open contains the messages that were returned, by receipt, until they are acknowledged or received again.
	open map[string]*delivery
	// dealtWith contains the IDs of handled events, with the time until which they are remembered.
	dealtWith map[string]time.Time
	// swept is when forget last went through open and dealtWith.
	swept  time.Time
	status statusMemory
}

// delivery is a message about one or more instances of the cluster. The message is removed once it has been handled for all of these
// instances.
type delivery struct {
	event   string
	pending map[int]bool
	expires time.Time
}

// New makes a source. The error is an *option.Error.
func New(o Options) (*Source, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	return &Source{options: o, open: map[string]*delivery{}, dealtWith: map[string]time.Time{}, status: newStatusMemory()}, nil
}

// ReceiveInterruptions waits for messages about instances of the cluster and returns at least one, or an error. If ctx ends, it returns
// ctx's error. If the queue does not exist, each call returns an error until the queue has been created.
func (s *Source) ReceiveInterruptions(ctx context.Context) ([]cloudprovider.Interruption, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("receiving interruptions: %w", err)
		}
		list, err := s.poll(ctx)
		if len(list) > 0 || err != nil {
			return list, err
		}
		if s.options.Queue == "" {
			select {
			case <-ctx.Done():
			case <-s.options.After(s.status.wait(s.options.Now(), s.options.StatusEvery)):
			}
			continue
		}
		if list, err = s.receive(ctx); len(list) > 0 || err != nil {
			return list, err
		}
	}
}

// receive reads the queue once, returns the messages about instances of the cluster, and removes all other messages from the queue.
func (s *Source) receive(ctx context.Context) ([]cloudprovider.Interruption, error) {
	url, err := s.queueURL(ctx)
	if err != nil {
		return nil, err
	}
	out, err := s.options.SQS.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
		QueueUrl: &url, MaxNumberOfMessages: receiveMost, WaitTimeSeconds: waitSeconds, VisibilityTimeout: int32(visibility / time.Second),
		MessageSystemAttributeNames: []sqstypes.MessageSystemAttributeName{sqstypes.MessageSystemAttributeNameSentTimestamp},
	})
	if err != nil {
		s.forgetURL(err)
		return nil, sdk.Wrap("receiving from queue "+s.options.Queue, err)
	}
	var list []cloudprovider.Interruption
	var useless []string
	for i := range out.Messages {
		m := &out.Messages[i]
		handed := s.take(ctx, aws.ToString(m.Body), aws.ToString(m.ReceiptHandle))
		if len(handed) == 0 {
			useless = append(useless, aws.ToString(m.ReceiptHandle))
		}
		list = append(list, handed...)
	}
	if err := s.remove(ctx, url, useless); err != nil {
		s.options.Logger.Warn("cannot delete SQS messages that need no action, receiving them again later", "queue", s.options.Queue, "error", err)
	}
	return list, nil
}

// take parses a message. It returns nothing if the message does not concern the cluster, if its event was handled before, or if ReportOnly
// is set.
func (s *Source) take(ctx context.Context, body, receipt string) []cloudprovider.Interruption {
	now := s.options.Now()
	event, err := Parse([]byte(body))
	if err != nil {
		s.options.Logger.Error("cannot parse SQS message, deleting it", "queue", s.options.Queue, "error", err)
		return nil
	}
	var list []cloudprovider.Interruption
	d := &delivery{event: event.ID, pending: map[int]bool{}, expires: now.Add(visibility)}
	for n, id := range event.Instances {
		instance, ok := s.options.Find(id)
		if !ok {
			continue
		}
		if s.options.OnEvent != nil {
			s.options.OnEvent(ctx, event.Kind, instance)
		}
		d.pending[n] = true
		list = append(list, cloudprovider.Interruption{
			ID: strconv.Itoa(n) + "/" + receipt, Kind: event.Kind.InterruptionKind(), ProviderID: instance.ProviderID,
			Time: event.Time, Deadline: event.Deadline, Message: event.Message,
		})
	}
	if s.options.OnMessage != nil {
		latency := time.Duration(-1)
		if !event.Time.IsZero() {
			latency = max(0, now.Sub(event.Time))
		}
		s.options.OnMessage(Message{Kind: event.Kind, Latency: latency, Ours: len(list) > 0})
	}
	if s.options.ReportOnly {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if until, known := s.dealtWith[event.ID]; known && event.ID != "" && now.Before(until) {
		return nil // the message was delivered again after it was handled
	}
	if len(list) > 0 {
		s.open[receipt] = d
	}
	s.forget(now)
	return list
}

// AckInterruptions removes messages that have been handled for all of their instances. An unknown receipt is not an error.
func (s *Source) AckInterruptions(ctx context.Context, ids ...string) error {
	var receipts []string
	s.mu.Lock()
	now := s.options.Now()
	for _, id := range ids {
		if finding, ok := strings.CutPrefix(id, statusPrefix); ok {
			s.status.ack(finding)
			continue
		}
		number, receipt, _ := strings.Cut(id, "/")
		n, err := strconv.Atoi(number)
		d := s.open[receipt]
		if err != nil || d == nil {
			continue
		}
		delete(d.pending, n)
		if len(d.pending) == 0 {
			delete(s.open, receipt)
			s.dealtWith[d.event] = now.Add(rememberFor)
			receipts = append(receipts, receipt)
		}
	}
	s.mu.Unlock()
	if len(receipts) == 0 {
		return nil
	}
	url, err := s.queueURL(ctx)
	if err != nil {
		return err
	}
	return s.remove(ctx, url, receipts)
}

// remove deletes messages from the queue, ten at a time. Messages that SQS refuses to delete are delivered again.
func (s *Source) remove(ctx context.Context, url string, receipts []string) error {
	var errs []error
	for chunk := range slices.Chunk(receipts, receiveMost) {
		in := &sqs.DeleteMessageBatchInput{QueueUrl: &url}
		for i, receipt := range chunk {
			in.Entries = append(in.Entries, sqstypes.DeleteMessageBatchRequestEntry{Id: aws.String(strconv.Itoa(i)), ReceiptHandle: aws.String(receipt)})
		}
		out, err := s.options.SQS.DeleteMessageBatch(ctx, in)
		if err != nil {
			errs = append(errs, sdk.Wrap("removing messages from queue "+s.options.Queue, err))
			continue
		}
		if removed := len(chunk) - len(out.Failed); s.options.OnRemoved != nil && removed > 0 {
			s.options.OnRemoved(removed)
		}
		for _, f := range out.Failed {
			errs = append(errs, fmt.Errorf("removing a message from queue %s: %s: %s", s.options.Queue, aws.ToString(f.Code), aws.ToString(f.Message)))
		}
	}
	return errors.Join(errs...)
}

// queueURL looks up the queue by its name and remembers the URL.
func (s *Source) queueURL(ctx context.Context) (string, error) {
	s.mu.Lock()
	url := s.url
	s.mu.Unlock()
	if url != "" {
		return url, nil
	}
	out, err := s.options.SQS.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &s.options.Queue})
	if err != nil {
		return "", sdk.Wrap("looking for queue "+s.options.Queue, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.url = aws.ToString(out.QueueUrl)
	return s.url, nil
}

// forgetURL makes the next call look up the queue again if err means that the queue does not exist.
func (s *Source) forgetURL(err error) {
	var gone *sqstypes.QueueDoesNotExist
	if errors.As(err, &gone) || strings.Contains(sdk.Code(err), "NonExistentQueue") {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.url = ""
	}
}

// forget drops messages that can't be acknowledged any more, because they were received again with another receipt, and events that were
// remembered long enough.
func (s *Source) forget(now time.Time) {
	if now.Sub(s.swept) < sweepEvery {
		return
	}
	s.swept = now
	for receipt, d := range s.open {
		// A receipt stays valid for a while after the message is visible again.
		if now.After(d.expires.Add(rememberFor)) {
			delete(s.open, receipt)
		}
	}
	for id, until := range s.dealtWith {
		if now.After(until) {
			delete(s.dealtWith, id)
		}
	}
}
