package interruption

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/drawknife/drawknife/cloudprovider"
)

// Kind is the kind of an event, as a metric label.
type Kind string

// The kinds.
const (
	SpotInterrupted                Kind = "spot_interrupted"
	RebalanceRecommendation        Kind = "rebalance_recommendation"
	InstanceStopped                Kind = "instance_stopped"
	InstanceTerminated             Kind = "instance_terminated"
	ScheduledChange                Kind = "scheduled_change"
	CapacityReservationInterrupted Kind = "capacity_reservation_interrupted"
	// InstanceStatus, SystemStatus and EventStatus are not events of the queue but findings of a poll.
	InstanceStatus Kind = "instance_status"
	SystemStatus   Kind = "system_status"
	EventStatus    Kind = "event_status"
	// NoOp is an event without instances, or without relevant content.
	NoOp Kind = "no_op"
)

// Event contains the content of a message.
type Event struct {
	// ID of the event; it is the same for each delivery. Empty for NoOp if the body is no event.
	ID string
	// Kind of the event.
	Kind Kind
	// Time is when AWS sent the event; zero if the event does not say.
	Time time.Time
	// Instances are the IDs of the affected instances, in the order of the message, without duplicates; none for NoOp.
	Instances []string
	// Deadline is when the instances stop working; zero if unknown.
	Deadline time.Time
	// Message is AWS's own explanation, for people; may be empty.
	Message string
}

// Limits for the content of messages.
const (
	// maxBody is more than the size of any message in a queue. It also limits how many instances one event can name.
	maxBody = 1 << 20
	// notice is how long before the interruption EC2 announces it.
	notice = 2 * time.Minute
)

// ParseError is a message body that is not an event.
type ParseError struct {
	// Offset is where reading ended, in bytes; -1 if the error concerns the whole body.
	Offset int64
	// Rule is the rule that the body breaks.
	Rule string
}

func (e *ParseError) Error() string {
	if e.Offset < 0 {
		return "interruption message: " + e.Rule
	}
	return fmt.Sprintf("interruption message, byte %d: %s", e.Offset, e.Rule)
}

// envelope contains the fields of an EventBridge event that are read.
type envelope struct {
	Version    string          `json:"version"`
	ID         string          `json:"id"`
	DetailType string          `json:"detail-type"`
	Source     string          `json:"source"`
	Time       time.Time       `json:"time"`
	Detail     json.RawMessage `json:"detail"`
}

// instanceDetail is the content of events about one instance. No other fields of the detail are read, so errors in other fields don't
// matter.
type instanceDetail struct {
	InstanceID string `json:"instance-id"`
	State      string `json:"state"`
}

// healthDetail is the content of an AWS Health event. Its explanation is parsed separately, so that the event can be used even if the
// explanation is unreadable.
type healthDetail struct {
	Service           string `json:"service"`
	EventTypeCategory string `json:"eventTypeCategory"`
	AffectedEntities  []struct {
		EntityValue string `json:"entityValue"`
	} `json:"affectedEntities"`
	StartTime        json.RawMessage `json:"startTime"`
	EventDescription json.RawMessage `json:"eventDescription"`
}

// deadline returns the start of the change, or zero if it can't be read.
func (d *healthDetail) deadline() time.Time {
	var text string
	if json.Unmarshal(d.StartTime, &text) != nil {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC1123, text)
	if err != nil {
		return time.Time{}
	}
	return at.UTC()
}

// message returns AWS's first explanation, or "" if it can't be read.
func (d *healthDetail) message() string {
	var descriptions []struct {
		LatestDescription string `json:"latestDescription"`
	}
	if json.Unmarshal(d.EventDescription, &descriptions) != nil || len(descriptions) == 0 {
		return ""
	}
	return descriptions[0].LatestDescription
}

