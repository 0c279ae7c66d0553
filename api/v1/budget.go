package v1

// Budget bounds how many nodes of a pool may be disrupted at one time.
type Budget struct {
	// Reasons are those the budget speaks of. Nil speaks of every reason; an empty list of none.
	// +optional
	Reasons []DisruptionReason `json:"reasons,omitzero"`
	// Nodes is the bound: a count ("3"), or a share of the pool's nodes, rounded up ("10%"). Empty reads as "10%".
	Nodes string `json:"nodes"`
	// Schedule is when the budget begins to count: five cron fields or a macro such as @daily, in UTC. Comes with
	// Duration; nil counts always.
	// +optional
	Schedule *string `json:"schedule,omitempty"`
	// Duration is how long the budget counts from each hit of Schedule, in whole hours and minutes.
	// +optional
	Duration *Duration `json:"duration,omitempty"`
}
