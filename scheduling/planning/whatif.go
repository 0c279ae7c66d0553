package planning

// PlaceOptions says how pods are placed. The zero value respects preferences and plans as many nodes as necessary. It applies to one call
// of Place; the next call may use other options.
type PlaceOptions struct {
	Query
	// ExistingOnly keeps Place from planning nodes: pods that find no room on nodes of the snapshot, or on nodes that the trial has planned
	// before, are not placed.
	ExistingOnly bool
}

// Outcome is the result of Place.
type Outcome struct {
	// Placed and Unplaced count the pods that were pending.
	Placed, Unplaced int
	// NewNodes is the number of planned nodes, and NewCost their price in USD per hour.
	NewNodes int
	NewCost  float64
}
