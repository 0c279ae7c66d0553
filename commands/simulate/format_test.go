package simulate

import (
	"testing"

	"github.com/drawknife/drawknife/scheduling"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestDollars(t *testing.T) {
	tests := []struct {
		usd  float64
		want string
	}{
		{0, "$0.0000"}, {0.00416, "$0.0042"}, {9.99994, "$9.9999"}, {10, "$10.00"}, {1186.114, "$1,186.11"},
		{1234567.891, "$1,234,567.89"},
	}
	for _, test := range tests {
		if got := dollars(test.usd); got != test.want {
			t.Errorf("dollars(%v) = %q, want %q", test.usd, got, test.want)
		}
	}
	if got, want := monthly(1.5), "$1,095.00"; got != want {
		t.Errorf("monthly(1.5) = %q, want %q", got, want)
	}
}

func TestCounts(t *testing.T) {
	tests := map[string]string{
		counted(0, "pod"): "0 pods", counted(1, "pod"): "1 pod", counted(8152, "pod"): "8,152 pods",
		groupDigits("-1234"): "-1,234", groupDigits("123456"): "123,456", groupDigits("999"): "999",
		interval(3, 3): "3", interval(3, 7): "3-7",
		millis(420 * time.Microsecond): "0.42 ms", millis(317 * time.Millisecond): "317 ms",
	}
	for got, want := range tests {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestBar(t *testing.T) {
	plain, rich := canvas{}, canvas{rich: true}
	tests := []struct {
		name  string
		c     canvas
		share float64
		want  string
	}{
		{"empty", plain, 0, "[----------]"},
		{"part", plain, 0.83, "[########--]"},
		{"full", plain, 1, "[##########]"},
		{"more than full is full", plain, 1.7, "[##########]"},
		{"less than nothing is nothing", plain, -1, "[----------]"},
		{"rich draws eighths", rich, 0.83, "████████▎·"},
		{"rich full", rich, 1, "██████████"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := unpainted(test.c.bar(test.share, 10)); got != test.want {
				t.Errorf("bar is %q, want %q", got, test.want)
			}
			if got := width(unpainted(test.c.bar(test.share, 10))); got != test.c.barWidth(10) {
				t.Errorf("bar takes %d columns, barWidth says %d", got, test.c.barWidth(10))
			}
		})
	}
}

func TestFit(t *testing.T) {
	c := canvas{}
	items := []string{"web x12", "api x3", "db x1"}
	tests := []struct {
		columns int
		want    string
	}{
		{80, "web x12, api x3, db x1"},
		{22, "web x12, api x3, db x1"},
		{21, "web x12, ... 2 more"},
		{4, "web x12, ... 2 more"}, // something is always shown
	}
	for _, test := range tests {
		if got := c.fit(items, ", ", test.columns); got != test.want {
			t.Errorf("fit into %d columns = %q, want %q", test.columns, got, test.want)
		}
	}
}

func TestWrap(t *testing.T) {
	got := wrap("incompatible with nodepool a-very-long-word-indeed, x", 12)
	want := []string{"incompatible", "with", "nodepool", "a-very-long-word-indeed,", "x"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

func TestCanvasOfAFile(t *testing.T) {
	utf8 := func(name string) string { return map[string]string{"LANG": "C.UTF-8"}[name] }
	tests := []struct {
		mode colorMode
		rich bool
	}{{colorAuto, false}, {colorAlways, true}, {colorNever, false}}
	for _, test := range tests {
		got := newCanvas(&testWriter{}, test.mode, utf8)
		if got.rich != test.rich || got.width != plainWidth {
			t.Errorf("--color %s: canvas is %+v, want rich=%v and %d columns", test.mode, got, test.rich, plainWidth)
		}
	}
}

func TestLocale(t *testing.T) {
	tests := []struct {
		env  map[string]string
		want bool
	}{
		{map[string]string{}, false},
		{map[string]string{"LANG": "de_DE.UTF-8"}, true},
		{map[string]string{"LANG": "en_US.utf8", "LC_ALL": "C"}, false},
		{map[string]string{"LANG": "C", "LC_CTYPE": "en_US.UTF-8"}, true},
	}
	for _, test := range tests {
		if got := speaksUTF8(func(name string) string { return test.env[name] }); got != test.want {
			t.Errorf("%v: got %v, want %v", test.env, got, test.want)
		}
	}
}

type testWriter struct{}

func (*testWriter) Write(p []byte) (int, error) { return len(p), nil }

func TestGapWords(t *testing.T) {
	tests := []struct {
		name        string
		cost, bound float64
		want        string
	}{
		{"equal but for rounding", 1, 0.9999999, "as cheap as can be"},
		{"next to nothing", 4e-8, 3.8e-8, "as cheap as can be"},
		{"close", 100, 99.95, "less than 0.1% above the cheapest"},
		{"not close", 105, 100, "at most 5.0% above the cheapest"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := gapWords(test.cost, test.bound); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// The wish's kind is said in words; a kind to come is at least named.
func TestWishString(t *testing.T) {
	for code, want := range map[scheduling.RelaxationCode]string{
		"PreferredNodeAffinity": "preferred node affinity, x", "PreferNoScheduleTaint": "taint to be avoided, x",
		"PreferredPodAffinity": "preferred pod affinity, x", "PreferredPodAntiAffinity": "preferred pod anti-affinity, x",
		"ScheduleAnyway": "topology spread with ScheduleAnyway, x", "SomethingNew": "SomethingNew, x",
	} {
		if got := (wish{Relaxation: scheduling.Relaxation{Code: code, Detail: "x"}}).String(); got != want {
			t.Errorf("%s reads %q, want %q", code, got, want)
		}
	}
}
