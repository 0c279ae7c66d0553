package conversion

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Severity is how bad a warning is.
type Severity string

const (
	// SeverityInfo: the meaning is kept, the form has changed.
	SeverityInfo Severity = "info"
	// SeverityWarn: the result behaves differently, or something was left out.
	SeverityWarn Severity = "warn"
	// SeverityError: the object can't be converted. It stops the object unless the caller forces it.
	SeverityError Severity = "error"
)

// Warning is one thing that a conversion changed, left out or could not do.
type Warning struct {
	// Code says which.
	Code Code `json:"code"`
	// Severity says how bad it is; it follows from the code.
	Severity Severity `json:"severity"`
	// Object that was converted: "NodePool/web".
	Object string `json:"object"`
	// Path of the field in the object that was converted, "spec.disruption.expireAfter"; with CodeResultInvalid, in the
	// result. Empty for the object as a whole.
	Path string `json:"path,omitempty"`
	// Message is a sentence with the operands.
	Message string `json:"message"`
}

// String is the warning on one line: severity, code, object, path and message.
func (w Warning) String() string {
	var path string
	if w.Path != "" {
		path = " " + w.Path
	}
	return fmt.Sprintf("%s %s %s%s: %s", strings.ToUpper(string(w.Severity)), w.Code, w.Object, path, w.Message)
}

// Warnings are those of one conversion, in the order of the rules that gave them. Nil is none.
type Warnings []Warning

// Has reports whether one of the warnings has the code.
func (ws Warnings) Has(code Code) bool {
	return slices.ContainsFunc(ws, func(w Warning) bool { return w.Code == code })
}

// Err is an *Error with those warnings whose severity is error; nil when there are none.
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

// Error says why an object could not be converted, all reasons at once.
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

// NewRecorder returns a recorder for the object of that kind and name.
func NewRecorder(kind, name string) *Recorder { return &Recorder{object: kind + "/" + name} }

// Add records a warning about the field at path, nil being the object; operands fill the message of the code.
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

// AddInvalid records what the rules of the result's own generation found wrong with it.
func (r *Recorder) AddInvalid(errs field.ErrorList) {
	for _, err := range errs {
		r.warnings = append(r.warnings, Warning{
			Code: CodeResultInvalid, Severity: CodeResultInvalid.Severity(), Object: r.object, Path: err.Field, Message: err.ErrorBody(),
		})
	}
}

// AddReferenceInvalid is AddInvalid for a result that was asked for as Karpenter's tool and webhook write it: they join ids with other
// conditions in one term, which no API server takes. Such a list of terms gets CodeReferenceRefused, once.
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

// Warnings returns what was recorded, in the order it was.
func (r *Recorder) Warnings() Warnings { return slices.Clone(r.warnings) }
