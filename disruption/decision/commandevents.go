package decision

import (
	"errors"
	"fmt"
)

// RejectionEvents tell each member of a command of consolidation that it was void when it was to be started, and what kind
// of change made it so. err is what disruption.Planner.Validate or
// disruption.Step.Err said.
func (c *Command) RejectionEvents(err error) []Event {
	category := rejectionUnknown
	var rejected *RejectedError
	if errors.As(err, &rejected) {
		category = rejected.Category
	}
	if err == nil || c.Method.ConsolidationType() == "" {
		return nil
	}
	var out []Event
	for i := range c.Members {
		out = append(out, c.Members[i].Events(Event{
			Reason: EventConsolidationRejected, Identity: string(category), Message: fmt.Sprintf("%s: %v", category, err),
		})...)
	}
	return out
}

// rejectionUnknown is the category of what no RejectedError explains.
const rejectionUnknown RejectionCategory = "unknown"

// HeldBackEvents are events about the members: the command is not begun, or is taken back, because its launches are held back for the reason in err.
func (c *Command) HeldBackEvents(err error) []Event {
	if err == nil {
		return nil
	}
	var out []Event
	for i := range c.Members {
		out = append(out, c.Members[i].Events(Event{Reason: EventDisruptionHeldBack, Message: "its disruption waits: " + err.Error()})...)
	}
	return out
}
