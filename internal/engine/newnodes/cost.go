package newnodes

// NewCost returns the cost of the new nodes with pods, in nano-USD per hour, reduced by commitments.
func (t NewNodes) NewCost() int64 {
	sum := int64(0)
	for i := range t.S.Planned {
		if !t.S.Planned[i].Empty() {
			sum += t.S.Planned[i].Price
		}
	}
	return sum - t.committedSavings()
}
