package option

import "fmt"

// ArgumentError is a call without something that the function can't do without.
type ArgumentError struct {
	// Function is what was called: "Model.Solve".
	Function string
	// Argument is what is nil or missing.
	Argument string
}

// Missing is the error of a call without an argument.
func Missing(function, argument string) *ArgumentError {
	return &ArgumentError{Function: function, Argument: argument}
}

// Error names the call and the argument.
func (e *ArgumentError) Error() string {
	return fmt.Sprintf("%s: %s is missing: give one", e.Function, e.Argument)
}
