package fake

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// CreateGroup launches one instance for each of the claims, as Create would, or no instance at all. Offerings that are found out of stock
// in the attempt are shown as unavailable for Options.StockOutMemory. It refuses claims with minValues as unsupported, so that tests cover
// both group launches and single launches.
func (c *Cloud) CreateGroup(ctx context.Context, nodeClaims []*v1.NodeClaim) ([]*v1.NodeClaim, error) {
	orders, invalid := c.plans(nodeClaims)
	var created []*v1.NodeClaim
	e := &Event{Name: string(MethodCreateGroup), On: len(nodeClaims) == 0}
	if c.options.OnEvent != nil {
		for _, claim := range nodeClaims {
			e.Claims = append(e.Claims, claim.DeepCopy())
		}
	}
	err := c.call(ctx, e, func(now time.Time) error {
		if invalid != nil {
			return invalid
		}
		instances, err := c.group(nodeClaims, orders, now)
		if err != nil {
			return fmt.Errorf("launching %d nodeclaims as one group: %w", len(nodeClaims), err)
		}
		for _, m := range instances {
			created = append(created, m.claim())
			e.Result = append(e.Result, m.ProviderID)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return created, nil
}

// plans parses the claims of a group. It returns an error for claims that can never be launched together.
func (c *Cloud) plans(nodeClaims []*v1.NodeClaim) ([]launchPlan, error) {
	if len(nodeClaims) == 0 {
		return nil, cloudprovider.NewPermanentError(errors.New("there are no nodeclaims to launch"))
	}
	seen := make(map[types.UID]bool, len(nodeClaims))
	orders := make([]launchPlan, len(nodeClaims))
	for i, claim := range nodeClaims {
		var err error
		if orders[i], err = c.plan(claim); err != nil {
			return nil, err
		}
		if seen[claim.UID] {
			return nil, cloudprovider.NewPermanentError(fmt.Errorf("two nodeclaims have the UID %q", claim.UID))
		}
		seen[claim.UID] = true
		for _, r := range claim.Spec.Requirements {
			if r.MinValues != nil {
				return nil, cloudprovider.NewGroupUnsupportedError(fmt.Sprintf("nodeclaim %q asks for minValues of %s", claim.Name, r.Key), nil)
			}
		}
	}
	return orders, nil
}

// group returns the instances of the claims, and launches them if they do not exist.
func (c *Cloud) group(nodeClaims []*v1.NodeClaim, orders []launchPlan, now time.Time) ([]*instance, error) {
	found := make([]*instance, len(nodeClaims))
	live, alone := 0, false
	for i, claim := range nodeClaims {
		own := owner{cluster: c.cluster, uid: claim.UID}
		if found[i] = c.byOwner[own]; found[i] != nil {
			live++
			alone = alone || !found[i].group
		}
		if err := c.nodeClassReady(claim.Spec.NodeClassRef); err != nil && found[i] == nil {
			return nil, err
		}
	}
	switch {
	case live == len(nodeClaims):
		return found, nil
	case alone:
		return nil, cloudprovider.NewGroupUnsupportedError("some have instances of their own", nil)
	case live > 0:
		return nil, cloudprovider.NewInsufficientCapacityError(fmt.Errorf("%d of the %d instances of these NodeClaims are gone, so the launch group cannot become complete", len(nodeClaims)-live, len(nodeClaims)))
	}
	return c.launchGroup(nodeClaims, orders, now)
}

// launchGroup reserves stock for all claims before it launches the first instance.
func (c *Cloud) launchGroup(nodeClaims []*v1.NodeClaim, orders []launchPlan, now time.Time) ([]*instance, error) {
	chosen := make([]choice, 0, len(nodeClaims))
	defer func() { c.taken = nil }()
	for i := range nodeClaims {
		if orders[i].generation != c.catalog.generation {
			orders[i].generation, orders[i].order = c.catalog.generation, orders[i].sorted(c.catalog.types)
		}
		next, err := c.choose(orders[i], now)
		if err != nil {
			for _, taken := range chosen {
				c.catalog.giveBack(taken.state)
			}
			return nil, err
		}
		chosen, c.taken = append(chosen, next), append(c.taken, next.key)
	}
	c.taken = nil
	instances := make([]*instance, len(nodeClaims))
	for i, claim := range nodeClaims {
		instances[i] = c.launch(owner{cluster: c.cluster, uid: claim.UID}, claim, chosen[i], now)
		instances[i].group = true
	}
	return instances, nil
}

// giveBack undoes take.
func (c *catalog) giveBack(state *offeringState) {
	if state.stock >= 0 {
		state.stock++
	}
	c.changeReservation(state.reservation, 1)
}
