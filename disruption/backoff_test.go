package disruption_test

import (
	"testing"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption"
)

// DIS-231 to DIS-234: pools whose replacements fail are left alone, longer and longer.
func TestBackOff(t *testing.T) {
	b := disruption.NewBackOff(1)
	bad, good := v1.NewPoolKey("bad"), v1.NewPoolKey("good")
	at := now()
	for i, most := range []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 10 * time.Minute, 10 * time.Minute} {
		b.Failed(bad, at)
		why := b.Blocks(bad, at)
		if why == nil || why.Code != disruption.BlockBackOff || why.Count != i+1 {
			t.Fatalf("failure %d: %v", i+1, why)
		}
		if wait := why.Until.Sub(at); wait < most/2 || wait >= most {
			t.Errorf("failure %d: left alone for %s, want from %s to %s", i+1, wait, most/2, most)
		}
		b.Failed(bad, at)
		if again := b.Blocks(bad, at); again.Until != why.Until {
			t.Error("a failure while it is left alone changed something")
		}
		at = why.Until
		if b.Blocks(bad, at) != nil {
			t.Error("it is left alone after its time")
		}
	}
	if b.Blocks(good, now()) != nil {
		t.Error("another pool is left alone")
	}
	b.Failed(bad, at)
	b.Succeeded(bad)
	if b.Blocks(bad, at) != nil {
		t.Error("it is left alone after a success")
	}
	var none *disruption.BackOff
	if none.Blocks(bad, at) != nil {
		t.Error("nothing remembers a failure")
	}
}
