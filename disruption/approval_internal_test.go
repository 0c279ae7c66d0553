package disruption

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// What was refused is forgotten when its time is over, so that memory is bounded by what is refused now: nodes come and go for
// years, and each refusal is of a claim that is soon no more.
func TestRefusalsAreForgotten(t *testing.T) {
	var r Refusals
	at := time.Date(2026, time.May, 4, 10, 0, 0, 0, time.UTC)
	note := func(claim string, reason Reason, span time.Duration) {
		r.Note(fmt.Errorf("command c: %w", &RefusedError{Reason: reason, Why: "not today", For: span, uids: []types.UID{types.UID(claim), types.UID(claim + "-peer")}}), at)
	}
	note("long", ReasonDrifted, 24*time.Hour)
	for i := range 1000 {
		at = at.Add(time.Minute)
		note(fmt.Sprint("claim-", i), ReasonEmpty, 10*time.Minute)
		r.Note(errors.New("something else"), at)
		// Ten commands of two nodes each are refused now, and the one for a day.
		if n := len(r.inner().Remembered()); n > 22 {
			t.Fatalf("after %d refusals %d are remembered", i+1, n)
		}
	}
	if b := r.Blocks("long-peer", ReasonDrifted, at); b == nil || b.Detail != "not today" {
		t.Errorf("the long refusal: %v", b)
	}
	if b := r.Blocks("claim-990", ReasonEmpty, at); b == nil {
		t.Error("one that is not over is forgotten")
	}
	if b := r.Blocks("claim-989", ReasonEmpty, at); b != nil {
		t.Errorf("one that is over: %v", b)
	}
}
