package frozen

import (
	"flag"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "record answers again")

// Answers that differ and those that are new are named, others not.
func TestChanges(t *testing.T) {
	recorded := parse("a 1\nb 2\n\nc 3\n")
	got := changes(recorded, []line{{"a", "1"}, {"b", "4"}, {"d", "5"}})
	if diff := cmp.Diff([]string{"b", "d (new)"}, got); diff != "" {
		t.Error(diff)
	}
}

// A recording compares equal with what it wrote, and a number draws the same each time.
func TestCheckAgain(t *testing.T) {
	file := t.TempDir() + "/deep/file.txt"
	draw := func(t *rapid.T) string { return rapid.StringN(3, 8, -1).Draw(t, "s") }
	r := Recording{
		File: file, Count: 20, Short: 5, Update: true,
		Answer: func(_ *testing.T, i int) (string, []byte) { return string(rune('a' + i)), []byte(Drawn(draw, i)) },
	}
	Check(t, r)
	r.Update = false
	Check(t, r)
}
