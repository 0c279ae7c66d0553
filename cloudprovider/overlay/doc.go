// Package overlay applies NodeOverlays to instance types: it corrects the prices of offerings and adds resources that
// the provider doesn't know of, before anything is planned.
//
//	result := overlay.Apply(overlay.Input{Overlays: overlays, Pools: pools, Lookup: vocabulary.Compile()})
//	for _, verdict := range result.Verdicts {
//		verdict.Record(verdict.Overlay.DeepCopy(), now) // ValidationSucceeded: True, or False with the reason
//	}
//	types, err := result.InstanceTypes(key) // an error of kind UnevaluatedNodePool for a pool that wasn't there
//
// Apply is pure: it keeps nothing between calls, reads no clock, changes none of its arguments and gives the same
// answer whatever the order of overlays and pools.
//
// # Sharing
//
// Instance types are shared by pools and recognised by pointer. So a type that no overlay changes stays the same object, and a list without
// changed types stays a slice that was given. Pools with the same list and the same overlays get the same list back. A changed type is
// copied once for all pools with the same result, with all of its content: overrides of single offerings, reservations and availability
// included. [Input].Previous lets a call reuse the copies of the previous call.
//
// # Order and conflicts
//
// Overlays are sorted by weight, the highest first, and then by name in reverse alphabetical order. For each offering the first overlay
// with a price applies, and for each resource of a type the first overlay with a capacity; capacities for different resources add up. If
// two overlays of equal weight select the same offering and both state a price, or the same type and both state one resource, the later one
// is refused as a whole, for all pools. That is so even where an overlay of higher weight takes precedence: the result must not depend on a
// third overlay.
//
// Stability: beta.
package overlay
