package disruption_test

import (
	"testing"
	"time"

	"github.com/drawknife/drawknife/disruption"
)

// DIS-070, DIS-072, DIS-076, DIS-077: one pass after another, and when the next is due.
func TestPace(t *testing.T) {
	const second = time.Second
	for name, c := range map[string]struct {
		outcomes []disruption.PassOutcome
		want     []time.Duration
	}{
		"DIS-076 at once after a command, in ten seconds after none": {
			[]disruption.PassOutcome{disruption.PassStarted, disruption.PassStarted, disruption.PassFruitless, disruption.PassFruitless},
			[]time.Duration{0, 0, 10 * second, 10 * second}},
		"DIS-072 not synced":                  {[]disruption.PassOutcome{disruption.PassNotSynced, disruption.PassNotSynced}, []time.Duration{second, second}},
		"DIS-077 errors back off":             {[]disruption.PassOutcome{4, 4, 4, 4, 4, 4, 4, 4}, []time.Duration{second, 2 * second, 4 * second, 8 * second, 16 * second, 32 * second, 60 * second, 60 * second}},
		"DIS-077 until one is over":           {[]disruption.PassOutcome{disruption.PassFailed, disruption.PassFailed, disruption.PassFruitless, disruption.PassFailed}, []time.Duration{second, 2 * second, 10 * second, second}},
		"DIS-077 a conflict restarts at once": {[]disruption.PassOutcome{disruption.PassConflict, disruption.PassStarted, disruption.PassConflict}, []time.Duration{0, 0, 0}},
		"but not for ever":                    {[]disruption.PassOutcome{3, 3, 3, 3, 3, 3, 3, 0, 3}, []time.Duration{0, 0, 0, 0, 0, second, 2 * second, 10 * second, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			var p disruption.Pace
			for i, o := range c.outcomes {
				if got := p.After(o); got != c.want[i] {
					t.Errorf("after outcome %d: %s, want %s", i, got, c.want[i])
				}
			}
		})
	}
}
