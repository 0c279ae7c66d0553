package iam_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/drawknife/drawknife/aws/iam"
	"github.com/drawknife/drawknife/aws/internal/interruption"
)

// event is a body as EventBridge sends it to a queue.
func event(source, detailType, detail string) string {
	return fmt.Sprintf(`{"version":"0","id":"1","detail-type":%q,"source":%q,"account":"111122223333","time":"2026-08-01T12:00:00Z","region":"eu-central-1","resources":[],"detail":%s}`,
		detailType, source, detail)
}

// matches is EventBridge's logic as far as the patterns use it.
func matches(t *testing.T, p iam.Pattern, body string) bool {
	t.Helper()
	var e struct {
		Source     string         `json:"source"`
		DetailType string         `json:"detail-type"`
		Detail     map[string]any `json:"detail"`
	}
	if err := json.Unmarshal([]byte(body), &e); err != nil {
		t.Fatal(err)
	}
	for key, values := range p.Detail {
		if text, ok := e.Detail[key].(string); !ok || !slices.Contains(values, text) {
			return false
		}
	}
	return slices.Contains(p.Source, e.Source) && slices.Contains(p.DetailType, e.DetailType)
}

// events are one of each kind that the queue's reader knows, and some that mean nothing to it.
func events() map[string]string {
	health := func(service, category string) string {
		return event("aws.health", "AWS Health Event", fmt.Sprintf(`{"service":%q,"eventTypeCategory":%q,"affectedEntities":[{"entityValue":"i-1"}]}`, service, category))
	}
	state := func(name string) string {
		return event("aws.ec2", "EC2 Instance State-change Notification", fmt.Sprintf(`{"instance-id":"i-1","state":%q}`, name))
	}
	const instance = `{"instance-id":"i-1"}`
	return map[string]string{
		"spot":                event("aws.ec2", "EC2 Spot Instance Interruption Warning", instance),
		"rebalance":           event("aws.ec2", "EC2 Instance Rebalance Recommendation", instance),
		"reservation":         event("aws.ec2", "EC2 Capacity Reservation Instance Interruption Warning", instance),
		"stopping":            state("stopping"),
		"stopped":             state("stopped"),
		"shutting down":       state("shutting-down"),
		"terminated":          state("terminated"),
		"pending":             state("pending"),
		"running":             state("running"),
		"maintenance":         health("EC2", "scheduledChange"),
		"an issue":            health("EC2", "issue"),
		"another service":     health("RDS", "scheduledChange"),
		"another type":        event("aws.ec2", "EBS Volume Notification", instance),
		"another's same type": event("aws.batch", "EC2 Spot Instance Interruption Warning", instance),
	}
}

// TestRulesTakeWhatIsRead: AWN-285, AWN-292, AWN-295. An event goes to the queue by one rule if it means something to
// the queue's reader, and by none if it doesn't.
func TestRulesTakeWhatIsRead(t *testing.T) {
	rules := generate(t, settings()).Rules
	for name, body := range events() {
		t.Run(name, func(t *testing.T) {
			parsed, err := interruption.Parse([]byte(body))
			if err != nil {
				t.Fatal(err)
			}
			var taken []string
			for _, r := range rules {
				if matches(t, r.Pattern, body) {
					taken = append(taken, r.Name)
				}
			}
			want := 1
			if parsed.Kind == interruption.NoOp {
				want = 0
			}
			if len(taken) != want {
				t.Errorf("an event of kind %s is taken by rules %v", parsed.Kind, strings.Join(taken, ", "))
			}
		})
	}
}
