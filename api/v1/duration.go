package v1

import (
	"encoding/json"
	"fmt"
	"time"
)

// neverText is the text for "no limit" in a manifest.
const neverText = "Never"

// Duration is a duration that keeps its original text, so that reading and writing a manifest does not change "48h" to "48h0m0s".
// The zero value is 0s.
//
// +kubebuilder:validation:Type=string
type Duration struct {
	// Duration is the length of time. Callers may change it; the original text is then no longer used.
	time.Duration
	// text is the original text; it is used only while it matches Duration.
	text string
}

// NewDuration returns d with its text in Go's format.
func NewDuration(d time.Duration) Duration { return Duration{Duration: d} }

// ParseDuration reads a Go duration such as "48h" or "1h30m" and keeps its text.
func ParseDuration(text string) (Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		return Duration{}, fmt.Errorf("%q is not a duration: write it like 90s, 30m or 720h", text)
	}
	return Duration{Duration: d, text: text}, nil
}

// String returns the original text, or Go's format.
func (d Duration) String() string {
	if d.text != "" {
		if parsed, err := time.ParseDuration(d.text); err == nil && parsed == d.Duration {
			return d.text
		}
	}
	return d.Duration.String()
}

// Equal reports whether both are equally long, even if their texts differ.
func (d Duration) Equal(o Duration) bool { return d.Duration == o.Duration }

// MarshalJSON writes the duration as a string.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// UnmarshalJSON reads a string with a Go duration. Null leaves d as it is.
func (d *Duration) UnmarshalJSON(data []byte) error {
	text, ok, err := durationText(data)
	if err != nil || !ok {
		return err
	}
	parsed, err := ParseDuration(text)
	if err != nil {
		return err
	}
	*d = parsed
	return nil
}

// NillableDuration is a duration or Never, in the form in which a user writes it: "30m", "720h", "Never". It keeps its original text. The
// zero value is an unset field, to which a default applies. Values are immutable.
//
// +kubebuilder:validation:Type=string
type NillableDuration struct {
	// text is the written form; empty means unset.
	text string
	// span is the duration; 0 for Never and unset.
	span time.Duration
}

// Never is the duration without a limit.
func Never() NillableDuration { return NillableDuration{text: neverText} }

// NewNillableDuration returns d with its text in Go's format.
func NewNillableDuration(d time.Duration) NillableDuration {
	return NillableDuration{text: d.String(), span: d}
}

// ParseNillableDuration reads "Never" or a Go duration and keeps its text.
func ParseNillableDuration(text string) (NillableDuration, error) {
	if text == neverText {
		return Never(), nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return NillableDuration{}, fmt.Errorf("%q is neither a duration nor %s: write it like 90s, 30m or 720h", text, neverText)
	}
	return NillableDuration{text: text, span: d}, nil
}

// IsZero reports whether the field was left out.
func (d NillableDuration) IsZero() bool { return d.text == "" }

// IsNever reports whether the duration is Never. It is false for an unset duration.
func (d NillableDuration) IsNever() bool { return d.text == neverText }

// Duration returns the duration; ok is false if it is Never or unset.
func (d NillableDuration) Duration() (span time.Duration, ok bool) {
	return d.span, !d.IsZero() && !d.IsNever()
}

// String returns the original text; empty if unset.
func (d NillableDuration) String() string { return d.text }

// Equal reports whether both durations mean the same, even if their texts differ.
func (d NillableDuration) Equal(o NillableDuration) bool {
	return d.span == o.span && d.IsNever() == o.IsNever() && d.IsZero() == o.IsZero()
}

// MarshalJSON writes the text as it was read; null when unset.
func (d NillableDuration) MarshalJSON() ([]byte, error) {
	if d.IsZero() {
		return []byte("null"), nil
	}
	return json.Marshal(d.text)
}

// UnmarshalJSON reads a string with "Never" or a Go duration. Null leaves d as it is.
func (d *NillableDuration) UnmarshalJSON(data []byte) error {
	text, ok, err := durationText(data)
	if err != nil || !ok {
		return err
	}
	parsed, err := ParseNillableDuration(text)
	if err != nil {
		return err
	}
	*d = parsed
	return nil
}

// durationText returns the string in a JSON value; ok is false for null.
func durationText(data []byte) (text string, ok bool, err error) {
	if string(data) == "null" {
		return "", false, nil
	}
	if err := json.Unmarshal(data, &text); err != nil {
		return "", false, fmt.Errorf("%s is not a duration: write it as text like \"90s\" or \"720h\"", data)
	}
	return text, true, nil
}
