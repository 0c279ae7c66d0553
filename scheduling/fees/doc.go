// Package fees has what nodes cost beyond the list prices of their instances, as terms of the cost model: EBS volumes, public addresses, traffic
// between zones, EKS Auto Mode, licences of operating systems.
//
// All fees are off unless they are chosen: plans count what their caller knows to be on the bill. [BuiltIn] lists them with their default
// amounts, [Parse] reads a choice, and [Choices.AddTo] puts it into a snapshot's cost model:
//
//	choices, err := fees.Parse("public-ipv4,root-volume=100,rhel@linux+batch")
//	…
//	snapshot.CostModel, err = choices.AddTo(snapshot.CostModel, snapshot)
//
// Figures are public ones of AWS's region us-east-1; docs/costs.md has them with their sources, and so has each term.
//
// Stability: beta.
package fees
