package provisioning

import "fmt"

// OptionError is an option that can't be.
type OptionError struct {
	// Option is its name in Go.
	Option string
	// Rule that is broken, with the values that break it.
	Rule string
}

func (e *OptionError) Error() string {
	return fmt.Sprintf("provisioning: option %s: %s", e.Option, e.Rule)
}
