// Package fees adds costs beyond the list prices of instances to the cost model: EBS volumes, public addresses, traffic between zones,
// EKS Auto Mode, and licences of operating systems.
//
// No fee is counted unless it is chosen, because only the caller knows which fees are on the bill. [BuiltIn] lists them with their
// default amounts, [Parse] parses a user's choice, and [Choices.AddTo] adds it to a snapshot's cost model:
//
//	choices, err := fees.Parse("public-ipv4,root-volume=100,rhel@linux+batch")
//	…
//	snapshot.CostModel, err = choices.AddTo(snapshot.CostModel, snapshot)
//
// The default amounts are AWS's public prices for the region us-east-1. Each term states its source, and docs/costs.md lists all of them.
//
// Stability: beta.
package fees
