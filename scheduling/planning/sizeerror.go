package planning

import "fmt"

// SizeError is returned for input that is larger than the limit.
type SizeError struct {
	// Limit is the largest accepted input, in bytes.
	Limit int64
}

// Error names the limit.
func (e *SizeError) Error() string {
	return fmt.Sprintf("the input is larger than %d bytes", e.Limit)
}
