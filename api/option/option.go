// Package option contains what the functions of all packages share: errors for invalid options and missing arguments, and the clock that
// tests replace.
//
//	_, err := provisioning.NewLauncher(options)
//	var wrong *option.Error
//	if errors.As(err, &wrong) {
//		fmt.Println("mend", wrong.Option, "since", wrong.Rule)
//	}
//
// Stability: beta.
package option

import (
	"fmt"
	"time"
)

// Error is an invalid option.
type Error struct {
	// Package is the package of the option: "provisioning".
	Package string
	// Option is the name of the option in Go, with its path if it is nested: "Batch.Idle", "Feeds[1].Name".
	Option string
	// Rule is the broken rule, with the values that break it and what to do.
	Rule string
}

// Error names the option and the rule.
func (e *Error) Error() string {
	return fmt.Sprintf("%s: option %s: %s", e.Package, e.Option, e.Rule)
}

// Clock returns the current time. If an option of this type is nil, the real clock is used.
type Clock interface {
	Now() time.Time
}

// ClockFunc lets a function serve as a Clock.
type ClockFunc func() time.Time

// Now calls the function. For a nil function it returns the zero time.
func (f ClockFunc) Now() time.Time {
	if f == nil {
		return time.Time{}
	}
	return f()
}

// Time returns the time of the clock, or of the function real (usually time.Now) if the clock is nil.
func Time(clock Clock, real func() time.Time) time.Time {
	switch {
	case clock != nil:
		return clock.Now()
	case real != nil:
		return real()
	}
	return time.Time{}
}

// Or returns the value that the option points to, or the default if it is nil.
func Or[T any](option *T, otherwise T) T {
	if option == nil {
		return otherwise
	}
	return *option
}
