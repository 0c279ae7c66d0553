// Package subnets picks the subnet of each zone that a launch should use: the one with the most free addresses, less
// those that launches in progress are about to take.
//
//	tracker := subnets.New(subnets.Options{})
//	tracker.Observe(counts)                             // after each DescribeSubnets
//	hold := tracker.Hold(class.Status.Subnets, zones, 58) // 58 addresses for each instance
//	… // launch in the subnets of hold.Subnets()
//	hold.Settle(used...)                               // in any case
//
// EC2's own numbers lag behind by as much as a launch takes, and a node takes addresses for its pods long after it was
// launched. Without a tracker of its own a burst of launches would fill one subnet and fail.
package subnets
