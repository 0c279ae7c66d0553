// Package placement finds the placement group that a node class selects, and decides which of its partitions a launch uses.
//
//	group, err := finder.Find(ctx, class.Spec.PlacementGroupSelector) // asks EC2 at most once a minute
//	partition, ok := group.Partition(claimRequirements, inStock)
//
// A [Finder] calls EC2; the other functions are pure.
//
// # Deliberate differences
//
//   - A launch uses the lowest partition with room in numerical order, not in text order. The label names the partition in which the
//     instance was launched.
package placement
