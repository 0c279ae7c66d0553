package decision

// Wave is a set of commands to be carried out side by side. Waves follow each other; one may begin when the one before is
// done, or at once: budgets and the validation of each command see to it that nothing goes wrong.
type Wave struct {
	// Commands by ID, in their order.
	Commands []string `json:"commands"`
	// Seconds that it is expected to take: new nodes have to be ready, then pods have to go as fast as PodDisruptionBudgets
	// let them. What no budget slows down goes at once, and is there again when its successors are ready. 0 is nothing that
	// anybody waits for: no pod moves.
	Seconds float64 `json:"seconds"`
	// Overlap is what new nodes cost meanwhile alongside the old ones, USD.
	Overlap float64 `json:"overlap"`
	// Pods that have to move, and Savings in USD per hour.
	Pods    int     `json:"pods"`
	Savings float64 `json:"savings"`
}
