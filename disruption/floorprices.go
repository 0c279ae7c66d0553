package disruption

// floorPrices is filled in with the proofs.
type floorPrices struct{}

func newFloorPrices(*Fleet, []*unit) *floorPrices { return nil }
