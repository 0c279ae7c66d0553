// Package frozen records digests of the answers of planners and converters in files. Some changes must not change any answer, for example
// moves, new names, and faster code. Their tests use the digests to check this. A change that is intended to change answers records them
// again; the diff of the file shows which answers changed.
//
//	go test ./internal/frozen ./scheduling ./disruption -run TestFrozen                                  # the first of each
//	DRAWKNIFE_FROZEN=all go test ./internal/frozen ./scheduling ./disruption -run TestFrozen -timeout 1h # all of them
//	go test ./scheduling -run TestFrozen -update -v                                                      # record again, all
//
// Random inputs are drawn by a number: Drawn(generator, 7) is the same in every run. The inputs change if the generators change, or if a
// new version of rapid draws differently.
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
	// File has one line "name digest" for each answer. It must be below testdata.
	File string
	// Count is the number of answers. Short is the number of answers that are compared unless DRAWKNIFE_FROZEN is "all".
	Count, Short int
	// Answer returns the name of the answer with the number i, without blanks, and the answer itself. For the same i it must always return
	// the same result.
	Answer func(t *testing.T, i int) (name string, answer []byte)
	// Update means that Check writes the file with all answers and logs the names of changed answers, instead of failing.
	Update bool
}

// Check compares answers with the file, and fails with the names of the answers that have changed.
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

// Drawn returns the value that a generator draws for a number. It is the same in every run.
func Drawn[T any](generate func(*rapid.T) T, number int) T {
	return rapid.Custom(generate).Example(number)
}

// line is the digest of an answer, with its name.
type line struct{ name, digest string }

// digest returns a short hash of the answer, because the hash need not protect against intentional collisions.
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

// changes returns the names of answers whose recorded digest differs or is missing.
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

// listed returns a text with the first names. The diff of the file shows all names.
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
