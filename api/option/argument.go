package option

import "fmt"

// ArgumentError is a call without a required argument.
type ArgumentError struct {
	// Function is the name of the called function: "Model.Solve".
	Function string
	// Argument is the name of the argument that is nil or missing.
	Argument string
}

// Missing returns the error for a call without a required argument.
func Missing(function, argument string) *ArgumentError {
	return &ArgumentError{Function: function, Argument: argument}
}

// Error names the call and the argument.
func (e *ArgumentError) Error() string {
	return fmt.Sprintf("%s: %s is missing: give one", e.Function, e.Argument)
}
