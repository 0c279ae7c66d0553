// Package subnets picks the subnet of each zone for a launch: the one with the most free addresses, minus those that launches in progress
// will take.
//
//	tracker := subnets.New(subnets.Options{})
//	tracker.Observe(counts)                             // after each DescribeSubnets
//	hold := tracker.Hold(class.Status.Subnets, zones, 58) // 58 addresses for each instance
//	… // launch in the subnets of hold.Subnets()
//	hold.Settle(used...)                               // in any case
//
// EC2's own counts are late by about the duration of a launch, and a node takes addresses for its pods long after its launch. Without its
// own tracker, many simultaneous launches would fill one subnet and fail.
package subnets
