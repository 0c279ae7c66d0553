package settings

import (
	"fmt"
	"strings"
)

// Source is the origin of a value.
type Source string

const (
	// SourceFlag is the command line.
	SourceFlag Source = "flag"
	// SourceEnv is the environment.
	SourceEnv Source = "env"
	// SourceFile is a file with chart values or the data of a ConfigMap.
	SourceFile Source = "file"
	// SourceDefault means that no source sets it: the value is the setting's default.
	SourceDefault Source = "default"
)

// Code is the kind of a problem.
type Code string

// Codes of problems. W702, W705, W706 and W707 are errors, W708 is information, and the other codes are warnings.
const (
	// CodeUnknown is an unknown key, which is ignored.
	CodeUnknown Code = "W701"
	// CodeConflict is a setting with two values in one source.
	CodeConflict Code = "W702"
	// CodeDeprecated is a name that was replaced by another name.
	CodeDeprecated Code = "W703"
	// CodeNoEffect is a known setting without effect.
	CodeNoEffect Code = "W704"
	// CodeRequired is a setting that must have a value.
	CodeRequired Code = "W705"
	// CodeInvalid is an invalid value.
	CodeInvalid Code = "W706"
	// CodeReservedTag is a reserved tag, which users must not set.
	CodeReservedTag Code = "W707"
	// CodeLimited is a value that was reduced because another setting limits it.
	CodeLimited Code = "W708"
)

// IsError reports whether settings with a problem of this kind can't be used.
func (c Code) IsError() bool {
	switch c {
	case CodeConflict, CodeRequired, CodeInvalid, CodeReservedTag:
		return true
	}
	return false
}

// Problem is one error or warning about the settings.
type Problem struct {
	// Code is the kind of problem.
	Code Code
	// Source is the source of the value.
	Source Source
	// Name is the name as the user wrote it: "--batch-max-duration", "BATCH_MAX_DURATION", "settings.batchMaxDuration". For a missing
	// required setting, Name is the name of the flag. In the result of Settings.Validate, Name is the field, such as
	// "Planning.BatchMaxDuration".
	Name string
	// Message is one sentence that begins with Name. It says what is wrong, what the rule is, and what to do.
	Message string
}

// Error returns the code, the source and the message.
func (p *Problem) Error() string {
	if p.Source == "" {
		return fmt.Sprintf("%s: %s", p.Code, p.Message)
	}
	return fmt.Sprintf("%s (%s): %s", p.Code, p.Source, p.Message)
}

// Error contains all problems that make the settings unusable; errors.As finds a *Problem in it.
type Error struct {
	// Problems are sorted by source: flag, environment, file, and then the problems of the combination. The list is never empty.
	Problems []*Problem
}

// Error returns one line for each problem.
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

// Unwrap returns the problems, for errors.As.
func (e *Error) Unwrap() []error {
	out := make([]error, len(e.Problems))
	for i, p := range e.Problems {
		out[i] = p
	}
	return out
}

// split separates errors from warnings. err is nil if there are no errors.
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

// maxShown is the maximum number of bytes of a value in messages and lists.
const maxShown = 200

// shorten cuts long values so that they don't fill a log.
func shorten(value string) string {
	if len(value) <= maxShown {
		return value
	}
	return strings.ToValidUTF8(value[:maxShown], "") + "…"
}
