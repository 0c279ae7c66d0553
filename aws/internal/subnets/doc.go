// Package subnets chooses the subnet of each zone for a launch: the subnet with the most free addresses, minus the addresses that launches
// in progress will use.
//
//	tracker := subnets.New(subnets.Options{})
//	tracker.Observe(counts)                             // after each DescribeSubnets
//	hold := tracker.Hold(class.Status.Subnets, zones, 58) // 58 addresses for each instance
//	… // launch in the subnets of hold.Subnets()
//	hold.Settle(used...)                               // in any case
//
// EC2 updates its own counts only after about the duration of a launch, and a node uses addresses for its pods long after its launch.
// Without its own tracker, many simultaneous launches would fill one subnet and fail.
package subnets
