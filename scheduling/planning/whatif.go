package planning

// PlaceOptions say how pods are placed. The zero value respects preferences and plans as many nodes as it takes. They
// hold for one call of Place; the next may have others.
type PlaceOptions struct {
	Query
	// ExistingOnly keeps Place from planning nodes: what has no room on those of the snapshot, and on those that the trial
	// has planned before, stays without a place.
	ExistingOnly bool
}

// Outcome is what Place achieved.
type Outcome struct {
	// Placed and Unplaced count the pods that were waiting.
	Placed, Unplaced int
	// NewNodes is how many nodes were planned, for NewCost USD per hour.
	NewNodes int
	NewCost  float64
}
