package spotrisk

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/drawknife/drawknife/api/option"
)

const (
	// schema is the value of "schema" in a file.
	schema = "drawknife-spot-history/1"
	// maxBytes and maxRecords are limits of the input of Import.
	maxBytes   = 64 << 20
	maxRecords = 100_000
	// maxName is the largest length of the names of instance types and zones.
	maxName = 63
)

// file is the output of Export.
type file struct {
	Schema  string   `json:"schema"`
	Markets []record `json:"markets"`
}

// FileError says what is wrong with the file that was passed to Import.
type FileError struct {
	// Path of the field: "markets[3].price".
	Path string
	// Rule is the rule that the field breaks. The error message has it after the path.
	Rule string
}

// Error is "spot history: path rule".
func (e *FileError) Error() string { return "spot history: " + e.Path + " " + e.Rule }

// Export writes the market's records as JSON, for Import after a restart, or in another cluster of the account. Equal observations give the
// same bytes.
func (m *Market) Export(w io.Writer) error {
	if w == nil {
		return option.Missing("Export", "the writer")
	}
	m.mu.Lock()
	f := file{Schema: schema, Markets: make([]record, 0, len(m.records))}
	for _, r := range m.records {
		f.Markets = append(f.Markets, *r)
	}
	m.mu.Unlock()
	slices.SortFunc(f.Markets, func(a, b record) int { return a.Key.Compare(b.Key) })
	text, err := json.MarshalIndent(f, "", " ")
	if err != nil {
		return fmt.Errorf("writing spot history: %w", err)
	}
	if _, err := w.Write(append(text, '\n')); err != nil {
		return fmt.Errorf("writing spot history: %w", err)
	}
	return nil
}

// Import adds the output of Export to the known records. Histories are added up, so a file must be imported only once. Of two prices or
// scores, the later one is used. A file that breaks a rule is refused as a whole, with a *FileError.
//
// Import has no clock, so it accepts times in the future. After that, observations with an earlier time are ignored. Use ImportAt for files
// that could contain such times.
func (m *Market) Import(r io.Reader) error { return m.importUntil(r, time.Time{}) }

// ImportAt is Import at a given time. It refuses a file with a time that is more than five minutes later, which is the allowed difference
// between clocks. With the zero time, it refuses no times.
func (m *Market) ImportAt(r io.Reader, now time.Time) error {
	if now.IsZero() {
		return m.importUntil(r, time.Time{})
	}
	return m.importUntil(r, now.Add(clockDifference))
}

// clockDifference is the allowed difference between the clocks of two computers.
const clockDifference = 5 * time.Minute

// importUntil imports a file. It returns an error if the file has a time after newest. If newest is the zero time, it accepts all times.
func (m *Market) importUntil(r io.Reader, newest time.Time) error {
	if r == nil {
		return option.Missing("Import", "the reader")
	}
	data, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err != nil {
		return fmt.Errorf("reading spot history: %w", err)
	}
	if len(data) > maxBytes {
		return &FileError{"the file", "must have at most 64 MiB"}
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	var f file
	if err := decoder.Decode(&f); err != nil {
		return fmt.Errorf("reading spot history: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return &FileError{"the file", "must have one document"}
	}
	if err := f.check(newest); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range f.Markets {
		m.merge(&f.Markets[i])
	}
	return nil
}

func (m *Market) merge(other *record) {
	r := m.records[other.Key]
	if r == nil {
		copied := *other
		m.records[other.Key] = &copied
		return
	}
	if other.PriceAt.After(r.PriceAt) {
		r.Price, r.PriceAt, r.Level = other.Price, other.PriceAt, other.Level
	}
	if other.ScoreAt.After(r.ScoreAt) {
		r.Score, r.ScoreAt = other.Score, other.ScoreAt
	}
	if other.HistoryAt.IsZero() {
		return
	}
	r.decayTo(other.HistoryAt, m.options.HistoryHalfLife)
	weight := halved(r.HistoryAt.Sub(other.HistoryAt), m.options.HistoryHalfLife)
	r.NodeHours += weight * other.NodeHours
	r.Interruptions += weight * other.Interruptions
	r.Launches += weight * other.Launches
	r.Refused += weight * other.Refused
}

func (f *file) check(newest time.Time) error {
	if f.Schema != schema {
		return &FileError{"schema", fmt.Sprintf("must be %q, is %q", schema, f.Schema)}
	}
	if len(f.Markets) > maxRecords {
		return &FileError{"markets", fmt.Sprintf("has %d entries, at most %d are read", len(f.Markets), maxRecords)}
	}
	seen := make(map[Key]bool, len(f.Markets))
	for i := range f.Markets {
		r := &f.Markets[i]
		if field, rule := r.fault(newest); field != "" {
			return &FileError{fmt.Sprintf("markets[%d].%s", i, field), rule}
		}
		if seen[r.Key] {
			return &FileError{fmt.Sprintf("markets[%d]", i), "names a market that an earlier entry has"}
		}
		seen[r.Key] = true
	}
	return nil
}

// fault returns the first field that breaks a rule, and the rule. Both are empty if no field breaks a rule.
func (r *record) fault(newest time.Time) (field, rule string) {
	if name := cmp.Or(bad(r.InstanceType, "instanceType"), bad(r.Zone, "zone")); name != "" {
		return name, fmt.Sprintf("must be a name of at most %d printable characters", maxName)
	}
	for _, n := range []struct {
		name string
		is   float64
	}{{"price", r.Price}, {"level", r.Level}, {"nodeHours", r.NodeHours}, {"interruptions", r.Interruptions}, {"launches", r.Launches}, {"refused", r.Refused}} {
		if !(n.is >= 0 && n.is <= 1e9) {
			return n.name, "must be a number from 0 to 1e9"
		}
	}
	switch {
	case isPrice(r.Price) != isPrice(r.Level) || isPrice(r.Price) == r.PriceAt.IsZero():
		return "price", "must come with its level and its time"
	case r.Refused > r.Launches*(1+1e-9):
		return "refused", "must be at most launches"
	case r.NodeHours+r.Interruptions+r.Launches > 0 && r.HistoryAt.IsZero():
		return "historyAt", "must be given"
	case r.Score < 0 || r.Score > 10:
		return "score", "must be from 1 to 10"
	}
	for _, at := range []struct {
		name string
		is   time.Time
	}{{"priceAt", r.PriceAt}, {"historyAt", r.HistoryAt}, {"scoreAt", r.ScoreAt}} {
		if !newest.IsZero() && at.is.After(newest) {
			return at.name, fmt.Sprintf("is %s, in the future: correct the clock of the computer that wrote the file, and remove the entry", at.is.UTC().Format(time.RFC3339))
		}
		if year := at.is.Year(); !at.is.IsZero() && (year < 2000 || year > 9999) {
			return at.name, "must be a time from the year 2000 on"
		}
	}
	return "", ""
}

// bad returns the name of the field if the text is not a valid name of a type or zone. If the text is valid, it returns "".
func bad(text, field string) string {
	if text == "" || len(text) > maxName || strings.IndexFunc(text, func(c rune) bool { return c <= ' ' || c > '~' }) >= 0 {
		return field
	}
	return ""
}
