package scheduling

// MinValuesPolicy says what to do with a NodePool's minValues that can't be met.
type MinValuesPolicy string

const (
	// MinValuesStrict places nothing where the instance types left are not varied enough.
	MinValuesStrict MinValuesPolicy = "Strict"
	// MinValuesBestEffort gives minValues up for pods that could not have them even on a node of their own: they get one in
	// the pool that they would be in anyway, and whoever fits may share it. NewNode.MinValuesRelaxed marks it.
	MinValuesBestEffort MinValuesPolicy = "BestEffort"
)

// ReservedPolicy says what pods do for which a reservation exists.
type ReservedPolicy string

const (
	// ReservedFallback uses reservations while they last and buys after that.
	ReservedFallback ReservedPolicy = "Fallback"
	// ReservedStrict lets pods that could use a reservation wait rather than buy.
	ReservedStrict ReservedPolicy = "Strict"
)
