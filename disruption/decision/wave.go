package decision

// Wave is a set of commands to carry out in parallel. Waves follow one another. The next wave may begin when this wave is done. It may also
// begin at once, because budgets and the validation of each command keep this safe.
type Wave struct {
	// Commands are the IDs of the commands, in the order of the plan.
	Commands []string `json:"commands"`
	// Seconds is the expected duration of the wave: new nodes become ready, then pods are evicted as fast as PodDisruptionBudgets allow.
	// Pods without a PodDisruptionBudget are evicted at once. Eviction is complete when the pods that replace the evicted pods are ready.
	// Seconds is 0 if no node is launched and no pod moves.
	Seconds float64 `json:"seconds"`
	// Overlap is the cost of new nodes while the old ones still run, in USD.
	Overlap float64 `json:"overlap"`
	// Pods is the number of pods that have to move. Savings is in USD per hour.
	Pods    int     `json:"pods"`
	Savings float64 `json:"savings"`
}
