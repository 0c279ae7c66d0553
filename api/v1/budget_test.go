package v1

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// PRV-002, DIS-013, DIS-014, API-142 to API-144, API-186.
func TestBudgetValidation(t *testing.T) {
	at := func(schedule, duration string) Budget {
		return Budget{Nodes: "0", Schedule: &schedule, Duration: mustDuration(t, duration)}
	}
	for _, tc := range []struct {
		name       string
		budget     Budget
		path, text string
	}{
		{"nothing given", Budget{}, "", ""},
		{"count", Budget{Nodes: "3"}, "", ""},
		{"all", Budget{Nodes: "100%"}, "", ""},
		{"more than all", Budget{Nodes: "101%"}, "b.nodes", "up to 100%"},
		{"negative", Budget{Nodes: "-1"}, "b.nodes", "write it like"},
		{"signed", Budget{Nodes: "+1"}, "b.nodes", "write it like"},
		{"fraction", Budget{Nodes: "1.5%"}, "b.nodes", "whole percentage"},
		{"beyond counting", Budget{Nodes: "99999999999"}, "b.nodes", "write it like"},
		{"reasons", Budget{Reasons: []DisruptionReason{"Underutilized", "Empty", "Drifted"}}, "", ""},
		{"no reason at all", Budget{Reasons: []DisruptionReason{}}, "", ""},
		{"unknown reason", Budget{Reasons: []DisruptionReason{"Empty", "Expired"}}, "b.reasons[1]", "Underutilized"},

		{"five fields", at("0 9 * * mon-fri", "8h"), "", ""},
		{"macro", at("@daily", "30m"), "", ""},
		{"other white space", at("0\t9 *  * 1-5", "8h"), "", ""},
		{"Sunday as 7", at("0 9 * * 7", "8h"), "b.schedule", "not a cron schedule"},
		{"six fields", at("0 0 9 * * 1", "8h"), "b.schedule", "has 6 fields, not 5"},
		{"interval", at("@every 1h", "8h"), "b.schedule", "use one of @annually"},
		{"time zone", at("TZ=Europe/Zagreb 9 * * 1", "8h"), "b.schedule", "UTC"},
		{"time zone without a space after it", at("CRON_TZ=UTC\t0\t9\t*\t*", "8h"), "b.schedule", "UTC"},
		{"minute 60", at("60 9 * * *", "8h"), "b.schedule", "not a cron schedule"},
		{"empty", at("", "8h"), "b.schedule", "has 0 fields"},

		{"hours and minutes", at("@daily", "8h30m"), "", ""},
		{"as Go writes it", at("@daily", "8h0m0s"), "", ""},
		{"seconds", at("@daily", "90s"), "b.duration", "whole hours and minutes"},
		{"minutes before hours", at("@daily", "30m8h"), "b.duration", "whole hours and minutes"},
		{"schedule alone", Budget{Schedule: ptr("@daily")}, "b.duration", "give both or neither"},
		{"duration alone", Budget{Duration: mustDuration(t, "8h")}, "b.schedule", "give both or neither"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			checkErrors(t, validateBudget(&tc.budget, field.NewPath("b")), tc.path, tc.text)
		})
	}
}

// API-187, DIS-201, DIS-209: percentages are rounded up.
func TestBudgetNodes(t *testing.T) {
	for _, tc := range []struct {
		text        string
		total, want int
	}{
		{"", 10, 1},
		{"10%", 11, 2},
		{"5%", 10, 1},
		{"0%", 10, 0},
		{"25%", 10, 3},
		{"100%", 7, 7},
		{"10%", 0, 0},
		{"3", 1, 3},
		{"0", 9, 0},
	} {
		nodes, err := ParseBudgetNodes(tc.text)
		if err != nil {
			t.Fatal(err)
		}
		if got := nodes.Of(tc.total); got != tc.want {
			t.Errorf("%q of %d nodes is %d, want %d", tc.text, tc.total, got, tc.want)
		}
	}
}

func TestScheduleNext(t *testing.T) {
	schedule, err := ParseSchedule("30 9 * * mon-fri")
	if err != nil {
		t.Fatal(err)
	}
	friday := time.Date(2026, 1, 2, 9, 30, 0, 0, time.UTC)
	monday := time.Date(2026, 1, 5, 9, 30, 0, 0, time.UTC)
	if got := schedule.Next(friday.Add(-time.Second)); !got.Equal(friday) {
		t.Errorf("next before the hit is %v, want %v", got, friday)
	}
	if got := schedule.Next(friday); !got.Equal(monday) {
		t.Errorf("next is strictly after: got %v, want %v", got, monday)
	}
}

func FuzzParseSchedule(f *testing.F) {
	for _, seed := range []string{"0 9 * * mon-fri", "@daily", "@every 1h", "TZ=UTC * * * *", "*/5 1,2 3-4 ? *", "* * * * 7", "CRON_TZ=\t\t\t\t"} {
		f.Add(seed)
	}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		schedule, err := ParseSchedule(text)
		if err != nil {
			return
		}
		if next := schedule.Next(now); !next.IsZero() && !next.After(now) {
			t.Fatalf("%q: next after %v is %v", text, now, next)
		}
	})
}
