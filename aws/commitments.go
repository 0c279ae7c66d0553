package aws

import (
	"context"
	"time"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/aws/internal/commitments"
	"github.com/drawknife/drawknife/aws/sdk"
	neutral "github.com/drawknife/drawknife/cloudprovider/commitments"
)

// BillingClients create the clients that Config.Commitments needs. *sdk.Clients implements it. It is not part of Clients, so that a program
// that does not read commitments needs none of these clients.
type BillingClients interface {
	// SavingsPlans returns a client of Savings Plans.
	SavingsPlans(sdk.Priority) sdk.SavingsPlansAPI
	// CostExplorer returns a client of Cost Explorer; it is used only with Config.CostExplorer.
	CostExplorer(sdk.Priority) sdk.CostExplorerAPI
	// ReservedInstances returns a client of EC2.
	ReservedInstances(sdk.Priority) sdk.ReservedInstancesAPI
}

var _ BillingClients = (*sdk.Clients)(nil)

// Commitments returns what the account has committed to pay for compute, and how much of it is used outside the cluster: Savings Plans,
// Reserved Instances and, with Config.CostExplorer, discounts. Refresh reads it every quarter of an hour. It is nil without
// Config.Commitments, and before the first read. It must not be changed. Package scheduling/discounts makes terms of the cost model from
// it.
func (p *Provider) Commitments() *neutral.Account {
	if p.committed == nil {
		return nil
	}
	return p.committed.Account()
}

// assembleCommitments creates the reader of commitments, if Config.Commitments is set.
func (p *Provider) assembleCommitments() error {
	if !p.config.Commitments {
		return nil
	}
	clients, ok := p.options.Clients.(BillingClients)
	if !ok {
		return &option.Error{Package: "aws", Option: "Clients", Rule: "must implement BillingClients because Config.Commitments is set: use sdk.Load, or leave Config.Commitments unset"}
	}
	o := commitments.Options{
		Plans: clients.SavingsPlans(sdk.Background), EC2: clients.ReservedInstances(sdk.Background), Region: p.options.Clients.Region(),
		Cluster: p.config.ClusterName, Sharing: p.options.SharingClusters, Known: p.discovery.Known, Seed: p.config.Seed, Now: p.now,
	}
	if p.config.CostExplorer {
		o.Costs = clients.CostExplorer(sdk.Background)
	}
	p.committed = commitments.New(o)
	return nil
}

func (p *Provider) refreshCommitments(ctx context.Context) (time.Time, error) {
	return p.committed.Refresh(ctx)
}