// Parse reads the body of a message. Events of other sources, types and versions, events of irrelevant states, and an empty body are NoOp,
// not errors. If the body is not a JSON event, or is too large, the error is a *ParseError.
func Parse(body []byte) (Event, error) {
	if len(body) > maxBody {
		return Event{}, &ParseError{Offset: -1, Rule: fmt.Sprintf("has %d bytes, and at most %d are read", len(body), maxBody)}
	}
	if len(strings.TrimSpace(string(body))) == 0 {
		return Event{Kind: NoOp}, nil
	}
	var e envelope
	if err := json.Unmarshal(body, &e); err != nil {
		return Event{}, parseError(err)
	}
	event := Event{ID: e.ID, Kind: NoOp, Time: e.Time}
	if e.Version != "0" {
		return event, nil
	}
	var err error
	switch {
	case e.Source == "aws.health" && e.DetailType == "AWS Health Event":
		err = event.readHealth(e.Detail)
	case e.Source == "aws.ec2":
		err = event.readInstance(e.DetailType, e.Detail)
	}
	if err != nil {
		return Event{}, detailError(err, bytes.Index(body, e.Detail))
	}
	if event.Kind == NoOp {
		return event, nil
	}
	if (event.Kind == SpotInterrupted || event.Kind == CapacityReservationInterrupted) && !e.Time.IsZero() {
		event.Deadline = e.Time.Add(notice)
	}
	if len(event.Instances) == 0 {
		event.Kind = NoOp
	}
	return event, nil
}

// readHealth reads the detail of an AWS Health event.
func (e *Event) readHealth(detail json.RawMessage) error {
	var d healthDetail
	if err := unmarshalDetail(detail, &d); err != nil {
		return err
	}
	if d.Service != "EC2" || d.EventTypeCategory != "scheduledChange" {
		return nil
	}
	e.Kind, e.Deadline, e.Message = ScheduledChange, d.deadline(), d.message()
	known := make(map[string]bool, len(d.AffectedEntities))
	for _, entity := range d.AffectedEntities {
		if id := entity.EntityValue; id != "" && !known[id] {
			known[id] = true
			e.Instances = append(e.Instances, id)
		}
	}
	return nil
}

// readInstance reads the detail of an event about one instance. The detail type determines the kind, and for some types also the state.
func (e *Event) readInstance(detailType string, detail json.RawMessage) error {
	kind := NoOp
	switch detailType {
	case "EC2 Spot Instance Interruption Warning":
		kind = SpotInterrupted
	case "EC2 Instance Rebalance Recommendation":
		kind = RebalanceRecommendation
	case "EC2 Capacity Reservation Instance Interruption Warning":
		kind = CapacityReservationInterrupted
	case "EC2 Instance State-change Notification":
	default:
		return nil
	}
	var d instanceDetail
	if err := unmarshalDetail(detail, &d); err != nil {
		return err
	}
	if kind == NoOp {
		// Letter case does not matter.
		switch strings.ToLower(d.State) {
		case "stopping", "stopped":
			kind = InstanceStopped
		case "shutting-down", "terminated":
			kind = InstanceTerminated
		}
	}
	if kind == NoOp {
		return nil
	}
	e.Kind = kind
	if d.InstanceID != "" {
		e.Instances = []string{d.InstanceID}
	}
	return nil
}

// unmarshalDetail reads a detail; an event may have none.
func unmarshalDetail(detail json.RawMessage, into any) error {
	if len(detail) == 0 {
		return nil
	}
	return json.Unmarshal(detail, into)
}

// detailError is like parseError, for an error in a detail. The parameter begins is the offset of the detail in the body.
func detailError(err error, begins int) *ParseError {
	var wrongType *json.UnmarshalTypeError
	if errors.As(err, &wrongType) {
		wrongType.Offset += int64(begins)
		wrongType.Field = strings.TrimSuffix("detail."+wrongType.Field, ".")
	}
	return parseError(err)
}

func parseError(err error) *ParseError {
	switch err := err.(type) {
	case *json.SyntaxError:
		return &ParseError{Offset: err.Offset, Rule: "is no JSON: " + err.Error()}
	case *json.UnmarshalTypeError:
		return &ParseError{Offset: err.Offset, Rule: fmt.Sprintf("%s must not be of type %s in an event", cmp.Or(err.Field, "the body"), err.Value)}
	}
	return &ParseError{Offset: -1, Rule: "is no event: " + err.Error()}
}

// InterruptionKind returns the corresponding kind of package cloudprovider, or "" for NoOp.
func (k Kind) InterruptionKind() cloudprovider.InterruptionKind {
	switch k {
	case SpotInterrupted:
		return cloudprovider.InterruptionSpotReclaim
	case RebalanceRecommendation:
		return cloudprovider.InterruptionRebalance
	case InstanceStopped:
		return cloudprovider.InterruptionStopped
	case InstanceTerminated:
		return cloudprovider.InterruptionTerminated
	case ScheduledChange, EventStatus:
		return cloudprovider.InterruptionMaintenance
	case CapacityReservationInterrupted:
		return cloudprovider.InterruptionReservationReclaim
	case InstanceStatus, SystemStatus:
		return cloudprovider.InterruptionUnhealthy
	}
	return ""
}
