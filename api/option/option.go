// Package option is what the calls of all packages share: the errors for options that can't be and for arguments that are missing, and the clock
// that tests replace.
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

// Error is an option that can't be.
type Error struct {
	// Package whose option it is: "provisioning".
	Package string
	// Option is its name in Go, with the path to it where it lies deeper: "Batch.Idle", "Feeds[1].Name".
	Option string
	// Rule that is broken, with the values that break it, and what to do about it.
	Rule string
}

// Error names the option and the rule.
func (e *Error) Error() string {
	return fmt.Sprintf("%s: option %s: %s", e.Package, e.Option, e.Rule)
}

// Clock is the clock. An option Clock that is nil means the real one.
type Clock interface {
	Now() time.Time
}

// ClockFunc is a function as a Clock.
type ClockFunc func() time.Time

// Now calls the function; the zero time without one.
func (f ClockFunc) Now() time.Time {
	if f == nil {
		return time.Time{}
	}
	return f()
}

// Time is the clock's, or that of real, time.Now as a rule, if there is none.
func Time(clock Clock, real func() time.Time) time.Time {
	switch {
	case clock != nil:
		return clock.Now()
	case real != nil:
		return real()
	}
	return time.Time{}
}

// Or is what the option points to; one that is nil has its default.
func Or[T any](option *T, otherwise T) T {
	if option == nil {
		return otherwise
	}
	return *option
}
