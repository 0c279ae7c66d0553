package planning

import "fmt"

// SizeError is input with more bytes than are read.
type SizeError struct {
	// Limit is the most that is read, in bytes.
	Limit int64
}

// Error says how much that is.
func (e *SizeError) Error() string {
	return fmt.Sprintf("the input is larger than %d bytes", e.Limit)
}
