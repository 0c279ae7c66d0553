// Package overlay applies NodeOverlays to instance types before planning: it corrects the prices of offerings and adds resources that the
// provider doesn't know.
//
//	result := overlay.Apply(overlay.Input{Overlays: overlays, Pools: pools, Lookup: vocabulary.Compile()})
//	for _, verdict := range result.Verdicts {
//		verdict.Record(verdict.Overlay.DeepCopy(), now) // ValidationSucceeded: True, or False with the reason
//	}
//	types, err := result.InstanceTypes(key) // an error of kind UnevaluatedNodePool for a pool that wasn't there
//
// Apply is a pure function. It keeps nothing between calls, reads no clock and changes none of its arguments. The order of overlays and
// pools does not matter.
//
// # Sharing
//
// Planners share instance types between pools and recognise them by pointer. So a type that no overlay changes stays the same object. A
// list without changed types stays the slice that was passed in. Pools with the same list and the same overlays get the same list back. A
// changed type is copied once for all pools with the same result. The copy has all of the type's content, including overrides of single
// offerings, reservations and availability. [Input].Previous lets a call reuse the copies of the previous call.
//
// # Order and conflicts
//
// Overlays are sorted by weight, the highest first, and then by name in reverse alphabetical order. For each offering, the first overlay
// with a price applies. For each resource of a type, the first overlay with a capacity for it applies; capacities for different resources
// are combined. If two overlays of equal weight select the same offering and both state a price, the later one is refused as a whole, for
// all pools. The same is true if they select the same type and both state the same resource. This is so even if an overlay of higher weight
// has priority, because the result must not depend on a third overlay.
//
// Stability: beta.
package overlay
