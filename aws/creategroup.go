package aws

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/aws/internal/instances"
	"github.com/drawknife/drawknife/aws/internal/launch"
	"github.com/drawknife/drawknife/cloudprovider"
)

// CreateGroup launches the instances of the claims by one CreateFleet call that launches all of them or nothing, of one type in one zone.
// If EC2 does not have enough instances of the cheapest type and zone, it tries the next cheapest. Claims that suit capacity reservations
// are launched into one reservation with room for all of them, or into several reservations with one call for each. If one of these calls
// fails, the instances of the other calls are terminated. CreateGroup refuses some claims as unsupported (CP-GROUP): claims that need
// different instances, claims whose minValues one type can't satisfy, claims that suit capacity reservations without room for all of them,
// claims whose UIDs take more tags than EC2 allows, and claims of a Provisioner.
func (p *Provider) CreateGroup(ctx context.Context, nodeClaims []*v1.NodeClaim) ([]*v1.NodeClaim, error) {
	created, err := p.createGroup(ctx, nodeClaims)
	if err != nil {
		return nil, fmt.Errorf("creating a group of %d nodeclaims: %w", len(nodeClaims), err)
	}
	return created, nil
}

func (p *Provider) createGroup(ctx context.Context, nodeClaims []*v1.NodeClaim) ([]*v1.NodeClaim, error) {
	uids, err := uidsOf(nodeClaims)
	if err != nil {
		return nil, err
	}
	release, err := p.grouping.Begin(ctx, launch.BatchID(uids, 0, false))
	if err != nil {
		return nil, err
	}
	defer release()
	there, err := p.instances.ByClaims(ctx, uids)
	switch {
	case err != nil:
		return nil, fmt.Errorf("finding the instances of a group of nodeclaims: %w", err)
	case there.Undecided:
		return nil, cloudprovider.NewTransientError(errors.New("the instances of an earlier call are not all visible yet"))
	case len(there.Live) == len(nodeClaims):
		return p.adoptAll(ctx, nodeClaims, there.Live), nil
	case len(there.Live) > 0:
		return nil, cloudprovider.NewInsufficientCapacityError(fmt.Errorf("%d of the %d instances of these NodeClaims are gone, so the launch group cannot become complete", len(nodeClaims)-len(there.Live), len(nodeClaims)))
	}
	apart, err := p.launchedApart(ctx, nodeClaims)
	switch {
	case err != nil:
		return nil, err
	case len(apart) == len(nodeClaims):
		return p.adoptAll(ctx, nodeClaims, apart), nil
	}
	request, err := p.launchRequest(ctx, nodeClaims[0])
	if err != nil {
		return nil, err
	}
	claims := append([]*v1.NodeClaim{request.NodeClaim}, nodeClaims[1:]...)
	launched, err := p.launcher.LaunchTogether(ctx, launch.Together{
		NodeClaims: claims, NodeClass: request.NodeClass, InstanceTypes: request.InstanceTypes, PlacementGroupID: request.PlacementGroupID,
		Cost: request.Cost, Whole: true, Generation: there.Generation,
	})
	if err != nil {
		return nil, p.unwanted(ctx, launched, err)
	}
	created := make([]*v1.NodeClaim, len(launched))
	for n, m := range launched {
		created[n] = p.launched(ctx, request, m)
	}
	return created, nil
}

// uidsOf returns the UIDs of claims, or an error if the claims can't be a group.
func uidsOf(nodeClaims []*v1.NodeClaim) ([]types.UID, error) {
	if len(nodeClaims) == 0 {
		return nil, cloudprovider.NewPermanentError(errors.New("there are no nodeclaims to launch"))
	}
	uids := make([]types.UID, len(nodeClaims))
	for n, claim := range nodeClaims {
		switch {
		case claim == nil:
			return nil, cloudprovider.NewPermanentError(fmt.Errorf("nodeclaim %d is nil", n))
		case claim.UID == "":
			return nil, cloudprovider.NewPermanentError(fmt.Errorf("nodeclaim %q: metadata.uid is empty: without it a repeated call would launch further instances", claim.Name))
		}
		uids[n] = claim.UID
	}
	return uids, nil
}

// adoptAll describes the instances in live as claims, in the order of nodeClaims.
func (p *Provider) adoptAll(ctx context.Context, nodeClaims []*v1.NodeClaim, live map[types.UID]instances.Instance) []*v1.NodeClaim {
	created := make([]*v1.NodeClaim, len(nodeClaims))
	for n, claim := range nodeClaims {
		created[n] = p.adopt(ctx, claim, live[claim.UID])
	}
	return created
}

// launchedApart returns the instances of a group whose claims were launched by several requests: as parts in several reservations, or one
// by one. It returns no instances if no claim has an instance. The error matches errors.ErrUnsupported if a claim has an instance that was
// launched for it alone: then the claims were not launched together.
func (p *Provider) launchedApart(ctx context.Context, nodeClaims []*v1.NodeClaim) (map[types.UID]instances.Instance, error) {
	found := make([]instances.Claim, len(nodeClaims))
	err := eachAtOnce(len(nodeClaims), func(n int) (err error) {
		found[n], err = p.instances.ByClaim(ctx, nodeClaims[n].UID)
		return err
	})
	if err != nil {
		return nil, err
	}
	live, part, alone := map[types.UID]instances.Instance{}, -1, -1
	for n, there := range found {
		if len(there.Live) == 0 {
			continue
		}
		live[nodeClaims[n].UID] = there.Live[0]
		if batch, ok := there.Live[0].Batch(); ok && batch.Whole() {
			part = n
		} else {
			alone = n
		}
	}
	switch {
	case len(live) == 0 || len(live) == len(nodeClaims) && alone < 0:
		return live, nil
	case alone >= 0:
		return nil, cloudprovider.NewGroupUnsupportedError(fmt.Sprintf("nodeclaim %q has instance %s of its own", nodeClaims[alone].Name, found[alone].Live[0].ID), nil)
	case p.now().Sub(found[part].Live[0].LaunchTime) < launch.Visibility:
		return nil, cloudprovider.NewTransientError(errors.New("the instances of an earlier call are not all visible yet"))
	}
	return nil, cloudprovider.NewInsufficientCapacityError(fmt.Errorf("%d of the %d instances of these NodeClaims are missing, so the launch group cannot become complete", len(nodeClaims)-len(live), len(nodeClaims)))
}

// unwanted terminates the instances that EC2 launched for a group although it could not launch all of them. Garbage collection finds
// instances that can't be terminated now by their tags, and terminates them once the claims are gone.
func (p *Provider) unwanted(ctx context.Context, launched []*launch.Instance, err error) error {
	for _, m := range launched {
		if m == nil {
			continue
		}
		if failed := p.instances.Terminate(ctx, instances.FromInstance(m)); cloudprovider.IgnoreNodeClaimNotFound(failed) != nil {
			p.log.Warn("cannot terminate instance of an incomplete group, leaving it to garbage collection", "instanceID", m.InstanceID, "error", failed)
		}
	}
	return err
}
