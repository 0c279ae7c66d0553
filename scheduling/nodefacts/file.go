package nodefacts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

const (
	// schema is the value of "schema" in a file.
	schema = "drawknife-node-facts/1"
	// maxBytes, maxFacts, maxEntries and maxName are limits of the input of Import.
	maxBytes   = 32 << 20
	maxFacts   = 20_000
	maxEntries = 200
	maxName    = 512
)

type file struct {
	Schema string `json:"schema"`
	Facts  []Fact `json:"facts"`
}

// FileError says what is wrong with the data that was passed to Import.
type FileError struct {
	// Path of the field: "facts[3].seen".
	Path string
	// Rule that the field breaks. It continues a sentence that begins with the path.
	Rule string
}

// Error is "node facts: path rule".
func (e *FileError) Error() string { return "node facts: " + e.Path + " " + e.Rule }

// Export writes the facts as JSON, for Import after a restart or in another cluster. The same facts give the same bytes.
func (b *Book) Export() ([]byte, error) {
	return json.Marshal(file{schema, b.Facts()})
}

// Import adds facts that Export wrote. If two facts have the same key, Import keeps the fact that was seen later, so the same data may be
// imported more than once. Times in the future are replaced by the present time. Data that breaks a rule is refused as a whole, with a
// *FileError.
func (b *Book) Import(text []byte, now time.Time) error {
	if len(text) > maxBytes {
		return &FileError{"the text", fmt.Sprintf("has more than %d MiB", maxBytes>>20)}
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	var f file
	if err := decoder.Decode(&f); err != nil {
		return fmt.Errorf("reading node facts: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return &FileError{"the text", "must be one document"}
	}
	if err := f.check(); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range f.Facts {
		fact := f.Facts[i]
		if fact.Seen.After(now) {
			fact.Seen = now
		}
		if known := b.facts[fact.Key]; known == nil || fact.Seen.After(known.Seen) {
			b.facts[fact.Key] = &fact
		}
	}
	return nil
}

func (f *file) check() error {
	if f.Schema != schema {
		return &FileError{"schema", fmt.Sprintf("is %q: it must be %q", f.Schema, schema)}
	}
	if len(f.Facts) > maxFacts {
		return &FileError{"facts", fmt.Sprintf("has %d entries: at most %d are read", len(f.Facts), maxFacts)}
	}
	for i := range f.Facts {
		fact, path := &f.Facts[i], fmt.Sprintf("facts[%d]", i)
		switch {
		case fact.InstanceType == "" || fact.Class == "" || len(fact.InstanceType)+len(fact.Class)+len(fact.Image) > maxName:
			return &FileError{path, fmt.Sprintf("must have an instance type and a class, of at most %d characters together with the image", maxName)}
		case fact.Seen.IsZero():
			return &FileError{path + ".seen", "must be given"}
		case fact.Nodes < 1 || len(fact.Capacity) > maxEntries || len(fact.VolumeLimits) > maxEntries:
			return &FileError{path, fmt.Sprintf("must be of at least one node, with at most %d resources and drivers", maxEntries)}
		case !(fact.ReadySeconds >= 0 && fact.ReadySeconds <= longestReady.Seconds()):
			return &FileError{path + ".readySeconds", fmt.Sprintf("must be from 0 to %g", longestReady.Seconds())}
		}
		for name, q := range fact.Capacity {
			if q.Sign() < 0 {
				return &FileError{path + ".capacity[" + string(name) + "]", "must not be negative"}
			}
		}
	}
	return nil
}
