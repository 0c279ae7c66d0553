package devices

// State is all of the usage that allocations change. A device of which nothing was ever taken is one of which nothing is.
func (u *Usage) State() any {
	consumed := map[int][]int64{}
	for i, v := range u.consumed {
		for _, n := range v {
			if n != 0 {
				consumed[i] = v
			}
		}
	}
	return []any{u.uses, u.left, consumed}
}
