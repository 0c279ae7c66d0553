package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// MaxBytes is the largest input of any reader of this package: several times EC2's largest answer. Larger input is refused before it is
// parsed.
const MaxBytes = 64 << 20

// Load reads a catalogue file; see Parse.
func Load(r io.Reader) (*Catalog, error) {
	data, err := readAll(r, "catalogue")
	if err != nil {
		return nil, err
	}
	return Parse(data)
}

// Parse parses a catalogue file. It is strict: an unknown field, a missing or unreasonable number, a duplicate type or an unknown zone
// makes the whole file invalid. For an invalid value, the error is a *FieldError with the type and the field. For text that isn't JSON, the
// error contains the position.
func Parse(data []byte) (*Catalog, error) {
	if len(data) > MaxBytes {
		return nil, tooLarge("catalogue")
	}
	var file struct {
		Schema     string                `json:"schema"`
		Region     string                `json:"region"`
		Zones      []Zone                `json:"zones"`
		Sources    map[string]string     `json:"sources"`
		PriceFacts map[string]PriceFacts `json:"priceFacts"`
		Types      []json.RawMessage     `json:"types"`
		// Answer is only used to recognise a file that ParseDescribeInstanceTypes should read.
		Answer json.RawMessage `json:"InstanceTypes"`
	}
	if err := decodeStrict(data, &file); err != nil {
		return nil, fmt.Errorf("reading the catalogue: %w", err)
	}
	if file.Answer != nil {
		return nil, errors.New("reading the catalogue: this is the output of `aws ec2 describe-instance-types`, which also needs a prices file")
	}
	if file.Schema != Schema {
		return nil, &FieldError{Field: "schema", Problem: fmt.Sprintf("must be %q, is %q", Schema, file.Schema)}
	}
	if len(file.Types) > maxTypes {
		return nil, &FieldError{Field: "types", Problem: fmt.Sprintf("must have at most %d entries, has %d", maxTypes, len(file.Types))}
	}
	types := make([]Type, len(file.Types))
	for i, record := range file.Types {
		if err := decodeStrict(record, &types[i]); err != nil {
			return nil, recordError(i, record, err)
		}
	}
	return New(Catalog{Region: file.Region, Zones: file.Zones, Sources: file.Sources, PriceFacts: file.PriceFacts, Types: types})
}

// readAll reads at most MaxBytes.
func readAll(r io.Reader, what string) ([]byte, error) {
	if r == nil {
		return nil, fmt.Errorf("reading the %s: the reader is nil", what)
	}
	data, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("reading the %s: %w", what, err)
	}
	if len(data) > MaxBytes {
		return nil, tooLarge(what)
	}
	return data, nil
}

func tooLarge(what string) error {
	return fmt.Errorf("reading the %s: it has more than %d MiB, the maximum", what, MaxBytes>>20)
}

// decodeStrict decodes exactly one JSON value into v and refuses unknown fields.
func decodeStrict(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return describeJSONError(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("unexpected data after the end of the value, at byte %d", d.InputOffset())
	}
	return nil
}

// describeJSONError adds the position to errors that contain a position but don't print it.
func describeJSONError(err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("not JSON at byte %d: %w", syntax.Offset, err)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the JSON text is incomplete: %w", err)
	}
	return err
}

// recordError names the type whose record could not be decoded, and the field if known.
func recordError(i int, record []byte, err error) error {
	var id struct {
		Name string `json:"name"`
	}
	// The record is invalid: use its name if that can be read, otherwise its index.
	if err := json.Unmarshal(record, &id); err != nil || id.Name == "" {
		id.Name = fmt.Sprintf("types[%d]", i)
	}
	var mismatch *json.UnmarshalTypeError
	if errors.As(err, &mismatch) {
		return &FieldError{Type: id.Name, Field: mismatch.Field, Problem: fmt.Sprintf("must not be a JSON %s", mismatch.Value)}
	}
	return &FieldError{Type: id.Name, Problem: err.Error()}
}
