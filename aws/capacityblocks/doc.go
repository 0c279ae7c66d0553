// Package capacityblocks finds capacity blocks that can be bought, with their prices, and buys one after explicit approval. A capacity block
// is a number of GPU or Trainium instances for some hours or days, paid in advance; EC2 makes a capacity reservation of it, which an
// EC2NodeClass selects with capacityReservationSelectorTerms.
//
//	offerings, err := capacityblocks.Find(ctx, clients.EC2CapacityBlocks(sdk.Normal), capacityblocks.Query{InstanceType: "p5.48xlarge", Instances: 2, Hours: 48})
//	if err != nil { … }
//	for _, o := range offerings {
//		fmt.Println(o)
//	}
//
// Find only reads. No planner and no controller calls Purchase: a block that was bought can't be given back, so the caller must pass an
// Approval that repeats the offering that the buyer saw. The command of package commands/capacityblocks makes the Approval from its flags.
//
// Stability: beta.
package capacityblocks
