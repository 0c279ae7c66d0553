package settings

import (
	"fmt"
	"strings"
)

// Source is where a value comes from.
type Source string

const (
	// SourceFlag is the command line.
	SourceFlag Source = "flag"
	// SourceEnv is the environment.
	SourceEnv Source = "env"
	// SourceFile is a file with chart values or the data of a ConfigMap.
	SourceFile Source = "file"
	// SourceDefault is nobody: the value is the setting's default.
	SourceDefault Source = "default"
)

// Code tells kinds of problems apart.
type Code string

// Codes of problems. W702, W705, W706 and W707 are errors, W708 is information, the others are warnings.
const (
	// CodeUnknown is a key that means nothing here and is ignored.
	CodeUnknown Code = "W701"
	// CodeConflict is a setting with two values in one source.
	CodeConflict Code = "W702"
	// CodeDeprecated is a name that has a successor.
	CodeDeprecated Code = "W703"
	// CodeNoEffect is a setting that is understood and changes nothing.
	CodeNoEffect Code = "W704"
	// CodeRequired is a setting that must have a value.
	CodeRequired Code = "W705"
	// CodeInvalid is a value that can't be.
	CodeInvalid Code = "W706"
	// CodeReservedTag is a tag that is not the user's to set.
	CodeReservedTag Code = "W707"
	// CodeLimited is a value that another limits.
	CodeLimited Code = "W708"
)

// IsError reports whether a problem of this kind keeps the settings from being used.
func (c Code) IsError() bool {
	switch c {
	case CodeConflict, CodeRequired, CodeInvalid, CodeReservedTag:
		return true
	}
	return false
}

// Problem is one thing that is wrong or odd about what was set.
type Problem struct {
	// Code of the kind of problem.
	Code Code
	// Source of the value.
	Source Source
	// Name as the user wrote it: "--batch-max-duration", "BATCH_MAX_DURATION", "settings.batchMaxDuration". The flag's for a
	// required setting that nobody set, and the field's, "Planning.BatchMaxDuration", in what Settings.Validate finds.
	Name string
	// Message says what is wrong with it, the rule and the cure, in one sentence that begins with Name.
	Message string
}

// Error is the code, the source and the message.
func (p *Problem) Error() string {
	if p.Source == "" {
		return fmt.Sprintf("%s: %s", p.Code, p.Message)
	}
	return fmt.Sprintf("%s (%s): %s", p.Code, p.Source, p.Message)
}

// Error is every problem that keeps settings from being used; errors.As finds the *Problem in it.
type Error struct {
	// Problems in the order flag, environment, file, then what was found in the whole; never empty.
	Problems []*Problem
}

// Error is one line a problem.
func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.Error()
	}
	if len(lines) == 1 {
		return "settings: " + lines[0]
	}
	return fmt.Sprintf("settings: %d problems\n\t%s", len(lines), strings.Join(lines, "\n\t"))
}

// Unwrap gives the problems to errors.As.
func (e *Error) Unwrap() []error {
	out := make([]error, len(e.Problems))
	for i, p := range e.Problems {
		out[i] = p
	}
	return out
}

// split parts errors from the rest; err is nil without errors.
func split(problems []*Problem) (rest []*Problem, err error) {
	var bad []*Problem
	for _, p := range problems {
		if p.Code.IsError() {
			bad = append(bad, p)
		} else {
			rest = append(rest, p)
		}
	}
	if len(bad) > 0 {
		return rest, &Error{Problems: bad}
	}
	return rest, nil
}

func unknown(source Source, name string) *Problem {
	return &Problem{CodeUnknown, source, name, fmt.Sprintf("unknown settings key %s ignored", name)}
}

func conflict(source Source, what, first, second string) *Problem {
	return &Problem{CodeConflict, source, second, fmt.Sprintf("%s is set to different values in %s and %s: keep one of them", what, first, second)}
}

func deprecated(source Source, name, use string) *Problem {
	return &Problem{CodeDeprecated, source, name, fmt.Sprintf("%s is deprecated, use %s", name, use)}
}

func noEffect(source Source, name, since string) *Problem {
	return &Problem{CodeNoEffect, source, name, fmt.Sprintf("%s has no effect since Karpenter %s", name, since)}
}

func invalid(source Source, name, value, kind, cure string) *Problem {
	return &Problem{CodeInvalid, source, name, fmt.Sprintf("%s: %q is not a valid %s: %s", name, shorten(value), kind, cure)}
}

// maxShown is how many bytes of a value messages and lists show.
const maxShown = 200

// shorten keeps a value that somebody pasted in from filling a log.
func shorten(value string) string {
	if len(value) <= maxShown {
		return value
	}
	return strings.ToValidUTF8(value[:maxShown], "") + "…"
}
