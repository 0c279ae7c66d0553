package planning

import "fmt"

// SnapshotError says what is wrong with a Snapshot.
type SnapshotError struct {
	// Path of the field, from the snapshot's root.
	Path string
	// Rule that it breaks, to be read after the path.
	Rule string
	// Cure is what to do.
	Cure string
}

// Error is "path rule: cure".
func (e *SnapshotError) Error() string {
	return fmt.Sprintf("snapshot: %s %s: %s", e.Path, e.Rule, e.Cure)
}
