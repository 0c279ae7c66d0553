package interruption

import (
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"time"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/aws/sdk"
)

// Options are the options of a Source. Find is required. At least one of Queue and EC2 is also required.
type Options struct {
	// Queue is the name of the SQS queue, neither its ARN nor its URL. Empty means no queue.
	Queue string
	// SQS reads the queue. Required with Queue.
	SQS sdk.SQSAPI
	// EC2 reports instances that are impaired or due for maintenance. Nil means that EC2 is not asked.
	EC2 sdk.EC2API
	// Find looks up an instance of the cluster by its EC2 ID. It returns false if the cluster has no such instance; the message is then for
	// another cluster. It must not call AWS, because it is called for every message.
	Find func(instanceID string) (Instance, bool)
	// OnEvent is called for each event about an instance of the cluster, before the event is delivered and again if it is redelivered, so
	// that information about offerings and reservations is recorded at once. It may be nil. It must be safe for concurrent use.
	OnEvent func(ctx context.Context, kind Kind, instance Instance)
	// OnUnhealthy is called once for each finding of a poll, even if the finding is not handled. It is called again if the finding ends and
	// later begins again. Nil means no calls. It must be safe for concurrent use, and so must OnMessage and OnRemoved.
	OnUnhealthy func(kind Kind, instance Instance)
	// OnMessage is called for each message of the queue that can be read. It may be nil.
	OnMessage func(Message)
	// OnRemoved is called with the number of messages just removed from the queue. It may be nil.
	OnRemoved func(messages int)
	// ReportOnly makes the source return no messages. It passes messages to OnEvent and the other functions, and then removes them as if
	// they had been handled. ReceiveInterruptions then returns only with errors.
	ReportOnly bool
	// StatusEvery is how often EC2 is asked; 0 means DefaultStatusEvery.
	StatusEvery time.Duration
	// ImpairedFor is how long an instance must have been impaired before it is reported; 0 means DefaultImpairedFor.
	ImpairedFor time.Duration
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// After returns a channel that receives a value after the duration; nil means time.After. It is used only if there is no queue to wait
	// for.
	After func(time.Duration) <-chan time.Time
	// Logger logs unreadable messages and failed calls. Nil means no log.
	Logger *slog.Logger
}

// Message describes a message of the queue, for metrics.
type Message struct {
	// Kind of its event.
	Kind Kind
	// Latency is the time between sending and receiving the message; negative if the message does not say when it was sent.
	Latency time.Duration
	// Ours means that the message names at least one instance of the cluster.
	Ours bool
}

// Instance contains the properties of an instance that a source needs.
type Instance struct {
	// ProviderID as in spec.providerID of its node.
	ProviderID string
	// InstanceType, Zone and CapacityType, for OnEvent; may be empty.
	InstanceType, Zone, CapacityType string
	// ReservationID is the reservation that the instance runs in; empty for none.
	ReservationID string
	// Tenancy is one of the Tenancy constants of aws/api/v1; empty means default.
	Tenancy string
}

// DefaultStatusEvery is how often EC2 is asked by default.
const DefaultStatusEvery = time.Minute

// DefaultImpairedFor is how long an instance must have been impaired by default.
const DefaultImpairedFor = 2 * time.Minute

// queueName matches valid names of SQS queues.
const queueName = `^[A-Za-z0-9_-]{1,80}(\.fifo)?$`

// misnamed returns the error text for a setting that is no valid name of a queue. ARNs and URLs end with the name, so the text suggests
// their last part.
func misnamed(queue string) string {
	rule := fmt.Sprintf("%q is not the name of a queue: give the name (up to 80 letters, digits, - and _, perhaps with .fifo), not the ARN or the URL", queue)
	if at := strings.LastIndexAny(queue, ":/"); at >= 0 && regexp.MustCompile(queueName).MatchString(queue[at+1:]) {
		rule += fmt.Sprintf(": %q", queue[at+1:])
	}
	return rule
}

// ValidQueueName returns an error that says why a string can't be a queue's name, or nil if it can.
func ValidQueueName(name string) error {
	if !regexp.MustCompile(queueName).MatchString(name) {
		return fmt.Errorf("%q is not the name of a queue: give the name (up to 80 letters, digits, - and _, perhaps with .fifo), not the ARN or the URL", name)
	}
	return nil
}

func (o Options) complete() (Options, error) {
	switch {
	case o.Queue == "" && o.EC2 == nil:
		return o, &option.Error{Package: "interruption", Option: "Queue", Rule: "there is no source of interruptions, neither a queue nor EC2: name a queue"}
	case o.Queue != "" && !regexp.MustCompile(queueName).MatchString(o.Queue):
		return o, &option.Error{Package: "interruption", Option: "Queue", Rule: misnamed(o.Queue)}
	case o.Queue != "" && o.SQS == nil:
		return o, &option.Error{Package: "interruption", Option: "SQS", Rule: "is required to read queue " + o.Queue}
	case o.Find == nil:
		return o, &option.Error{Package: "interruption", Option: "Find", Rule: "a function that returns the cluster's instances is required"}
	case o.StatusEvery < 0:
		return o, &option.Error{Package: "interruption", Option: "StatusEvery", Rule: fmt.Sprintf("%s is negative", o.StatusEvery)}
	case o.ImpairedFor < 0:
		return o, &option.Error{Package: "interruption", Option: "ImpairedFor", Rule: fmt.Sprintf("%s is negative", o.ImpairedFor)}
	}
	if o.ImpairedFor == 0 {
		o.ImpairedFor = DefaultImpairedFor
	}
	if o.StatusEvery == 0 {
		o.StatusEvery = DefaultStatusEvery
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.After == nil {
		o.After = time.After
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o, nil
}
