package fake

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// Create launches the claim's instance by the first offering with capacity, in the order of cloudprovider.LaunchOrderBy: reserved before
// spot before on-demand, then by Options.LaunchCost. Spot offerings that are expected to cost more than the cheapest on-demand offering
// come last. Offerings that are found out of stock in the attempt are shown as unavailable for Options.StockOutMemory. If the claim's UID
// has a live instance, Create returns this instance.
func (c *Cloud) Create(ctx context.Context, nodeClaim *v1.NodeClaim) (*v1.NodeClaim, error) {
	// This compares the claim with thousands of offerings, but reads no changing state, so it is done before locking.
	order, invalid := c.plan(nodeClaim)
	var created *v1.NodeClaim
	e := &Event{Name: string(MethodCreate), On: nodeClaim == nil}
	if nodeClaim != nil && c.options.OnEvent != nil {
		e.Claims = []*v1.NodeClaim{nodeClaim.DeepCopy()}
	}
	err := c.call(ctx, e, func(now time.Time) error {
		if invalid != nil {
			return invalid
		}
		if order.generation != c.catalog.generation {
			order.generation, order.order = c.catalog.generation, order.sorted(c.catalog.types)
		}
		own := owner{cluster: c.cluster, uid: nodeClaim.UID}
		m, exists := c.byOwner[own]
		if !exists {
			if err := c.nodeClassReady(nodeClaim.Spec.NodeClassRef); err != nil {
				return fmt.Errorf("launching nodeclaim %q: %w", nodeClaim.Name, err)
			}
			chosen, err := c.choose(order, now)
			if err != nil {
				return fmt.Errorf("launching nodeclaim %q: %w", nodeClaim.Name, err)
			}
			m = c.launch(own, nodeClaim, chosen, now)
		}
		created = m.claim()
		e.ProviderID = m.ProviderID
		return nil
	})
	if err != nil {
		return nil, err
	}
	return created, nil
}

// launchPlan contains the requests of a claim and the compatible offerings.
type launchPlan struct {
	want     requirements.Set
	requests corev1.ResourceList
	cost     cloudprovider.LaunchCost // nil for prices
	order    []cloudprovider.Candidate
	// generation is the generation of the prices by which the offerings were sorted.
	generation int
}

// plan parses a claim. A claim that plan refuses can never be launched, so the error is permanent.
func (c *Cloud) plan(nodeClaim *v1.NodeClaim) (launchPlan, error) {
	if nodeClaim == nil {
		return launchPlan{}, cloudprovider.NewPermanentError(errors.New("the nodeclaim is nil"))
	}
	refuse := func(err error) (launchPlan, error) {
		return launchPlan{}, fmt.Errorf("launching nodeclaim %q: %w", nodeClaim.Name, cloudprovider.NewPermanentError(err))
	}
	if nodeClaim.UID == "" {
		return refuse(errors.New("metadata.uid is empty: without it a repeated call would launch a second instance"))
	}
	if err := c.checkNodeClass(nodeClaim.Spec.NodeClassRef); err != nil {
		return refuse(err)
	}
	want, err := c.vocabulary.ParseSet(nodeClaim.Spec.Requirements)
	if err != nil {
		return refuse(fmt.Errorf("spec.requirements: %w", err))
	}
	requests := nodeClaim.Spec.Resources.Requests
	c.mu.Lock()
	types, generation := c.catalog.types, c.catalog.generation
	c.mu.Unlock()
	p := launchPlan{want: want, requests: requests, generation: generation}
	if c.options.LaunchCost != nil {
		p.cost = c.options.LaunchCost(v1.PoolOf(nodeClaim.Labels))
	}
	p.order = p.sorted(types)
	return p, nil
}

// sorted returns the compatible offerings of the types, in the order in which a launch tries them. If expected costs are given, spot
// offerings that cost more than the cheapest on-demand offering with capacity come last.
func (p launchPlan) sorted(types []*cloudprovider.InstanceType) []cloudprovider.Candidate {
	order := cloudprovider.LaunchOrderBy(types, p.want, p.requests, p.cost)
	if p.cost == nil {
		return order
	}
	limit := math.Inf(1)
	for _, candidate := range order {
		if candidate.Offering.CapacityType() == v1.CapacityTypeOnDemand && candidate.Offering.HasRoom() {
			limit = min(limit, p.cost.Of(candidate))
		}
	}
	expensive := func(candidate cloudprovider.Candidate) bool {
		return candidate.Offering.CapacityType() == v1.CapacityTypeSpot && p.cost.Of(candidate) > limit
	}
	last := slices.DeleteFunc(slices.Clone(order), func(c cloudprovider.Candidate) bool { return !expensive(c) })
	return append(slices.DeleteFunc(order, expensive), last...)
}

