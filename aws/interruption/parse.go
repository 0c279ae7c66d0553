package interruption

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/drawknife/drawknife/cloudprovider"
)

// Kind is what an event says, in the words of metrics (AWN-285).
type Kind string

// The kinds.
const (
	SpotInterrupted                Kind = "spot_interrupted"
	RebalanceRecommendation        Kind = "rebalance_recommendation"
	InstanceStopped                Kind = "instance_stopped"
	InstanceTerminated             Kind = "instance_terminated"
	ScheduledChange                Kind = "scheduled_change"
	CapacityReservationInterrupted Kind = "capacity_reservation_interrupted"
	// InstanceStatus, SystemStatus and EventStatus are not events of the queue but findings of a poll (AWN-300).
	InstanceStatus Kind = "instance_status"
	SystemStatus   Kind = "system_status"
	EventStatus    Kind = "event_status"
	// NoOp is an event that concerns no instance, or says nothing that matters.
	NoOp Kind = "no_op"
)

// Event is what a message says.
type Event struct {
	// ID of the event; the same for each delivery. Empty for NoOp of a body that is no event.
	ID string
	// Kind of the event.
	Kind Kind
	// Time is when AWS sent it; zero if it does not say.
	Time time.Time
	// Instances are the IDs of those it is about, in their order, without repetitions; none for NoOp.
	Instances []string
	// Deadline is when the instances stop working; zero if that is not known.
	Deadline time.Time
	// Message is AWS's own explanation, for people; may be empty.
	Message string
}

// Bounds of what is read.
const (
	// maxBody is more than a queue lets through. It bounds how many instances an event may be about, too.
	maxBody = 1 << 20
	// notice is how long before the end of a machine EC2 says so (AWN-297).
	notice = 2 * time.Minute
)

// ParseError is a body that is no event.
type ParseError struct {
	// Offset is where reading ended, in bytes; -1 if the body as a whole is at fault.
	Offset int64
	// Rule that is broken.
	Rule string
}

func (e *ParseError) Error() string {
	if e.Offset < 0 {
		return "interruption message: " + e.Rule
	}
	return fmt.Sprintf("interruption message, byte %d: %s", e.Offset, e.Rule)
}

// envelope is an EventBridge event as far as it is read.
type envelope struct {
	Version    string    `json:"version"`
	ID         string    `json:"id"`
	DetailType string    `json:"detail-type"`
	Source     string    `json:"source"`
	Time       time.Time `json:"time"`
	Detail     struct {
		InstanceID        string `json:"instance-id"`
		State             string `json:"state"`
		Service           string `json:"service"`
		EventTypeCategory string `json:"eventTypeCategory"`
		StartTime         string `json:"startTime"`
		EventDescription  []struct {
			LatestDescription string `json:"latestDescription"`
		} `json:"eventDescription"`
		AffectedEntities []struct {
			EntityValue string `json:"entityValue"`
		} `json:"affectedEntities"`
	} `json:"detail"`
}

// Parse reads the body of a message (AWN-285). Events of other sources, types and versions, of states that don't
// matter, and an empty body are NoOp, not errors; a body that is no JSON object of an event's shape, or too large, is a
// *ParseError.
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
	event := Event{ID: e.ID, Kind: e.kind(), Time: e.Time}
	if event.Kind == NoOp {
		return event, nil
	}
	if event.Kind == ScheduledChange {
		known := make(map[string]bool, len(e.Detail.AffectedEntities))
		for _, entity := range e.Detail.AffectedEntities {
			if id := entity.EntityValue; id != "" && !known[id] {
				known[id] = true
				event.Instances = append(event.Instances, id)
			}
		}
		if at, err := time.Parse(time.RFC1123, e.Detail.StartTime); err == nil {
			event.Deadline = at.UTC()
		}
		if len(e.Detail.EventDescription) > 0 {
			event.Message = e.Detail.EventDescription[0].LatestDescription
		}
	} else if id := e.Detail.InstanceID; id != "" {
		event.Instances = []string{id}
	}
	if (event.Kind == SpotInterrupted || event.Kind == CapacityReservationInterrupted) && !e.Time.IsZero() {
		event.Deadline = e.Time.Add(notice)
	}
	if len(event.Instances) == 0 {
		event.Kind = NoOp
	}
	return event, nil
}

// kind is by version, source and detail type, all exact, and for some by what the detail says.
func (e *envelope) kind() Kind {
	if e.Version != "0" {
		return NoOp
	}
	switch {
	case e.Source == "aws.health" && e.DetailType == "AWS Health Event":
		if e.Detail.Service == "EC2" && e.Detail.EventTypeCategory == "scheduledChange" {
			return ScheduledChange
		}
	case e.Source != "aws.ec2":
	case e.DetailType == "EC2 Spot Instance Interruption Warning":
		return SpotInterrupted
	case e.DetailType == "EC2 Instance Rebalance Recommendation":
		return RebalanceRecommendation
	case e.DetailType == "EC2 Capacity Reservation Instance Interruption Warning":
		return CapacityReservationInterrupted
	case e.DetailType == "EC2 Instance State-change Notification":
		// Letter case does not matter (AWN-293).
		switch strings.ToLower(e.Detail.State) {
		case "stopping", "stopped":
			return InstanceStopped
		case "shutting-down", "terminated":
			return InstanceTerminated
		}
	}
	return NoOp
}

func parseError(err error) *ParseError {
	switch err := err.(type) {
	case *json.SyntaxError:
		return &ParseError{Offset: err.Offset, Rule: "is no JSON: " + err.Error()}
	case *json.UnmarshalTypeError:
		return &ParseError{Offset: err.Offset, Rule: fmt.Sprintf("%s is of type %s, which it never is in an event", cmp.Or(err.Field, "the body"), err.Value)}
	}
	return &ParseError{Offset: -1, Rule: "is no event: " + err.Error()}
}

// InterruptionKind is the kind that readers of interruptions know; empty for NoOp.
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
