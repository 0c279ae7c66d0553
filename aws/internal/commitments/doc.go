// Package commitments reads what an AWS account has committed to pay for compute, and how much of it is used: Savings Plans, Reserved
// Instances, and discounts on the bill.
//
//	tracker := commitments.New(commitments.Options{Plans: …, EC2: …, Costs: …, Region: "eu-west-1", Cluster: "demo"})
//	next, err := tracker.Refresh(ctx) // reads what is due; call it again at next
//	account := tracker.Account()      // shared, not to be changed
//
// The data comes from four sources: DescribeSavingsPlans with the rates of each plan; DescribeReservedInstances; the running instances of
// the region, because instances outside the cluster also use commitments; and Cost Explorer, which reports the use of the whole account a
// day or two late. AWS charges for each request to Cost Explorer, so it is asked only twice a day.
//
// How EC2 applies commitments: docs.aws.amazon.com/savingsplans/latest/userguide/sp-applying.html and
// docs.aws.amazon.com/AWSEC2/latest/UserGuide/apply_ri.html.
package commitments
