// Package frozen records the answers of planners and converters, as digests in files. So the tests of a change that must not change any
// answer (a move, a new name, faster code) can check that it does not. A change that is meant to change answers records them again, and the
// difference of the file shows which answers changed.
//
//	go test ./internal/frozen ./scheduling ./disruption -run TestFrozen                                  # the first of each
//	DRAWKNIFE_FROZEN=all go test ./internal/frozen ./scheduling ./disruption -run TestFrozen -timeout 1h # all of them
//	go test ./scheduling -run TestFrozen -update -v                                                      # record again, all
//
// Random inputs are drawn by their number: Drawn(generator, 7) is the same in every run. They change with the generators, and
// with rapid's way of drawing.
package frozen

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Recording is a list of answers whose digests are stored in a file.
type Recording struct {
	// File has a line "name digest" for each answer. It lies under testdata.
	File string
	// Count is how many answers there are, Short how many of them are compared unless DRAWKNIFE_FROZEN is "all".
	Count, Short int
	// Answer returns the name of the i-th answer, without blanks, and the answer. The same number must give the same.
	Answer func(t *testing.T, i int) (name string, answer []byte)
	// Update writes the file instead of failing, with all answers, and logs which have changed.
	Update bool
}

// Check compares answers with the file, and names those that have changed.
func Check(t *testing.T, r Recording) {
	t.Helper()
	count := r.Short
	if r.Update || os.Getenv("DRAWKNIFE_FROZEN") == "all" {
		count = r.Count
	}
	got := make([]line, count)
	for i := range got {
		name, answer := r.Answer(t, i)
		got[i] = line{name, digest(answer)}
	}
	recorded, err := os.ReadFile(r.File)
	if err != nil && !r.Update {
		t.Fatalf("reading what is recorded: %v", err)
	}
	changed := changes(parse(string(recorded)), got)
	switch {
	case r.Update:
		write(t, r.File, got)
		t.Logf("%s: %d of %d answers have changed: %s", r.File, len(changed), count, listed(changed))
	case len(changed) > 0:
		t.Errorf("%s: %d of %d answers have changed: %s\nif they were meant to, run the test with -update and say why in the commit",
			r.File, len(changed), count, listed(changed))
	}
}

// Drawn returns what a generator draws for a number, the same each time.
func Drawn[T any](generate func(*rapid.T) T, number int) T {
	return rapid.Custom(generate).Example(number)
}

// line is an answer by its name.
type line struct{ name, digest string }

// digest is short: changes are not hidden on purpose.
func digest(answer []byte) string {
	sum := sha256.Sum256(answer)
	return hex.EncodeToString(sum[:6])
}

func parse(text string) map[string]string {
	out := map[string]string{}
	for l := range strings.Lines(text) {
		if name, digest, found := strings.Cut(strings.TrimSpace(l), " "); found {
			out[name] = digest
		}
	}
	return out
}

// changes returns the names of answers that are recorded otherwise, or not at all.
func changes(recorded map[string]string, got []line) []string {
	var names []string
	for _, l := range got {
		switch old, known := recorded[l.name]; {
		case !known:
			names = append(names, l.name+" (new)")
		case old != l.digest:
			names = append(names, l.name)
		}
	}
	return names
}

// listed returns the first names; the difference of the file contains all.
func listed(names []string) string {
	const most = 50
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), more)
	}
	return strings.Join(names, ", ")
}

func write(t *testing.T, file string, lines []line) {
	t.Helper()
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&b, "%s %s\n", l.name, l.digest)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
