package refresh_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/drawknife/drawknife/aws/internal/refresh"
)

// An answer is used until it is due, and after that while AWS fails; failures are not repeated at once.
func TestAnswers(t *testing.T) {
	now := time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)
	start, down, asked := now, errors.New("down"), 0
	var fail error
	a := &refresh.Answers[int]{Every: time.Minute, Remember: time.Hour, Now: func() time.Time { return now }}
	ask := func(context.Context) (int, error) { asked++; return asked, fail }
	for _, step := range []struct {
		name  string
		at    time.Duration
		fail  error
		value int
		ok    bool
		err   error
		asked int
	}{
		{"no answer yet", 0, down, 0, false, down, 1},
		{"too soon after a failure", 999 * time.Millisecond, nil, 0, false, down, 1},
		{"asked again", time.Second, nil, 2, true, nil, 2},
		{"still current", time.Minute, down, 2, true, nil, 2},
		{"due, and AWS fails", 61 * time.Second, down, 2, true, down, 3},
		{"a second failure waits longer", 62 * time.Second, down, 2, true, down, 4},
		{"one second is not enough", 63 * time.Second, nil, 2, true, down, 4},
		{"too old", time.Hour + time.Second, down, 0, false, down, 5},
	} {
		now, fail = start.Add(step.at), step.fail
		value, ok, err := a.Get(t.Context(), "key", ask)
		if value != step.value || ok != step.ok || !errors.Is(err, step.err) || asked != step.asked {
			t.Fatalf("%s: %d, %t, %v after %d questions; want %d, %t, %v after %d", step.name, value, ok, err, asked, step.value, step.ok, step.err, step.asked)
		}
	}
}

// A change of a known answer lasts until the next one; questions differ by key.
func TestAnswersChange(t *testing.T) {
	now := time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)
	a := &refresh.Answers[int]{Every: time.Minute, Remember: time.Hour, Now: func() time.Time { return now }}
	get := func(key string, answer int) int {
		value, _, err := a.Get(t.Context(), key, func(context.Context) (int, error) { return answer, nil })
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	less := func(n int) int { return n - 1 }
	a.Change("a", less)
	if n := get("a", 3); n != 3 {
		t.Errorf("got %d before any change", n)
	}
	a.Change("a", less)
	if n, other := get("a", 9), get("b", 5); n != 2 || other != 5 {
		t.Errorf("got %d and %d", n, other)
	}
	now = now.Add(time.Minute)
	if n := get("a", 9); n != 9 {
		t.Errorf("got %d from a new answer", n)
	}
}

// A cancelled question says nothing about AWS.
func TestAnswersCancelled(t *testing.T) {
	a := &refresh.Answers[int]{Every: time.Minute, Remember: time.Hour, Now: time.Now}
	ctx, cancel := context.WithCancel(t.Context())
	if _, ok, err := a.Get(ctx, "key", func(context.Context) (int, error) { cancel(); return 0, ctx.Err() }); ok || !errors.Is(err, context.Canceled) {
		t.Fatalf("got %t, %v", ok, err)
	}
	if n, ok, err := a.Get(t.Context(), "key", func(context.Context) (int, error) { return 1, nil }); n != 1 || !ok || err != nil {
		t.Errorf("got %d, %t, %v", n, ok, err)
	}
}
