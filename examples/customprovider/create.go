package customprovider

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/drawknife/drawknife/api/option"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// Create assigns the cheapest free machine that meets the claim, and switches it on. If a machine can't be switched on, it is not tried
// again for a while, and Create tries another machine. If the claim already has a machine, Create returns this machine.
func (p *Provider) Create(ctx context.Context, claim *v1.NodeClaim) (*v1.NodeClaim, error) {
	refuse := func(err error) (*v1.NodeClaim, error) {
		return nil, fmt.Errorf("launching nodeclaim %q: %w", claim.Name, cloudprovider.NewPermanentError(err))
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if claim.UID == "" {
		return refuse(errors.New("metadata.uid is empty: without it a repeated call would take a second machine"))
	}
	if !p.Describe().SupportsNodeClass(claim.Spec.NodeClassRef) {
		return refuse(fmt.Errorf("spec.nodeClassRef: kind %s.%s is not this provider's", claim.Spec.NodeClassRef.Kind, claim.Spec.NodeClassRef.Group))
	}
	want, err := p.lookup.ParseSet(claim.Spec.Requirements)
	if err != nil {
		return refuse(fmt.Errorf("spec.requirements: %w", err))
	}
	types, err := p.InstanceTypes(ctx, nil)
	if err != nil {
		return nil, err
	}
	order := cloudprovider.LaunchOrder(types, want, claim.Spec.Resources.Requests)
	var failures []error
	for {
		name, holder, err := p.take(claim, order)
		if err != nil {
			return nil, fmt.Errorf("launching nodeclaim %q: %w", claim.Name, errors.Join(append(failures, err)...))
		}
		if holder.Started {
			return p.describe(name, holder), nil
		}
		err = p.start(ctx, name, claim, holder)
		if err == nil {
			return p.describe(name, holder), nil
		}
		if ctx.Err() != nil {
			// The instance may be starting, and stays assigned to the claim: List shows it, and Create continues with it.
			return nil, fmt.Errorf("launching nodeclaim %q: %w", claim.Name, errors.Join(err, ctx.Err()))
		}
		failures = append(failures, err)
		p.giveUp(name)
		if len(failures) == maxTries {
			return nil, fmt.Errorf("launching nodeclaim %q: %w", claim.Name,
				cloudprovider.NewCreateError("PowerFailed", "machines could not be switched on", errors.Join(failures...)))
		}
	}
}

// maxTries is how many machines one claim may try. If so many can't be switched on, the machines are probably not the cause: a wrong
// command, for example, must not mark the whole inventory as broken.
const maxTries = 3

// take returns the claim's machine: the one that is already assigned, or else the first free machine in the order. The journal names the
// claim as the machine's holder before the machine is changed.
func (p *Provider) take(claim *v1.NodeClaim, order []cloudprovider.Candidate) (name string, holder Holder, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := option.Time(p.options.Clock, time.Now)
	err = p.journal.update(func(holders map[string]Holder) (string, *Holder, error) {
		for machine, h := range holders {
			if h.Cluster == p.options.Cluster && h.UID == string(claim.UID) && h.live() {
				name, holder = machine, h
				return "", nil, nil
			}
		}
		keys := make([]cloudprovider.OfferingKey, 0, len(order))
		for _, candidate := range order {
			keys = append(keys, candidate.Key())
			for _, m := range p.inventory.Machines {
				_, held := holders[m.Name]
				if held || m.Type != candidate.Type.Name || m.Zone != candidate.Offering.Zone() || p.broken[m.Name].After(now) {
					continue
				}
				name = m.Name
				pool := v1.PoolOf(claim.Labels)
				holder = Holder{
					Cluster: p.options.Cluster, NodePool: pool.Name, Generation: pool.Generation, Claim: claim.Name, UID: string(claim.UID), Since: now,
				}
				return name, &holder, nil // with its number
			}
		}
		return "", nil, cloudprovider.NewInsufficientCapacityError(nil, keys...)
	})
	return name, holder, err
}

// start switches the machine on, and records this in the journal.
func (p *Provider) start(ctx context.Context, name string, claim *v1.NodeClaim, holder Holder) error {
	if err := p.power.On(ctx, name, p.bootOf(name, holder, claim)); err != nil {
		return fmt.Errorf("machine %s: %w", name, err)
	}
	holder.Started = true
	return p.journal.update(func(holders map[string]Holder) (string, *Holder, error) {
		if now, ok := holders[name]; !ok || now.Launch != holder.Launch || !now.live() {
			return "", nil, nil // freed or assigned to another claim in the meantime
		}
		return name, &holder, nil
	})
}

// giveUp marks a machine that could not be switched on as broken, and as stopping. Other calls then switch it off before it is free,
// because it may have started after all.
func (p *Provider) giveUp(name string) {
	p.mu.Lock()
	p.broken[name] = option.Time(p.options.Clock, time.Now).Add(option.Or(p.options.BrokenFor, DefaultBrokenFor))
	for machine, until := range p.broken {
		if !until.After(option.Time(p.options.Clock, time.Now)) {
			delete(p.broken, machine)
		}
	}
	p.mu.Unlock()
	// If writing the journal fails, the machine stays assigned to the claim, and the next call for the claim continues with it.
	_ = p.journal.update(func(holders map[string]Holder) (string, *Holder, error) {
		holder, ok := holders[name]
		if !ok {
			return "", nil, nil
		}
		holder.Stopping = option.Time(p.options.Clock, time.Now)
		return name, &holder, nil
	})
}
