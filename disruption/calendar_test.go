package disruption_test

import (
	"errors"
	"testing"
	"time"

	"github.com/drawknife/drawknife/disruption"
)

func calendar(t testing.TB, schedule string, d time.Duration, zone string) *disruption.Calendar {
	t.Helper()
	c, err := disruption.ParseCalendar(schedule, d, zone)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Calendars go by the clocks of their zone, also when those are set back or forward.
func TestCalendar(t *testing.T) {
	night := calendar(t, "0 22 * * *", 8*time.Hour, "Europe/Berlin")
	at := func(s string) time.Time {
		u, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	for s, want := range map[string]bool{
		"2026-05-04T19:59:59Z": false, "2026-05-04T20:00:00Z": true, "2026-05-05T03:59:59Z": true, "2026-05-05T04:00:00Z": false,
		"2026-01-04T20:30:00Z": false, "2026-01-04T21:00:00Z": true,
	} {
		if got := night.Counts(at(s)); got != want {
			t.Errorf("%s: counts %v", s, got)
		}
	}
	if got := night.Closes(at("2026-05-04T23:00:00Z")); !got.Equal(at("2026-05-05T04:00:00Z")) {
		t.Error("closes", got)
	}
	if got := night.Opens(at("2026-05-04T10:00:00Z")); !got.Equal(at("2026-05-04T20:00:00Z")) {
		t.Error("opens", got)
	}
	if got := night.Opens(at("2026-05-04T21:00:00Z")); !got.Equal(at("2026-05-05T20:00:00Z")) {
		t.Error("opens again", got)
	}
	touching := calendar(t, "0 0,1,2 * * *", time.Hour, "")
	if got := touching.Closes(at("2026-05-04T00:30:00Z")); !got.Equal(at("2026-05-04T03:00:00Z")) {
		t.Error("windows that touch close", got)
	}
	always := calendar(t, "@hourly", 2*time.Hour, "")
	if got := always.Closes(now()); !got.IsZero() {
		t.Error("what never closes does at", got)
	}
	var none *disruption.Calendar
	if !none.Counts(now()) || !none.Closes(now()).IsZero() || !none.Opens(now()).IsZero() || none.String() != "always" {
		t.Error("no calendar is not always")
	}
}

func TestParseCalendarRefuses(t *testing.T) {
	for field, parse := range map[string]func() (*disruption.Calendar, error){
		"schedule": func() (*disruption.Calendar, error) { return disruption.ParseCalendar("7 days", time.Hour, "") },
		"duration": func() (*disruption.Calendar, error) { return disruption.ParseCalendar("@daily", 0, "") },
		"timeZone": func() (*disruption.Calendar, error) {
			return disruption.ParseCalendar("@daily", time.Hour, "Mars/Olympus")
		},
	} {
		var fault *disruption.CalendarError
		if _, err := parse(); !errors.As(err, &fault) || fault.Field != field {
			t.Errorf("%s: error %v", field, err)
		}
	}
	if _, err := disruption.ParseCalendar("@daily", time.Hour, "Local"); err == nil {
		t.Error("a zone that differs between computers is taken")
	}
}

func FuzzParseCalendar(f *testing.F) {
	f.Add("0 22 * * *", int64(8*time.Hour), "Europe/Berlin")
	f.Add("@daily", int64(time.Minute), "")
	f.Fuzz(func(t *testing.T, schedule string, d int64, zone string) {
		c, err := disruption.ParseCalendar(schedule, time.Duration(d), zone)
		if err != nil {
			return
		}
		if end := c.Closes(now()); !end.IsZero() && (c.Counts(end) || !end.After(now())) {
			t.Errorf("%s closes at %s and counts then", c, end)
		}
	})
}
