package decision

// Wave is a set of commands to carry out in parallel. Waves follow each other; one may begin when the one before is done, or at
// once: budgets and the validation of each command see to it that nothing goes wrong.
type Wave struct {
	// Commands by ID, in their order.
	Commands []string `json:"commands"`
	// Seconds is its expected duration: new nodes become ready, then pods are evicted as fast as PodDisruptionBudgets allow. Pods
	// without such a budget are evicted at once, and count until their successors are ready. It is 0 if no pod moves.
	Seconds float64 `json:"seconds"`
	// Overlap is what new nodes cost while the old ones still run, in USD.
	Overlap float64 `json:"overlap"`
	// Pods that have to move, and Savings in USD per hour.
	Pods    int     `json:"pods"`
	Savings float64 `json:"savings"`
}
