package gangs

// MostWishes returns the place for a gang that keeps the most wishes (preferred domains) and costs at most the premium more than the
// cheapest place without wishes. premium is a share of that cost. It returns nil if no place is found without wishes. The call
// cheapest(kept) returns the cheapest place that keeps the given number of the first wishes, or nil if no such place exists. This function
// is called first for 0 wishes, then for all wishes, and then for one wish fewer each time.
func MostWishes[P any](wishes int, premium float64, cheapest func(kept int) (*P, error), cost func(*P) int64) (*P, error) {
	plain, err := cheapest(0)
	if err != nil || plain == nil {
		return nil, err
	}
	most := float64(cost(plain)) * (1 + premium)
	for kept := wishes; kept > 0; kept-- {
		place, err := cheapest(kept)
		if err != nil {
			return nil, err
		}
		if place != nil && float64(cost(place)) <= most {
			return place, nil
		}
	}
	return plain, nil
}
