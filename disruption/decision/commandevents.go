package decision

import (
	"errors"
	"fmt"
)

// RejectionEvents returns events on each member of a consolidation command: the command was no longer valid when it was about to
// start, and which kind of change is the cause. err is the error of disruption.Planner.Validate or disruption.Step.Err.
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

// rejectionUnknown is the category if there is no RejectedError.
const rejectionUnknown RejectionCategory = "unknown"

// HeldBackEvents returns events about the members: the command is not started, or undone, because its launches are held back for the reason
// in err.
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
