package v1

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestNillableDuration(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		span       time.Duration
		finite     bool
		never      bool
	}{
		{"hours", "720h", 720 * time.Hour, true, false},
		{"mixed units", "1h30m", 90 * time.Minute, true, false},
		{"zero", "0s", 0, true, false},
		{"a form Go would write otherwise", "60m", time.Hour, true, false},
		{"no end", "Never", 0, false, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got NillableDuration
			if err := json.Unmarshal([]byte(`"`+tc.text+`"`), &got); err != nil {
				t.Fatal(err)
			}
			if span, finite := got.Duration(); span != tc.span || finite != tc.finite {
				t.Errorf("Duration() = %v, %v; want %v, %v", span, finite, tc.span, tc.finite)
			}
			if got.IsNever() != tc.never || got.IsZero() {
				t.Errorf("IsNever() = %v, IsZero() = %v", got.IsNever(), got.IsZero())
			}
			text, err := json.Marshal(got)
			if err != nil || string(text) != `"`+tc.text+`"` {
				t.Errorf("written back as %s (%v), want %q unchanged", text, err, tc.text)
			}
		})
	}
}

func TestNillableDurationUnset(t *testing.T) {
	var d NillableDuration
	if _, finite := d.Duration(); !d.IsZero() || d.IsNever() || finite {
		t.Error("the zero value must be unset: neither a span nor Never")
	}
	if err := json.Unmarshal([]byte("null"), &d); err != nil || !d.IsZero() {
		t.Errorf("null: %v, IsZero() = %v", err, d.IsZero())
	}
	if text, err := json.Marshal(struct {
		D NillableDuration `json:"d,omitzero"`
	}{}); err != nil || string(text) != "{}" {
		t.Errorf("an unset field is written as %s (%v)", text, err)
	}
}

func TestNillableDurationEqual(t *testing.T) {
	hour, minutes := NewNillableDuration(time.Hour), mustNillable(t, "60m")
	if !hour.Equal(minutes) {
		t.Error("1h and 60m differ")
	}
	if hour.Equal(Never()) || Never().Equal(NillableDuration{}) || mustNillable(t, "0s").Equal(NillableDuration{}) || mustNillable(t, "0s").Equal(Never()) {
		t.Error("unset, Never and a span must all differ")
	}
}

func TestDurationsThatAreRefused(t *testing.T) {
	for _, text := range []string{`"3 days"`, `""`, `"never"`, `5`, `{}`, `"99999999999h"`} {
		var nillable NillableDuration
		if err := json.Unmarshal([]byte(text), &nillable); err == nil || !strings.Contains(err.Error(), "write it") {
			t.Errorf("NillableDuration %s: error %v does not say what to write", text, err)
		}
		var d Duration
		if err := json.Unmarshal([]byte(text), &d); err == nil || !strings.Contains(err.Error(), "write it") {
			t.Errorf("Duration %s: error %v does not say what to write", text, err)
		}
	}
}

func TestDurationKeepsItsTextUntilChanged(t *testing.T) {
	d, err := ParseDuration("60m")
	if err != nil {
		t.Fatal(err)
	}
	if d.String() != "60m" || !d.Equal(NewDuration(time.Hour)) {
		t.Errorf("60m reads as %v", d)
	}
	d.Duration = 2 * time.Hour
	if d.String() != "2h0m0s" {
		t.Errorf("after setting 2h it still reads %v", d)
	}
}

func FuzzNillableDuration(f *testing.F) {
	for _, seed := range []string{"Never", "720h", "1h30m", "0s", "-5m", "", "1.5h", "never", "9223372036854775807ns"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Skip()
		}
		var d NillableDuration
		if json.Unmarshal(quoted, &d) != nil {
			return
		}
		again, err := json.Marshal(d)
		if err != nil || string(again) != string(quoted) {
			t.Fatalf("%s was written back as %s (%v)", quoted, again, err)
		}
		if span, finite := d.Duration(); finite {
			if !NewNillableDuration(span).Equal(d) {
				t.Fatalf("%q and its span %v differ", text, span)
			}
		} else if !d.IsNever() {
			t.Fatalf("%q was read as neither a span nor Never", text)
		}
	})
}

func mustNillable(t *testing.T, text string) NillableDuration {
	t.Helper()
	d, err := ParseNillableDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
