package interruption

import (
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"time"

	"github.com/drawknife/drawknife/aws/sdk"
)

// Options are what a source listens to. Find is required, and at least one of Queue and EC2.
type Options struct {
	// Queue is the name of the SQS queue, neither its ARN nor its URL (AWN-283). Empty: there is none.
	Queue string
	// SQS reads the queue. Required with Queue.
	SQS sdk.SQSAPI
	// EC2 reports instances that are impaired or due for maintenance. Nil: it is not asked.
	EC2 sdk.EC2API
	// Find looks an instance of the cluster up by its EC2 ID; false if it has no such instance: the message is another
	// cluster's (AWN-291). It must not call AWS, since it is asked for every message.
	Find func(instanceID string) (Instance, bool)
	// OnEvent is told of each event about an instance of the cluster, before it is handed out, and again when it comes
	// again: what a reclaim says of an offering or a reservation is to be noted at once (AWN-285, AWN-289). Nil: nobody
	// is. It must be safe for concurrent use.
	OnEvent func(ctx context.Context, kind Kind, instance Instance)
	// OnMessage is told of each message of the queue, with how long it took to arrive; the time is negative if the message
	// does not say when it was sent (AWN-294). Nil: nobody is.
	OnMessage func(kind Kind, latency time.Duration)
	// StatusEvery is how often EC2 is asked; 0 is DefaultStatusEvery.
	StatusEvery time.Duration
	// Now tells the time; nil is time.Now.
	Now func() time.Time
	// After waits; nil is time.After. It is used only where there is no queue to wait on.
	After func(time.Duration) <-chan time.Time
	// Logger is told of messages that can't be read and of calls that fail; nil: nobody is.
	Logger *slog.Logger
}

// Instance is what a source has to know of one.
type Instance struct {
	// ProviderID as in spec.providerID of its node.
	ProviderID string
	// InstanceType, Zone and CapacityType, for OnEvent; may be empty.
	InstanceType, Zone, CapacityType string
	// ReservationID is that of the reservation it runs in; empty for none.
	ReservationID string
}

// OptionError is an option that can't be.
type OptionError struct {
	// Option is its name in Go.
	Option string
	// Rule that is broken.
	Rule string
}

func (e *OptionError) Error() string {
	return fmt.Sprintf("interruption: option %s: %s", e.Option, e.Rule)
}

// DefaultStatusEvery is how often EC2 is asked by default (AWN-298).
const DefaultStatusEvery = time.Minute

// queueName is what SQS takes for one.
const queueName = `^[A-Za-z0-9_-]{1,80}(\.fifo)?$`

func (o Options) complete() (Options, error) {
	switch {
	case o.Queue == "" && o.EC2 == nil:
		return o, &OptionError{Option: "Queue", Rule: "there is neither a queue nor EC2 to listen to: name a queue"}
	case o.Queue != "" && !regexp.MustCompile(queueName).MatchString(o.Queue):
		return o, &OptionError{Option: "Queue", Rule: fmt.Sprintf("%q is no queue's name: give the name, neither the ARN nor the URL", o.Queue)}
	case o.Queue != "" && o.SQS == nil:
		return o, &OptionError{Option: "SQS", Rule: "nobody can read queue " + o.Queue}
	case o.Find == nil:
		return o, &OptionError{Option: "Find", Rule: "nobody knows which instances are the cluster's"}
	case o.StatusEvery < 0:
		return o, &OptionError{Option: "StatusEvery", Rule: fmt.Sprintf("%s is negative", o.StatusEvery)}
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
