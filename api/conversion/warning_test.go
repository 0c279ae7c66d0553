package conversion

import (
	"errors"
	"regexp"
	"strings"
	"testing"
)

// API-266: every code is stable in form (W7xx is of settings, which are reported together with conversions), has one of three severities and a sentence, and an error is distinguished from the rest.
func TestCatalogue(t *testing.T) {
	codes := Codes()
	for _, code := range codes {
		if !regexp.MustCompile(`^W[1-689][0-9]{2}$`).MatchString(string(code)) {
			t.Errorf("code %q", code)
		}
		m := messages()[code]
		r := NewRecorder("Kind", "name")
		operands := make([]any, strings.Count(m.format, "%s"))
		for i := range operands {
			operands[i] = "operand"
		}
		r.Add(code, nil, operands...)
		w := r.Warnings()[0]
		if strings.Contains(w.Message, "%!") || w.Message == "" || w.Severity != code.Severity() {
			t.Errorf("%s: %+v", code, w)
		}
		var refused *Error
		if got := errors.As(r.Warnings().Err(), &refused); got != (w.Severity == SeverityError) || got != r.Failed() {
			t.Errorf("%s of severity %s: error %v, failed %v", code, w.Severity, got, r.Failed())
		}
		switch w.Severity {
		case SeverityInfo, SeverityWarn, SeverityError:
		default:
			t.Errorf("%s has severity %q", code, w.Severity)
		}
		if !r.Warnings().Has(code) || r.Warnings().Has("W000") {
			t.Errorf("%s: Has", code)
		}
	}
	if Code("W000").Severity() != "" {
		t.Error("a code that does not exist has a severity")
	}
}
