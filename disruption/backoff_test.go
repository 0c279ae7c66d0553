package disruption_test

import (
	"testing"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption"
)

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
		t.Error("a pool made again is left alone for what its namesake did")
	}
	b.ForgetGone(w.fleet(t))
	if b.Failed(kept, until); b.Blocks(kept, until).Count != 2 {
		t.Error("the pool's failures are not counted on")
	}
	var none *disruption.BackOff
	none.ForgetGone(w.fleet(t))
}
