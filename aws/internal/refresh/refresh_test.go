package refresh_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/drawknife/drawknife/aws/internal/refresh"
)

func start() time.Time { return time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC) }

// AWI-014, AWI-106: at once, then every period; after errors sooner, with growing waits up to 1,000 seconds.
func TestSchedule(t *testing.T) {
	s := refresh.Schedule{Every: 12 * time.Hour, Jitter: -1}
	now := start()
	if !s.Due(now) {
		t.Fatal("the first read is not due at once")
	}
	wait := func(err error) time.Duration {
		s.Done(now, err)
		next, ok := s.Next()
		if !ok {
			t.Fatal("never again")
		}
		d := next.Sub(now)
		if s.Due(next.Add(-1)) || !s.Due(next) {
			t.Fatal("due at another time than Next says")
		}
		now = next
		return d
	}
	failed := errors.New("down")
	if d := wait(nil); d != 12*time.Hour {
		t.Errorf("waits %s after success", d)
	}
	for i, want := range []time.Duration{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000, 1000} {
		if d := wait(failed); d != want*time.Second {
			t.Errorf("waits %s after failure %d", d, i+1)
		}
	}
	if s.Failures() != 12 {
		t.Errorf("counts %d failures", s.Failures())
	}
	if d := wait(nil); d != 12*time.Hour || s.Failures() != 0 {
		t.Errorf("waits %s after recovery", d)
	}
	s.Soon(now.Add(-time.Hour))
	if !s.Due(now.Add(-time.Hour)) {
		t.Error("not due soon")
	}
}

// OPP-16: periods differ by the seed and the round, and are the same in each run.
func TestScheduleJitter(t *testing.T) {
	seen := map[time.Duration]bool{}
	for seed := range uint64(20) {
		s, again := refresh.Schedule{Every: time.Hour, Seed: seed}, refresh.Schedule{Every: time.Hour, Seed: seed}
		s.Done(start(), nil)
		again.Done(start(), nil)
		next, _ := s.Next()
		same, _ := again.Next()
		if !next.Equal(same) {
			t.Fatal("the same seed gives other times")
		}
		d := next.Sub(start())
		if d < 54*time.Minute || d > time.Hour {
			t.Errorf("a period of %s is out of bounds", d)
		}
		seen[d] = true
	}
	if len(seen) < 15 {
		t.Errorf("20 seeds give %d periods", len(seen))
	}
}

func TestScheduleOnce(t *testing.T) {
	var s refresh.Schedule
	s.Done(start(), errors.New("down"))
	if _, ok := s.Next(); !ok {
		t.Fatal("a read that failed is not tried again")
	}
	s.Done(start(), nil)
	if _, ok := s.Next(); ok || s.Due(start().Add(1000*time.Hour)) {
		t.Error("is read again")
	}
	if s.Soon(start()); !s.Due(start()) {
		t.Error("can't be asked for")
	}
}

func TestPages(t *testing.T) {
	text := func(s string) *string { return &s }
	var tokens []string
	read := func(pages int, next func(int) *string) func(*string) (*string, error) {
		tokens = nil
		return func(token *string) (*string, error) {
			if token == nil {
				token = text("-")
			}
			tokens = append(tokens, *token)
			if len(tokens) == pages {
				return nil, nil
			}
			return next(len(tokens)), nil
		}
	}
	counting := func(n int) *string { return text(fmt.Sprint(n)) }
	if err := refresh.Pages(context.Background(), read(3, counting)); err != nil || fmt.Sprint(tokens) != "[- 1 2]" {
		t.Errorf("read pages %v: %v", tokens, err)
	}
	var endless *refresh.PageError
	if err := refresh.Pages(context.Background(), read(0, func(int) *string { return text("a") })); !errors.As(err, &endless) || endless.Token != "a" {
		t.Errorf("the same page again: %v", err)
	}
	if err := refresh.Pages(context.Background(), read(0, counting)); !errors.As(err, &endless) || len(tokens) != refresh.MaxPages {
		t.Errorf("pages without end: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	err := refresh.Pages(ctx, read(0, func(n int) *string { cancel(); return counting(n) }))
	if !errors.Is(err, context.Canceled) || len(tokens) != 1 {
		t.Errorf("after %d pages of a cancelled read: %v", len(tokens), err)
	}
}

func Example() {
	now := time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)
	schedule := refresh.Schedule{Every: time.Hour, Jitter: -1}
	fmt.Println(schedule.Due(now))
	schedule.Done(now, nil)
	fmt.Println(schedule.Due(now), schedule.Due(now.Add(time.Hour)))
	// Output:
	// true
	// false true
}

// One at a time works on a key, keys don't wait for each other, and who gives up waiting leaves nothing behind.
func TestTurns(t *testing.T) {
	var turns refresh.Turns[string]
	end, err := turns.Begin(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	other, err := turns.Begin(t.Context(), "b")
	if err != nil {
		t.Fatal(err)
	}
	other()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := turns.Begin(ctx, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("a turn that is taken, for one that has given up: %v", err)
	}
	got := make(chan func())
	go func() {
		next, err := turns.Begin(t.Context(), "a")
		if err != nil {
			t.Error(err)
		}
		got <- next
	}()
	select {
	case <-got:
		t.Fatal("two have a turn")
	default:
	}
	end()
	(<-got)()
}
