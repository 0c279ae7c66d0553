package aws

import (
	"context"

	"github.com/drawknife/drawknife/aws/internal/zonalshift"
	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/cloudprovider"
)

// start reads the data that the provider needs from AWS. If Options.Types is set, it tolerates failures that may be temporary. A permanent
// failure, such as a missing permission, is always an error.
func (p *Provider) start(ctx context.Context) error {
	seeded := p.options.Types != nil
	bearable := func(err error) bool {
		return seeded && ctx.Err() == nil && (cloudprovider.KindOf(err) == cloudprovider.Transient || cloudprovider.KindOf(err) == cloudprovider.Throttled)
	}
	if err := sdk.Probe(ctx, p.options.Clients.EC2(sdk.Urgent)); err != nil {
		if !bearable(err) {
			return err
		}
		p.log.Warn("cannot reach EC2 at start, continuing with the catalogue of Options.Types", "error", err)
	}
	if p.config.ZonalShift {
		p.shifts = zonalshift.ForCluster(p.options.Clients.ZonalShift(sdk.Normal), p.options.Clients.EKS(sdk.Normal), p.config.ClusterName, p.now)
		p.market.Shifts = p.shifts
		if _, err := p.pollShifts(ctx); err != nil {
			if !bearable(err) {
				return err
			}
			p.log.Warn("cannot list zonal shifts at start, using all zones until the next refresh", "error", err)
		}
	}
	if _, err := p.discovery.Refresh(ctx); err != nil {
		err = sdk.Wrap("reading instance types", nothingInRegion(err))
		if !bearable(err) {
			return err
		}
		p.log.Warn("cannot read instance types at start, using the catalogue of Options.Types", "error", err)
	}
	_, err := p.discovery.Catalog()
	return nothingInRegion(err)
}
