package conversion

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Severity says how important a warning is.
type Severity string

const (
	// SeverityInfo: the form has changed, but the meaning is the same.
	SeverityInfo Severity = "info"
	// SeverityWarn: the result behaves differently, or something was left out.
	SeverityWarn Severity = "warn"
	// SeverityError: the object can't be converted. There is a result only if the caller forces it.
	SeverityError Severity = "error"
)

// Warning is one thing that a conversion changed, left out or could not do.
type Warning struct {
	// Code says which.
	Code Code `json:"code"`
	// Severity says how important the warning is. It follows from the code.
	Severity Severity `json:"severity"`
	// Object that was converted: "NodePool/web".
	Object string `json:"object"`
	// Path of the field in the converted object, "spec.disruption.expireAfter". For CodeResultInvalid it is the path in the result. It is
	// empty if the warning applies to the whole object.
	Path string `json:"path,omitempty"`
	// Message is a sentence that includes the operands.
	Message string `json:"message"`
}

// String returns the warning on one line: severity, code, object, path and message.
func (w Warning) String() string {
	var path string
	if w.Path != "" {
		path = " " + w.Path
	}
	return fmt.Sprintf("%s %s %s%s: %s", strings.ToUpper(string(w.Severity)), w.Code, w.Object, path, w.Message)
}

// Warnings are the warnings of one conversion, in the order in which its rules were applied. Nil means none.
type Warnings []Warning

// Has reports whether one of the warnings has the code.
func (ws Warnings) Has(code Code) bool {
	return slices.ContainsFunc(ws, func(w Warning) bool { return w.Code == code })
}

// Err returns an *Error with the warnings whose severity is error; nil if there are none.
func (ws Warnings) Err() error {
	var errs Warnings
	for _, w := range ws {
		if w.Severity == SeverityError {
			errs = append(errs, w)
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return &Error{Warnings: errs}
}

// Error lists all reasons why an object could not be converted.
type Error struct {
	// Warnings are the reasons; there is at least one, and each has severity error.
	Warnings Warnings
}

// Error lists the reasons.
func (e *Error) Error() string {
	reasons := make([]string, len(e.Warnings))
	for i, w := range e.Warnings {
		reasons[i] = strings.TrimPrefix(w.String(), strings.ToUpper(string(SeverityError))+" ")
	}
	return "can't be converted: " + strings.Join(reasons, "; ")
}

// Recorder collects the warnings of one object. The zero value records warnings about an object without a name.
type Recorder struct {
	object   string
	warnings Warnings
}

// NewRecorder returns a recorder for the object with the given kind and name.
func NewRecorder(kind, name string) *Recorder { return &Recorder{object: kind + "/" + name} }

// Add records a warning about the field at path; nil means the whole object. The operands are inserted into the message of the code.
func (r *Recorder) Add(code Code, path *field.Path, operands ...any) {
	at := ""
	if path != nil {
		at = path.String()
	}
	m := messages()[code]
	r.warnings = append(r.warnings, Warning{
		Code: code, Severity: m.severity, Object: r.object, Path: at, Message: fmt.Sprintf(m.format, operands...),
	})
}

// AddInvalid records the errors that the validation of the result found.
func (r *Recorder) AddInvalid(errs field.ErrorList) {
	for _, err := range errs {
		r.warnings = append(r.warnings, Warning{
			Code: CodeResultInvalid, Severity: CodeResultInvalid.Severity(), Object: r.object, Path: err.Field, Message: err.ErrorBody(),
		})
	}
}

// AddReferenceInvalid is like AddInvalid, for a result in the form that Karpenter's conversion tool and webhook write. In this form a term
// may combine an id with other conditions, which every API server refuses. A list with such terms gets CodeReferenceRefused once.
func (r *Recorder) AddReferenceInvalid(errs field.ErrorList) {
	var lists []string
	errs = slices.DeleteFunc(slices.Clone(errs), func(err *field.Error) bool {
		mixed := err.Type == field.ErrorTypeForbidden && strings.HasSuffix(err.Field, "].id")
		if list, _, _ := strings.Cut(err.Field, "["); mixed && !slices.Contains(lists, list) {
			lists = append(lists, list)
		}
		return mixed
	})
	for _, list := range lists {
		r.Add(CodeReferenceRefused, field.NewPath(list), "an id can't be combined with other conditions of its term")
	}
	r.AddInvalid(errs)
}

// Failed reports whether a warning of severity error was recorded.
func (r *Recorder) Failed() bool {
	return slices.ContainsFunc(r.warnings, func(w Warning) bool { return w.Severity == SeverityError })
}

// Warnings returns the recorded warnings, in the order in which they were recorded.
func (r *Recorder) Warnings() Warnings { return slices.Clone(r.warnings) }
