package seeded

import "testing"

func TestDraws(t *testing.T) {
	t.Setenv("DRAWKNIFE_LONG", "")
	if got := Draws(3, 10); Long() || got != 3 {
		t.Errorf("the usual form has %d draws; long: %t", got, Long())
	}
	t.Setenv("DRAWKNIFE_LONG", "all")
	want := 10
	if testing.Short() { // -short has the last word
		want = 3
	}
	if got := Draws(3, 10); got != want {
		t.Errorf("the long form has %d draws, want %d", got, want)
	}
}
