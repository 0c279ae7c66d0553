package scheduling

import "fmt"

// ArgumentError is a call without something that the function can't do without.
type ArgumentError struct {
	// Function is what was called: "Model.Solve".
	Function string
	// Argument is what is nil or missing.
	Argument string
}

// Error names the call and the argument.
func (e *ArgumentError) Error() string {
	return fmt.Sprintf("%s: %s is missing: give one", e.Function, e.Argument)
}

// SizeError is input with more bytes than are read.
type SizeError struct {
	// Limit is the most that is read, in bytes.
	Limit int64
}

// Error says how much that is.
func (e *SizeError) Error() string {
	return fmt.Sprintf("the input is larger than %d bytes", e.Limit)
}
