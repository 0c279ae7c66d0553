package sdk

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/costexplorer"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/savingsplans"
)

// SavingsPlansAPI contains the Savings Plans calls in use: for the commitments of the account.
type SavingsPlansAPI interface {
	// DescribeSavingsPlans reads the Savings Plans of the account.
	DescribeSavingsPlans(context.Context, *savingsplans.DescribeSavingsPlansInput, ...func(*savingsplans.Options)) (*savingsplans.DescribeSavingsPlansOutput, error)
	// DescribeSavingsPlanRates reads how much of a Savings Plan an hour of each instance type uses.
	DescribeSavingsPlanRates(context.Context, *savingsplans.DescribeSavingsPlanRatesInput, ...func(*savingsplans.Options)) (*savingsplans.DescribeSavingsPlanRatesOutput, error)
}

// CostExplorerAPI contains the Cost Explorer calls in use: for the used part of commitments, and for discounts. AWS charges for each call.
type CostExplorerAPI interface {
	// GetSavingsPlansUtilizationDetails reads how much of each Savings Plan was used.
	GetSavingsPlansUtilizationDetails(context.Context, *costexplorer.GetSavingsPlansUtilizationDetailsInput, ...func(*costexplorer.Options)) (*costexplorer.GetSavingsPlansUtilizationDetailsOutput, error)
	// GetReservationUtilization reads how much of Reserved Instances was used.
	GetReservationUtilization(context.Context, *costexplorer.GetReservationUtilizationInput, ...func(*costexplorer.Options)) (*costexplorer.GetReservationUtilizationOutput, error)
	// GetCostAndUsage reads the charges, by kind of charge.
	GetCostAndUsage(context.Context, *costexplorer.GetCostAndUsageInput, ...func(*costexplorer.Options)) (*costexplorer.GetCostAndUsageOutput, error)
}

// ReservedInstancesAPI contains the EC2 calls in use for Reserved Instances, and for the instances that use them.
type ReservedInstancesAPI interface {
	// DescribeReservedInstances reads the Reserved Instances of the account in the region.
	DescribeReservedInstances(context.Context, *ec2.DescribeReservedInstancesInput, ...func(*ec2.Options)) (*ec2.DescribeReservedInstancesOutput, error)
	// DescribeInstances reads the account's instances in the region.
	DescribeInstances(context.Context, *ec2.DescribeInstancesInput, ...func(*ec2.Options)) (*ec2.DescribeInstancesOutput, error)
}

// SpotScoresAPI contains the EC2 call in use for spot placement scores.
type SpotScoresAPI interface {
	// GetSpotPlacementScores asks how likely spot launches are to succeed.
	GetSpotPlacementScores(context.Context, *ec2.GetSpotPlacementScoresInput, ...func(*ec2.Options)) (*ec2.GetSpotPlacementScoresOutput, error)
}

var (
	_ SavingsPlansAPI      = (*savingsplans.Client)(nil)
	_ CostExplorerAPI      = (*costexplorer.Client)(nil)
	_ ReservedInstancesAPI = (*ec2.Client)(nil)
	_ SpotScoresAPI        = (*ec2.Client)(nil)
)

// SavingsPlans makes a client of Savings Plans.
func (c *Clients) SavingsPlans(p Priority) SavingsPlansAPI {
	return savingsplans.NewFromConfig(c.at(p))
}

// CostExplorer makes a client of Cost Explorer.
func (c *Clients) CostExplorer(p Priority) CostExplorerAPI {
	return costexplorer.NewFromConfig(c.at(p))
}

// ReservedInstances makes a client of EC2 for Reserved Instances.
func (c *Clients) ReservedInstances(p Priority) ReservedInstancesAPI {
	return ec2.NewFromConfig(c.at(p))
}

// SpotScores makes a client of EC2 for spot placement scores.
func (c *Clients) SpotScores(p Priority) SpotScoresAPI { return ec2.NewFromConfig(c.at(p)) }
