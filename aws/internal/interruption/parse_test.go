package interruption_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/aws/internal/interruption"
	"github.com/drawknife/drawknife/cloudprovider"
)

const sentAt = "2026-05-04T12:00:00Z"

// event is a body as EventBridge sends it.
func event(source, detailType, detail string) string {
	return eventNamed("e-1", source, detailType, detail)
}

func eventNamed(id, source, detailType, detail string) string {
	return fmt.Sprintf(`{"version":"0","id":%q,"detail-type":%q,"source":%q,"account":"123456789012","time":%q,"region":"us-east-1","resources":["arn:aws:ec2:us-east-1:123456789012:instance/i-1"],"detail":%s}`,
		id, detailType, source, sentAt, detail)
}

const (
	spotWarning        = "EC2 Spot Instance Interruption Warning"
	rebalance          = "EC2 Instance Rebalance Recommendation"
	stateChange        = "EC2 Instance State-change Notification"
	reservationWarning = "EC2 Capacity Reservation Instance Interruption Warning"
	healthEvent        = "AWS Health Event"
)

func stateOf(state string) string { return `{"instance-id":"i-1","state":"` + state + `"}` }

// sent is sentAt.
var sent = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// AWN-285, AWN-293, AWN-297, AWN-367: what each event says.
func TestParse(t *testing.T) {
	one := []string{"i-1"}
	for name, c := range map[string]struct {
		body string
		want interruption.Event
	}{
		"AWN-285: spot":                     {event("aws.ec2", spotWarning, `{"instance-id":"i-1","instance-action":"terminate"}`), interruption.Event{ID: "e-1", Kind: interruption.SpotInterrupted, Time: sent, Instances: one, Deadline: sent.Add(2 * time.Minute)}},
		"AWN-285: rebalance":                {event("aws.ec2", rebalance, `{"instance-id":"i-1"}`), interruption.Event{ID: "e-1", Kind: interruption.RebalanceRecommendation, Time: sent, Instances: one}},
		"AWN-285: stopping":                 {event("aws.ec2", stateChange, stateOf("stopping")), interruption.Event{ID: "e-1", Kind: interruption.InstanceStopped, Time: sent, Instances: one}},
		"AWN-293: letter case":              {event("aws.ec2", stateChange, stateOf("Stopping")), interruption.Event{ID: "e-1", Kind: interruption.InstanceStopped, Time: sent, Instances: one}},
		"AWN-285: stopped":                  {event("aws.ec2", stateChange, stateOf("stopped")), interruption.Event{ID: "e-1", Kind: interruption.InstanceStopped, Time: sent, Instances: one}},
		"AWN-285: shutting down":            {event("aws.ec2", stateChange, stateOf("shutting-down")), interruption.Event{ID: "e-1", Kind: interruption.InstanceTerminated, Time: sent, Instances: one}},
		"AWN-285: terminated":               {event("aws.ec2", stateChange, stateOf("terminated")), interruption.Event{ID: "e-1", Kind: interruption.InstanceTerminated, Time: sent, Instances: one}},
		"AWN-285: running":                  {event("aws.ec2", stateChange, stateOf("running")), interruption.Event{ID: "e-1", Kind: interruption.NoOp, Time: sent}},
		"AWN-285: reservation":              {event("aws.ec2", reservationWarning, `{"instance-id":"i-1"}`), interruption.Event{ID: "e-1", Kind: interruption.CapacityReservationInterrupted, Time: sent, Instances: one, Deadline: sent.Add(2 * time.Minute)}},
		"AWN-285: scheduled change":         {event("aws.health", healthEvent, `{"service":"EC2","eventTypeCategory":"scheduledChange","startTime":"Sat, 09 May 2026 15:00:00 GMT","eventDescription":[{"language":"en_US","latestDescription":"retirement"}],"affectedEntities":[{"entityValue":"i-1"},{"entityValue":"i-2"},{"entityValue":"i-1"}]}`), interruption.Event{ID: "e-1", Kind: interruption.ScheduledChange, Time: sent, Instances: []string{"i-1", "i-2"}, Deadline: time.Date(2026, 5, 9, 15, 0, 0, 0, time.UTC), Message: "retirement"}},
		"AWN-285: health of another":        {event("aws.health", healthEvent, `{"service":"RDS","eventTypeCategory":"scheduledChange","affectedEntities":[{"entityValue":"i-1"}]}`), interruption.Event{ID: "e-1", Kind: interruption.NoOp, Time: sent}},
		"AWN-285: health, another category": {event("aws.health", healthEvent, `{"service":"EC2","eventTypeCategory":"issue","affectedEntities":[{"entityValue":"i-1"}]}`), interruption.Event{ID: "e-1", Kind: interruption.NoOp, Time: sent}},
		"AWN-285: nobody affected":          {event("aws.health", healthEvent, `{"service":"EC2","eventTypeCategory":"scheduledChange"}`), interruption.Event{ID: "e-1", Kind: interruption.NoOp, Time: sent}},
		"AWN-285: another source":           {event("aws.s3", spotWarning, `{"instance-id":"i-1"}`), interruption.Event{ID: "e-1", Kind: interruption.NoOp, Time: sent}},
		"AWN-285: another version":          {strings.Replace(event("aws.ec2", spotWarning, `{"instance-id":"i-1"}`), `"version":"0"`, `"version":"1"`, 1), interruption.Event{ID: "e-1", Kind: interruption.NoOp, Time: sent}},
		"AWN-285: empty":                    {" \n", interruption.Event{Kind: interruption.NoOp}},
		"AWN-285: empty object":             {"{}", interruption.Event{Kind: interruption.NoOp}},
	} {
		got, err := interruption.Parse([]byte(c.body))
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

// AWN-285: an event is about all instances that it names, however many: the rest would be lost with the message.
func TestParseManyInstances(t *testing.T) {
	const many = 2500
	var entities []string
	for i := range many {
		entities = append(entities, fmt.Sprintf(`{"entityValue":"i-%d"}`, i))
	}
	got, err := interruption.Parse([]byte(event("aws.health", healthEvent,
		`{"service":"EC2","eventTypeCategory":"scheduledChange","affectedEntities":[`+strings.Join(entities, ",")+`]}`)))
	if err != nil || len(got.Instances) != many || got.Instances[many-1] != fmt.Sprintf("i-%d", many-1) {
		t.Errorf("%d instances, %v", len(got.Instances), err)
	}
}

// Bodies that are no events are told apart from events that don't matter.
func TestParseErrors(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"no JSON":    {"hello", "interruption message, byte 1: is no JSON: invalid character 'h' looking for beginning of value"},
		"cut off":    {event("aws.ec2", spotWarning, `{"instance-id":"i-1"}`)[:60], "interruption message, byte 60: is no JSON: unexpected end of JSON input"},
		"wrong type": {`{"version":"0","source":"aws.ec2","detail-type":"EC2 Spot Instance Interruption Warning","detail":{"instance-id":7}}`, "interruption message, byte 114: detail.instance-id must not be of type number in an event"},
		"no object":  {`[1]`, "interruption message, byte 1: the body must not be of type array in an event"},
		"bad time":   {`{"time":"yesterday"}`, `interruption message: is no event: parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"`},
		"too large":  {strings.Repeat(" ", 1<<20+1), "interruption message: has 1048577 bytes, and at most 1048576 are read"},
	} {
		_, err := interruption.Parse([]byte(c.body))
		var parse *interruption.ParseError
		if !errors.As(err, &parse) || err.Error() != c.want {
			t.Errorf("%s: %v\nwant %s", name, err, c.want)
		}
	}
}

// AWN-286, AWN-300, AWN-339: what readers are told: what is to be drained, what is broken already, and what is advice only.
func TestKinds(t *testing.T) {
	for kind, want := range map[interruption.Kind]cloudprovider.InterruptionKind{
		interruption.SpotInterrupted: cloudprovider.InterruptionSpotReclaim, interruption.RebalanceRecommendation: cloudprovider.InterruptionRebalance,
		interruption.InstanceStopped: cloudprovider.InterruptionStopped, interruption.InstanceTerminated: cloudprovider.InterruptionTerminated,
		interruption.ScheduledChange: cloudprovider.InterruptionMaintenance, interruption.EventStatus: cloudprovider.InterruptionMaintenance,
		interruption.CapacityReservationInterrupted: cloudprovider.InterruptionReservationReclaim,
		interruption.InstanceStatus:                 cloudprovider.InterruptionUnhealthy, interruption.SystemStatus: cloudprovider.InterruptionUnhealthy,
		interruption.NoOp: "",
	} {
		if got := kind.InterruptionKind(); got != want {
			t.Errorf("%s is %q, want %q", kind, got, want)
		}
	}
}

// AWN-288, AWN-322: what people are told.
func TestKubernetesEvents(t *testing.T) {
	for kind, want := range map[interruption.Kind]string{
		interruption.SpotInterrupted: "Warning SpotInterrupted", interruption.RebalanceRecommendation: "Normal SpotRebalanceRecommendation",
		interruption.InstanceStopped: "Warning InstanceStopping", interruption.InstanceTerminated: "Warning InstanceTerminating",
		interruption.CapacityReservationInterrupted: "Warning CapacityReservationInstanceInterrupted",
		interruption.ScheduledChange:                "Warning InstanceUnhealthy", interruption.EventStatus: "Warning InstanceUnhealthy",
		interruption.InstanceStatus: "Warning InstanceUnhealthy", interruption.SystemStatus: "Warning InstanceUnhealthy",
		interruption.NoOp: " ",
	} {
		if eventType, reason := kind.KubernetesEvent(); eventType+" "+reason != want {
			t.Errorf("%s is %s %s, want %s", kind, eventType, reason, want)
		}
	}
}

// Whatever the bytes: no panic, and what is an event names instances, a bounded number of them, each once.
func FuzzParse(f *testing.F) {
	f.Add([]byte(event("aws.ec2", spotWarning, `{"instance-id":"i-1"}`)))
	f.Add([]byte(event("aws.ec2", stateChange, stateOf("stopped"))))
	f.Add([]byte(event("aws.health", healthEvent, `{"service":"EC2","eventTypeCategory":"scheduledChange","affectedEntities":[{"entityValue":"i-1"}]}`)))
	f.Add([]byte(`{"version":"0"`))
	f.Fuzz(func(t *testing.T, body []byte) {
		e, err := interruption.Parse(body)
		if err != nil {
			var parse *interruption.ParseError
			if !errors.As(err, &parse) {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		if (e.Kind == interruption.NoOp) != (len(e.Instances) == 0) || len(e.Instances) > 1000 {
			t.Fatalf("%+v", e)
		}
		seen := map[string]bool{}
		for _, id := range e.Instances {
			if id == "" || seen[id] {
				t.Fatalf("%+v", e)
			}
			seen[id] = true
		}
	})
}

// AWN-285: the detail is read by the kind of the event: what a kind does not need can't spoil it, and an explanation or a start that
// can't be read costs no more than itself.
func TestOddDetails(t *testing.T) {
	const head = `{"version":"0","id":"e","time":"2026-05-04T12:00:00Z",`
	for body, want := range map[string]interruption.Event{
		head + `"source":"aws.ec2","detail-type":"EC2 Spot Instance Interruption Warning","detail":{"instance-id":"i-1","eventDescription":"text","startTime":7,"service":{},"affectedEntities":"x"}}`: {
			Kind: interruption.SpotInterrupted, Instances: []string{"i-1"}},
		head + `"source":"aws.ec2","detail-type":"EC2 Instance Rebalance Recommendation","detail":{"instance-id":"i-1","state":null}}`: {
			Kind: interruption.RebalanceRecommendation, Instances: []string{"i-1"}},
		head + `"source":"aws.health","detail-type":"AWS Health Event","detail":{"service":"EC2","eventTypeCategory":"scheduledChange","eventDescription":"text","startTime":7,"instance-id":9,"affectedEntities":[{"entityValue":"i-2"}]}}`: {
			Kind: interruption.ScheduledChange, Instances: []string{"i-2"}},
		head + `"source":"aws.ec2","detail-type":"EC2 Instance State-change Notification","detail":{"instance-id":"i-1","state":"pending"}}`: {Kind: interruption.NoOp},
		head + `"source":"aws.tag","detail-type":"Tag Change on Resource","detail":"text"}`:                                                  {Kind: interruption.NoOp},
	} {
		got, err := interruption.Parse([]byte(body))
		if err != nil {
			t.Errorf("%s: %v", body, err)
			continue
		}
		if got.Kind != want.Kind || !slices.Equal(got.Instances, want.Instances) || got.Message != "" {
			t.Errorf("%s: %+v", body, got)
		}
	}
}
