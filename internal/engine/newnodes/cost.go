package newnodes

// NewCost is what the new nodes with pods cost, in nano-USD per hour, after what commitments take off.
func (t NewNodes) NewCost() int64 {
	sum := int64(0)
	for i := range t.S.Planned {
		if !t.S.Planned[i].Empty() {
			sum += t.S.Planned[i].Price
		}
	}
	return sum - t.committedSavings()
}
