package fake

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/drawknife/drawknife/api/option"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// EventKind says where an event comes from.
type EventKind string

// The kinds of events. Calls and levers (changes by tests) come from callers, so Replay repeats them. Happenings are the consequences of
// calls and levers, so Replay does not repeat them.
const (
	EventCall      EventKind = "Call"
	EventLever     EventKind = "Lever"
	EventHappening EventKind = "Happening"
)

// Event is one call, change or other event in a cloud. Fields that do not apply are zero.
type Event struct {
	// Seq is the number of the event, starting with 1.
	Seq int `json:"seq"`
	// At is the time of the event on the cloud's clock.
	At time.Time `json:"at"`
	// Kind and Name say what happened. Name is the name of a Method, of a change that a test requests, or of a happening ("Running",
	// "Gone").
	Kind EventKind `json:"kind"`
	Name string    `json:"name"`
	// Cluster that called.
	Cluster string `json:"cluster,omitempty"`
	// ProviderID is the provider ID of the instance.
	ProviderID string `json:"providerID,omitempty"`
	// Claims are the claims passed to the call: one to Create, any number to CreateGroup and Restore.
	Claims []*v1.NodeClaim `json:"claims,omitempty"`
	// NodeClass is the node class that the event is about, and Readiness is its readiness.
	NodeClass *v1.NodeClassReference            `json:"nodeClass,omitempty"`
	Readiness *cloudprovider.NodeClassReadiness `json:"readiness,omitempty"`
	// Offerings are the offerings that a lever changes. Prices are the prices of these offerings in USD per hour, with the same indexes.
	Offerings []cloudprovider.OfferingKey `json:"offerings,omitempty"`
	Prices    []float64                   `json:"prices,omitempty"`
	// Number is the new stock of offerings, the number of instances that a quota allows, or the number of changed prices. Duration is the
	// length of a notice or of a brown-out. On is the new state of something that can be on or off. In a call, it means that no claim or
	// pool was passed.
	Number   int           `json:"number,omitempty"`
	Duration time.Duration `json:"duration,omitempty"`
	On       bool          `json:"on,omitempty"`
	// Text is an image, a version, a reason, the name of a quota, or the kind of an interruption.
	Text string `json:"text,omitempty"`
	// IDs are the IDs of interruption messages, or names of methods.
	IDs []string `json:"ids,omitempty"`
	// Fault is the fault that was injected.
	Fault *LoggedFault `json:"fault,omitempty"`
	// Error is the error of the call or of the test's change. Result is the result of the call or change: provider IDs, message IDs, or a
	// text.
	Error  string   `json:"error,omitempty"`
	Result []string `json:"result,omitempty"`
}

// LoggedFault is the form of a Fault in a log.
type LoggedFault struct {
	Method Method                  `json:"method"`
	Kind   cloudprovider.ErrorKind `json:"kind"`
	Text   string                  `json:"text"`
	Skip   int                     `json:"skip,omitempty"`
	More   int                     `json:"more,omitempty"`
	Lost   bool                    `json:"lost,omitempty"`
	// RetryAfter is the waiting time in the error of a throttled call. Offerings are the offerings in the error.
	RetryAfter time.Duration               `json:"retryAfter,omitempty"`
	Offerings  []cloudprovider.OfferingKey `json:"offerings,omitempty"`
}

func logged(f Fault) *LoggedFault {
	wait, _ := cloudprovider.RetryAfter(f.Err)
	return &LoggedFault{
		Method: f.Method, Kind: cloudprovider.KindOf(f.Err), Text: f.Err.Error(), Skip: f.Skip, More: f.More, Lost: f.Lost,
		RetryAfter: wait, Offerings: cloudprovider.ExhaustedOfferings(f.Err),
	}
}

// fault returns the Fault of the log, with an error that has the logged kind and text.
func (l *LoggedFault) fault() Fault {
	return Fault{Method: l.Method, Err: &loggedError{l}, Skip: l.Skip, More: l.More, Lost: l.Lost}
}

// loggedError is an error that was read from a log.
type loggedError struct{ of *LoggedFault }

func (e *loggedError) Error() string { return e.of.Text }

// Is makes errors.Is true for the kind of the error.
func (e *loggedError) Is(target error) bool { return target == e.of.Kind }

// Unwrap returns the typed error for the kind, with its data.
func (e *loggedError) Unwrap() error {
	switch e.of.Kind {
	case cloudprovider.Throttled:
		return cloudprovider.NewThrottledError("", e.of.RetryAfter, nil)
	case cloudprovider.QuotaExceeded:
		return cloudprovider.NewQuotaExceededError("", nil, e.of.Offerings...)
	case cloudprovider.InsufficientCapacity:
		return cloudprovider.NewInsufficientCapacityError(nil, e.of.Offerings...)
	}
	return e.of.Kind
}

// WriteLog writes events as JSON, one per line.
func WriteLog(w io.Writer, events []Event) error {
	if w == nil {
		return option.Missing("WriteLog", "the writer")
	}
	encoder := json.NewEncoder(w)
	for i := range events {
		if err := encoder.Encode(&events[i]); err != nil {
			return fmt.Errorf("writing event %d: %w", events[i].Seq, err)
		}
	}
	return nil
}

// longestLine is the maximum length of one event in a log.
const longestLine = 1 << 20

// ReadLog reads a log that WriteLog has written. It skips empty lines. The error names the line that is invalid or longer than 1 MiB.
func ReadLog(r io.Reader) ([]Event, error) {
	if r == nil {
		return nil, option.Missing("ReadLog", "the reader")
	}
	var events []Event
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, longestLine)
	number := 0
	for lines.Scan() {
		number++
		if len(lines.Bytes()) == 0 {
			continue
		}
		var e Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("reading a log of events: line %d: %w", number, err)
		}
		events = append(events, e)
	}
	if err := lines.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("it is longer than %d bytes: %w", longestLine, err)
		}
		return nil, fmt.Errorf("reading a log of events: line %d: %w", number+1, err)
	}
	return events, nil
}

// record calls OnEvent. Events are recorded in the order in which callers held the lock.
func (a *account) record(e Event) {
	if a.options.OnEvent == nil {
		return
	}
	a.recorded++
	e.Seq = a.recorded
	a.hooks = append(a.hooks, func() { a.options.OnEvent(e) })
}

// happened records a change of an instance that follows from earlier calls or from earlier changes that a test requested.
func (a *account) happened(what string, m *instance, at time.Time) {
	a.record(Event{At: at, Kind: EventHappening, Name: what, ProviderID: m.ProviderID})
}

// lever makes a change that a test requests. It first makes the planned changes that are due. Then it calls the function change under the
// lock, and records the change.
func (c *Cloud) lever(e Event, change func(now time.Time) error) error {
	now := c.clock.Now()
	defer c.runHooks()
	c.mu.Lock()
	defer c.mu.Unlock()
	now = c.notBefore(now)
	c.catchUp(now)
	err := change(now)
	e.At, e.Kind, e.Cluster = now, EventLever, c.cluster
	if err != nil {
		e.Error = err.Error()
	}
	c.record(e)
	c.catchUp(now)
	return err
}
