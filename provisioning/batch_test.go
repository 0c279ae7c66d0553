package provisioning_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/provisioning"
)

var start = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

func at(seconds float64) time.Time {
	return start.Add(time.Duration(seconds * float64(time.Second)))
}

func newBatch(t *testing.T) *provisioning.Batch {
	t.Helper()
	b, err := provisioning.NewBatch(provisioning.DefaultBatchOptions())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// PRV-010, PRV-031, PRV-032: when a window closes.
func TestBatchWindow(t *testing.T) {
	type trigger struct {
		uid types.UID
		at  float64
	}
	often := []trigger{}
	for i := range 40 {
		often = append(often, trigger{types.UID(rune('A' + i)), float64(i) * 0.5})
	}
	for name, c := range map[string]struct {
		triggers []trigger
		closes   float64
	}{
		"PRV-032: idle for a second":             {[]trigger{{"a", 0}}, 1},
		"PRV-032: something new extends it":      {[]trigger{{"a", 0}, {"b", 0.9}}, 1.9},
		"PRV-032: what is known does not":        {[]trigger{{"a", 0}, {"a", 0.9}}, 1},
		"PRV-032: never longer than the longest": {often, 10},
	} {
		b := newBatch(t)
		for _, tr := range c.triggers {
			if tr.at < c.closes {
				b.Trigger(tr.uid, at(tr.at))
			}
		}
		if due, again := b.Next(at(c.closes - 0.1)); due || again.Round(time.Millisecond) != 100*time.Millisecond {
			t.Errorf("%s: 0.1 s before it closes: due %t, again in %s", name, due, again)
		}
		if due, _ := b.Next(at(c.closes)); !due {
			t.Errorf("%s: not due at %v s", name, c.closes)
		}
	}
	b := newBatch(t)
	if due, again := b.Next(start); due || again != 0 {
		t.Errorf("without a trigger: due %t, again in %s", due, again)
	}
	b.Trigger("a", start)
	b.Begin(at(1))
	b.Trigger("b", at(1))
	if due, again := b.Next(at(60)); due || again != 0 {
		t.Errorf("PRV-031: a second pass next to the first: due %t, again in %s", due, again)
	}
}

// PRV-033, OPP-31: a trigger is dealt with by a pass that began after it and succeeded, and by nothing else.
func TestBatchLosesNothing(t *testing.T) {
	b := newBatch(t)
	b.Trigger("a", start)
	b.Trigger("b", start)
	if diff := cmp.Diff([]types.UID{"a", "b"}, b.Begin(at(1))); diff != "" {
		t.Error(diff)
	}
	b.Trigger("b", at(1.5)) // fires again while the pass is running, which may have looked before
	b.Trigger("c", at(1.6))
	b.End(true, at(2))
	if b.Waiting() != 2 {
		t.Errorf("%d wait, want b and c", b.Waiting())
	}
	if due, again := b.Next(at(2)); due || again.Round(time.Millisecond) != 600*time.Millisecond {
		t.Errorf("the window that b opened: due %t, again in %s", due, again)
	}
	b.Begin(at(3))
	b.End(false, at(4))
	if due, again := b.Next(at(4)); due || again != time.Second || b.Waiting() != 2 {
		t.Errorf("after a pass that failed: due %t, again in %s, %d wait", due, again, b.Waiting())
	}
	b.Forget("b")
	b.Forget("c")
	if due, again := b.Next(at(60)); due || again != 0 {
		t.Errorf("nothing waits any more: due %t, again in %s", due, again)
	}
}

// OPP-31, over any sequence of events: what was triggered since the last pass that succeeded began, and not forgotten, is
// what waits; and whenever something waits and no pass runs, a pass becomes due within the longest window.
func TestBatchProperties(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		b, err := provisioning.NewBatch(provisioning.DefaultBatchOptions())
		if err != nil {
			t.Fatal(err)
		}
		now := start
		waiting, during := map[types.UID]bool{}, map[types.UID]bool{}
		running := false
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 3000).Draw(t, "ms")) * time.Millisecond)
			uid := types.UID(rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "uid"))
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0, 1:
				b.Trigger(uid, now)
				waiting[uid] = true
				if running {
					during[uid] = true
				}
			case 2:
				b.Forget(uid)
				delete(waiting, uid)
				delete(during, uid)
			case 3:
				if running {
					success := rapid.Bool().Draw(t, "success")
					b.End(success, now)
					if success {
						waiting = during
					}
					running, during = false, map[types.UID]bool{}
				} else if due, _ := b.Next(now); due {
					if got := len(b.Begin(now)); got != len(waiting) {
						t.Fatalf("a pass for %d, want %d", got, len(waiting))
					}
					running = true
				}
			}
			if b.Waiting() != len(waiting) {
				t.Fatalf("%d wait, want %d", b.Waiting(), len(waiting))
			}
			if due, again := b.Next(now); !running && len(waiting) > 0 && !due && (again <= 0 || again > provisioning.DefaultBatchMax) {
				t.Fatalf("%d wait and a pass is due in %s", len(waiting), again)
			}
		}
	})
}

// SET-106: an idle time longer than the window never ends it.
func TestBatchOptions(t *testing.T) {
	b, err := provisioning.NewBatch(provisioning.BatchOptions{Idle: 20 * time.Second, Max: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	b.Trigger("a", start)
	if _, again := b.Next(start); again != 10*time.Second {
		t.Errorf("closes after %s, want 10s", again)
	}
	if b, err = provisioning.NewBatch(provisioning.BatchOptions{}); err != nil {
		t.Fatal(err)
	}
	b.Trigger("a", start)
	if due, _ := b.Next(start); !due {
		t.Error("0 is not 0: the window is open for a while")
	}
	var wrong *option.Error
	if _, err := provisioning.NewBatch(provisioning.BatchOptions{Idle: -1}); !errors.As(err, &wrong) {
		t.Errorf("a negative time: %v", err)
	}
}
