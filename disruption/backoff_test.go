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

// Of pools that were deleted nothing is remembered, nor of what was learnt of one before it was made again; those that are there
// are left alone as before, and longer the next time (DIS-233).
func TestBackOffForgetsDeletedPools(t *testing.T) {
	b := disruption.NewBackOff(1)
	kept, gone, alpha := v1.NewPoolKey("default"), v1.NewPoolKey("gone"), v1.PoolKey{Generation: v1.GenerationV1Alpha5, Name: "default"}
	at := now()
	for _, pool := range []v1.PoolKey{kept, gone, alpha} {
		b.Failed(pool, at)
	}
	until := b.Blocks(kept, at).Until
	w := newWorld()
	b.ForgetGone(w.fleet(t))
	if why := b.Blocks(kept, at); why == nil || why.Until != until {
		t.Errorf("a pool that is there is left alone until %v, want %s", why, until)
	}
	if b.Blocks(gone, at) != nil || b.Blocks(alpha, at) != nil {
		t.Error("pools that are gone are left alone")
	}
	if samples := b.Samples(at); len(samples) != 1 || samples[0].Labels["nodepool"] != "default" {
		t.Errorf("%v, want the one that is there", samples)
	}
	w.pool("gone")
	if b.ForgetGone(w.fleet(t)); b.Blocks(gone, at) != nil {
		t.Error("a pool made anew is left alone for what its namesake did")
	}
	b.ForgetGone(w.fleet(t))
	if b.Failed(kept, until); b.Blocks(kept, until).Count != 2 {
		t.Error("the pool's failures are not counted on")
	}
	var none *disruption.BackOff
	none.ForgetGone(w.fleet(t))
}
