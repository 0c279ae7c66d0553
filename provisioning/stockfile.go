package provisioning

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/drawknife/drawknife/cloudprovider"
)

const (
	// stockSchema is the value of "schema" in the output of Export.
	stockSchema = "drawknife-stock/1"
	// maxStockBytes and maxStockRecords limit the input of Import.
	maxStockBytes   = 32 << 20
	maxStockRecords = 200_000
)

// stockFile is the content of an exported file: the observations of offerings and of their neighbourhoods, and the probes.
type stockFile struct {
	Schema   string        `json:"schema"`
	Own      []stockRecord `json:"own,omitempty"`
	Families []stockRecord `json:"families,omitempty"`
	Types    []stockRecord `json:"types,omitempty"`
	Probes   []stockRecord `json:"probes,omitempty"`
}

// stockRecord has the evidence for one offering or neighbourhood, and the time for which it was computed. A record of a probe has only a
// time.
type stockRecord struct {
	Offering cloudprovider.OfferingKey `json:"offering"`
	Evidence float64                   `json:"evidence,omitempty"`
	At       time.Time                 `json:"at"`
}

// Export writes the observations, and the offerings that were probed, as JSON, for Import in another replica. A new leader then neither
// relies on offerings that were refused a minute ago nor probes them again. Equal observations and probes give the same bytes.
func (b *StockEstimate) Export() ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f := stockFile{Schema: stockSchema, Own: recordsOf(b.own), Families: recordsOf(b.family), Types: recordsOf(b.types)}
	for key, at := range b.probes {
		f.Probes = append(f.Probes, stockRecord{Offering: key, At: at})
	}
	sortRecords(f.Probes)
	return json.Marshal(f)
}

func recordsOf(m map[cloudprovider.OfferingKey]evidence) []stockRecord {
	var out []stockRecord
	for key, e := range m {
		out = append(out, stockRecord{Offering: key, Evidence: e.sum, At: e.at})
	}
	sortRecords(out)
	return out
}

func sortRecords(list []stockRecord) {
	slices.SortFunc(list, func(a, b stockRecord) int {
		return cmp.Or(a.Offering.Compare(b.Offering), a.At.Compare(b.At))
	})
}

// StockFileError says what is wrong with the data that Import was given.
type StockFileError struct {
	// Path of the field: "own[3].at".
	Path string
	// Rule is the rule that the field breaks. The error message has it after the path.
	Rule string
}

// Error returns "stock estimate: path rule".
func (e *StockFileError) Error() string { return "stock estimate: " + e.Path + " " + e.Rule }

// Import adds the data that Export wrote in another replica. Import keeps the later one of two observations or probes, so the same data may
// be imported more than once. Times in the future are replaced by the present time, because another replica's clock may be ahead. Data that
// breaks a rule is refused as a whole, with a *StockFileError.
func (b *StockEstimate) Import(text []byte, now time.Time) error {
	if len(text) > maxStockBytes {
		return &StockFileError{"the text", fmt.Sprintf("has more than %d MiB", maxStockBytes>>20)}
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	var f stockFile
	if err := decoder.Decode(&f); err != nil {
		return fmt.Errorf("reading stock estimate: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return &StockFileError{"the text", "must be one document"}
	}
	if err := f.check(); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, part := range []struct {
		into map[cloudprovider.OfferingKey]evidence
		list []stockRecord
	}{{b.own, f.Own}, {b.family, f.Families}, {b.types, f.Types}} {
		for _, r := range part.list {
			if known, ok := part.into[r.Offering]; !ok || r.At.After(known.at) {
				part.into[r.Offering] = evidence{sum: min(max(r.Evidence, -evidenceMost), evidenceMost), at: earlier(r.At, now)}
			}
		}
	}
	for _, r := range f.Probes {
		if r.At.After(b.probes[r.Offering]) {
			b.probes[r.Offering] = earlier(r.At, now)
		}
	}
	b.tidy(now)
	return nil
}

func earlier(a, b time.Time) time.Time {
	if a.After(b) {
		return b
	}
	return a
}

func (f *stockFile) check() error {
	if f.Schema != stockSchema {
		return &StockFileError{"schema", fmt.Sprintf("is %q: it must be %q", f.Schema, stockSchema)}
	}
	for _, part := range []struct {
		name string
		list []stockRecord
	}{{"own", f.Own}, {"families", f.Families}, {"types", f.Types}, {"probes", f.Probes}} {
		if len(part.list) > maxStockRecords {
			return &StockFileError{part.name, fmt.Sprintf("has %d entries: at most %d are read", len(part.list), maxStockRecords)}
		}
		for i, r := range part.list {
			path := fmt.Sprintf("%s[%d]", part.name, i)
			switch {
			case r.Offering.InstanceType == "":
				return &StockFileError{path + ".offering", "names no instance type"}
			case r.At.IsZero():
				return &StockFileError{path + ".at", "must be given"}
			case math.IsNaN(r.Evidence) || math.IsInf(r.Evidence, 0):
				return &StockFileError{path + ".evidence", "must be a number"}
			}
		}
	}
	return nil
}