// unmet returns an error with the requirements and requests that no offering meets.
func (p launchPlan) unmet() error {
	wanted := make([]string, 0, len(p.requests))
	for _, name := range slices.Sorted(maps.Keys(p.requests)) {
		quantity := p.requests[name]
		wanted = append(wanted, fmt.Sprintf("%s=%s", name, quantity.String()))
	}
	return fmt.Errorf("the NodeClaim requires %q and room for %v", p.want, wanted)
}

// choice is the offering with which an instance is bought.
type choice struct {
	cloudprovider.Candidate
	key   cloudprovider.OfferingKey
	state *offeringState
	want  requirements.Set
}

// choose takes an instance from the first offering that has stock and whose quotas are not used up. Available offerings that it tried
// before in vain are shown as unavailable from then on.
func (c *Cloud) choose(plan launchPlan, now time.Time) (choice, error) {
	var empty, limited []cloudprovider.OfferingKey
	var limit string
	empties := c.chance.is(c.chance.OutOfStock) // whether the first offering that is tried becomes out of stock
	for _, candidate := range plan.order {
		key := candidate.Key()
		state := c.catalog.offerings[key]
		if c.catalog.available(state, now) {
			if empties {
				empties, state.emptyUntil = false, now.Add(*c.chance.EmptyFor)
			}
			q := c.usedUp(key)
			if q == nil && c.catalog.take(state, now) {
				return choice{candidate, key, state, plan.want}, nil
			}
			c.catalog.close(state, now.Add(c.stockOutMemory))
			if q != nil {
				limit, limited = q.name, append(limited, key)
				continue
			}
		}
		empty = append(empty, key)
	}
	switch {
	case len(plan.order) == 0:
		return choice{}, cloudprovider.NewInsufficientCapacityError(plan.unmet())
	case len(limited) == 0:
		return choice{}, cloudprovider.NewInsufficientCapacityError(nil, empty...)
	case len(empty) == 0:
		return choice{}, cloudprovider.NewQuotaExceededError(limit, nil, limited...)
	}
	return choice{}, errors.Join(cloudprovider.NewQuotaExceededError(limit, nil, limited...), cloudprovider.NewInsufficientCapacityError(nil, empty...))
}

// launch makes the instance and plans its start.
func (c *Cloud) launch(own owner, nodeClaim *v1.NodeClaim, chosen choice, now time.Time) *instance {
	c.launched++
	id := fmt.Sprintf("i-%08d", c.launched)
	labels := instanceLabels(chosen.Type.MachineRequirements(chosen.Offering), chosen.want)
	m := &instance{
		owner:       own,
		labels:      labels,
		reservation: chosen.state.reservation,
		Instance: Instance{
			ProviderID:     fmt.Sprintf("%s:///%s/%s", c.name, chosen.key.Zone, id),
			NodeName:       id,
			Phase:          Pending,
			Offering:       chosen.key,
			Price:          chosen.Offering.Price,
			ImageID:        c.imageID,
			KubeletVersion: c.kubeletVersion,
			Tags:           tags(c.cluster, nodeClaim),
			Labels:         maps.Clone(labels),
			Taints:         bootTaints(nodeClaim),
			Capacity:       chosen.Type.CapacityOf(chosen.Offering),
			Allocatable:    chosen.Type.AllocatableOf(chosen.Offering),
			LaunchedAt:     now,
			RunningAt:      now.Add(c.options.LaunchLatency),
		},
	}
	maps.Copy(m.Labels, nodeClaim.Labels)
	c.instances[m.ProviderID] = m
	c.byOwner[own] = m
	m.stillborn = c.chance.is(c.chance.Stillborn)
	c.timeline.plan(m.RunningAt, func(at time.Time) { c.run(m, at) })
	c.forecast(m)
	return m
}

// instanceLabels returns the instance's own labels. For a key with several allowed values, it uses the first value.
func instanceLabels(instance, want requirements.Set) map[string]string {
	labels := map[string]string{}
	for r := range instance.All {
		if allowed := r.Intersect(want.Get(r.Key())); len(allowed.Values()) > 0 && !allowed.Complement() {
			labels[r.Key()] = allowed.Values()[0]
		}
	}
	return labels
}

func tags(cluster string, nodeClaim *v1.NodeClaim) map[string]string {
	tags := map[string]string{
		TagCluster:      cluster,
		TagNodeClaim:    nodeClaim.Name,
		TagNodeClaimUID: string(nodeClaim.UID),
	}
	if pool := v1.PoolOf(nodeClaim.Labels); !pool.IsZero() {
		tags[pool.LabelKey()] = pool.Name
	}
	return tags
}

// bootTaints returns the taints with which the kubelet registers its node.
func bootTaints(nodeClaim *v1.NodeClaim) []corev1.Taint {
	unregistered := corev1.Taint{Key: v1.UnregisteredTaintKey, Effect: corev1.TaintEffectNoExecute}
	return slices.Concat([]corev1.Taint{unregistered}, nodeClaim.Spec.Taints, nodeClaim.Spec.StartupTaints)
}
