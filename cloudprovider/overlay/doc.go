// Package overlay applies NodeOverlays to instance types before planning: it corrects the prices of offerings and adds resources that the
// provider doesn't know.
//
//	result := overlay.Apply(overlay.Input{Overlays: overlays, Pools: pools, Lookup: vocabulary.Compile()})
//	for _, verdict := range result.Verdicts {
//		verdict.Record(verdict.Overlay.DeepCopy(), now) // ValidationSucceeded: True, or False with the reason
//	}
//	types, err := result.InstanceTypes(key) // an error of kind UnevaluatedNodePool for a pool that wasn't there
//
// Apply is a pure function. It stores nothing between calls, reads no clock and does not change its arguments. The order of overlays and
// pools does not matter.
//
// # Sharing
//
// Planners share instance types between pools and compare them by pointer. So if no overlay changes a type, the result contains the same
// object. If no type in a list is changed, the result contains the slice that was passed in. Pools with the same list and the same overlays
// get the same result list. A changed type is copied once for all pools with the same result. The copy has all of the type's content,
// including overrides of single offerings, reservations and availability. [Input].Previous lets a call reuse the copies of the previous
// call.
//
// # Order and conflicts
//
// Overlays are sorted by weight, the highest first, and then by name in reverse alphabetical order. The price of an offering comes from the
// first matching overlay that has a price. The capacity of each resource of a type comes from the first matching overlay with this
// resource, so several overlays may add different resources. If two overlays of equal weight select the same offering and both have a
// price, the later overlay is refused completely, for all pools. The same applies if they select the same type and both have a capacity for
// the same resource. The later overlay is refused even if a third overlay of higher weight takes precedence over both, because the result
// must not depend on a third overlay.
//
// Stability: beta.
package overlay
