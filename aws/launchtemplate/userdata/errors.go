package userdata

import (
	"fmt"
	"strings"
)

// Limit is the largest size of user data in EC2, in bytes before the base64 encoding.
const Limit = 16384

// NoticeAt is the number of bytes from which Render warns that the limit is near: nine tenths of Limit.
const NoticeAt = 14745

// maxInput limits the user's own text before it is parsed. It is larger than Limit because some formats drop comments, so a longer text may
// still give a valid result.
const maxInput = 4 * Limit

// MalformedError means that the user's own user data can't be parsed, or contains something that is not allowed.
type MalformedError struct {
	// Family of the format.
	Family string
	// Line and Column of the user's text, from 1; 0 if unknown.
	Line, Column int
	// Problem says what is wrong and what to do, without quoting the text.
	Problem string
}

// Error names the field of the node class, the position and the problem.
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

// TooLargeError means that user data is longer than EC2 allows.
type TooLargeError struct {
	// Bytes is the size of the user data.
	Bytes int
	// Limit that the user data exceeds: the constant Limit for the result, and a larger limit for the user's own text.
	Limit int
}

// Error names the size, the limit and how to correct the problem.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("spec.userData: with the generated part the user data has %d bytes, but EC2 accepts at most %d: "+
		"shorten it, or have it fetch the rest", e.Bytes, e.Limit)
}

// ConfigError is an invalid member of Config.
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
