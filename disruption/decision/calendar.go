package decision

import (
	"fmt"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// Calendar says when a budget is in force: each time of a schedule opens a window of a fixed duration. It is immutable. A nil *Calendar is
// always open.
type Calendar struct {
	schedule v1.Schedule
	duration time.Duration
	location *time.Location
	text     string
}

// CalendarError means that a calendar is invalid.
type CalendarError struct {
	// Field is the name of the field: schedule, duration or timeZone.
	Field string
	Err   error
}

func (e *CalendarError) Error() string {
	return fmt.Sprintf("disruption budget: %s: %v", e.Field, e.Err)
}

// Unwrap returns what is wrong with the field.
func (e *CalendarError) Unwrap() error { return e.Err }

// ParseCalendar reads a schedule as v1.ParseSchedule does, in an IANA time zone ("Europe/Berlin"); an empty zone is UTC. Each time h of the
// schedule opens the window [h, h+duration), in which the budget is in force; duration must be positive. Zones are looked up in the
// program's time zone database: import time/tzdata if the system may have no database. The error is a *CalendarError.
func ParseCalendar(schedule string, duration time.Duration, timeZone string) (*Calendar, error) {
	parsed, err := v1.ParseSchedule(schedule)
	if err != nil {
		return nil, &CalendarError{"schedule", err}
	}
	if duration <= 0 {
		return nil, &CalendarError{"duration", fmt.Errorf("%s is not positive: write how long the budget applies, such as 8h", duration)}
	}
	if timeZone == "Local" {
		return nil, &CalendarError{"timeZone", fmt.Errorf("%q means another time zone on each computer: write an IANA name like Europe/Berlin", timeZone)}
	}
	location, err := time.LoadLocation(timeZone)
	if err != nil {
		return nil, &CalendarError{"timeZone", fmt.Errorf("%q is not a known time zone: write an IANA name like Europe/Berlin: %w", timeZone, err)}
	}
	return &Calendar{parsed, duration, location, fmt.Sprintf("%q for %s in %s", schedule, duration, location)}, nil
}

// String returns the string that the calendar was parsed from.
func (c *Calendar) String() string {
	if c == nil {
		return "always"
	}
	return c.text
}

// Counts reports whether t is in an open window. A schedule that never occurs opens no window. (In Karpenter, a budget with such a schedule
// is always in force.)
func (c *Calendar) Counts(t time.Time) bool {
	if c == nil {
		return true
	}
	hit := c.next(t.Add(-c.duration))
	return !hit.IsZero() && !hit.After(t)
}

// next returns the first time of the schedule strictly after t, or zero if there is none. The result is in the time zone of t, so that all
// times of a plan are printed in one zone.
func (c *Calendar) next(t time.Time) time.Time {
	return c.schedule.Next(t.In(c.location)).In(t.Location())
}

// maxWindows limits how many consecutive windows Closes follows.
const maxWindows = 10_000

// Closes returns when the window around t closes. Windows that overlap or touch count as one. It returns zero if t is in no window, or if
// maxWindows windows follow without a gap.
func (c *Calendar) Closes(t time.Time) time.Time {
	if c == nil || !c.Counts(t) {
		return time.Time{}
	}
	hit := c.next(t.Add(-c.duration))
	for range maxWindows {
		end := hit.Add(c.duration)
		// If the schedule's next time is not after the end of this window, the windows overlap or touch, so the calendar stays open.
		following := c.next(hit)
		if following.IsZero() || following.After(end) {
			return end
		}
		hit = following
	}
	return time.Time{}
}

// Opens returns when the next window opens, after the one around t. It returns zero if no window will open.
func (c *Calendar) Opens(t time.Time) time.Time {
	if c == nil {
		return time.Time{}
	}
	if end := c.Closes(t); !end.IsZero() {
		t = end
	} else if c.Counts(t) {
		return time.Time{}
	}
	return c.next(t)
}
