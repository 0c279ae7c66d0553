package decision

import (
	"errors"
	"fmt"
)

// RejectionEvents returns events for each member of a consolidation command that was no longer valid when it was about to start. They say
// which kind of change is the cause. err is the error of disruption.Planner.Validate or disruption.Step.Err.
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

// rejectionUnknown is the category of an error without a RejectedError.
const rejectionUnknown RejectionCategory = "unknown"

// HeldBackEvents returns events for the members of a command that is not started, or is undone, because its launches are held back. err
// says why.
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
