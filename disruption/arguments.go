package disruption

import "fmt"

// ArgumentError is a call without something that the function can't do without.
type ArgumentError struct {
	// Function is what was called: "Global.Plan".
	Function string
	// Argument is what is nil or missing.
	Argument string
}

// Error names the call and the argument.
func (e *ArgumentError) Error() string {
	return fmt.Sprintf("%s: %s is missing: give one", e.Function, e.Argument)
}
