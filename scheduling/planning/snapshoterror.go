package planning

import "fmt"

// SnapshotError says what is wrong with a Snapshot.
type SnapshotError struct {
	// Path of the field, from the snapshot's root.
	Path string
	// Rule that the field breaks; it continues a sentence that begins with the path.
	Rule string
	// Cure says what to do.
	Cure string
}

// Error returns "path rule: cure".
func (e *SnapshotError) Error() string {
	return fmt.Sprintf("snapshot: %s %s: %s", e.Path, e.Rule, e.Cure)
}
