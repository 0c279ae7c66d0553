package userdata

import (
	"fmt"
	"strings"
)

// Limit is the most bytes of user data that EC2 takes, before the base64 encoding.
const Limit = 16384

// NoticeAt is the number of bytes from which Render warns that the limit is near: nine tenths of Limit.
const NoticeAt = 14745

// maxInput bounds the user's own text before it is read: comments fall away in some formats, so more than Limit can do.
const maxInput = 4 * Limit

// MalformedError says that the user's own user data can't be read, or says something it may not.
type MalformedError struct {
	// Family whose format is broken.
	Family string
	// Line and Column of the user's text, from 1; 0 when they are not known.
	Line, Column int
	// Problem says what is wrong and what to do, without quoting the text.
	Problem string
}

// Error names the field of the node class, the place and the problem.
func (e *MalformedError) Error() string {
	var at strings.Builder
	if e.Line > 0 {
		fmt.Fprintf(&at, ", line %d", e.Line)
	}
	if e.Column > 0 {
		fmt.Fprintf(&at, ", column %d", e.Column)
	}
	return fmt.Sprintf("spec.userData (%s)%s: %s", e.Family, at.String(), e.Problem)
}

// TooLargeError says that user data is longer than EC2 takes.
type TooLargeError struct {
	// Bytes it has.
	Bytes int
	// Limit it is held to: Limit for what was rendered, more for the user's own text before that.
	Limit int
}

// Error gives both numbers and the cure.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("spec.userData: with what is generated the user data has %d bytes, and at most %d are taken: "+
		"shorten it, or have it fetch the rest", e.Bytes, e.Limit)
}

// ConfigError is a member of Config that can't be rendered.
type ConfigError struct {
	// Field is the path of the member, as in clusterName or kubelet.evictionSoftGracePeriod[memory.available].
	Field string
	// Problem says what is wrong with it and what to do.
	Problem string
}

// Error names the field and the problem.
func (e *ConfigError) Error() string { return e.Field + ": " + e.Problem }

func badConfig(field, format string, args ...any) error {
	return &ConfigError{Field: field, Problem: fmt.Sprintf(format, args...)}
}
