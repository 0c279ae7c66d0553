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
// Instance types are shared by pools and recognised by pointer, so a type that no overlay touches stays exactly the
// object it was, a list in which nothing was touched stays a slice that was given, and pools that see one list under
// the same overlays get one list back. A type that is touched is copied once for all pools that see it alike, with everything
// it has: overrides of single offerings, reservations and availability included. [Input].Previous carries
// the copies over from one call to the next.
//
// # Order and conflicts
//
// Overlays are sorted by weight, the highest first, and then by name in reverse alphabetical order. Per offering the first overlay with a
// price counts, per resource of a type the first with a capacity; different resources add up. When two overlays of one weight select the
// same offering and both state a price, or the same type and both state one resource, the later one is refused whole, for all pools, even
// where a heavier overlay had the last word anyway: what happens must not hang on whether a third overlay is there.
//
// Stability: beta.
package overlay
