// Package placement finds the placement group that a node class selects, and decides which of its partitions a launch is
// for.
//
//	group, err := finder.Find(ctx, class.Spec.PlacementGroupSelector) // asks EC2 at most once a minute
//	partition, ok := group.Partition(claimRequirements, inStock)
//
// A [Finder] asks EC2; the rest is pure.
//
// # Deliberate differences
//
//   - A launch is for the lowest partition by number that has room, not for the lowest as text, and the label is of the
//     partition that was launched into.
package placement
