//go:build linux || darwin

package hostile

import (
	"testing"
	"time"
)

func TestAllowedFor(t *testing.T) {
	for took, want := range map[time.Duration]time.Duration{
		0: maxProcessor, usualPace / 2: maxProcessor, usualPace: maxProcessor, 3 * usualPace: 3 * maxProcessor, time.Hour: slowest * maxProcessor,
	} {
		if got := allowedFor(took); got.Round(time.Millisecond) != want {
			t.Errorf("where the reference work takes %s a command may take %s, want %s", took, got, want)
		}
	}
}
