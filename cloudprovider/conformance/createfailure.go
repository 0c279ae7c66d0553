package conformance

import (
	"context"
	"errors"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

func (l *lab) createOutOfStock() {
	if l.SellOut == nil {
		l.Skip("needs the hook SellOut")
	}
	candidates := l.withRoom(2, v1.CapacityTypeOnDemand)
	chosen := candidates[:2]
	claim := l.claim(
		in(corev1.LabelInstanceTypeStable, chosen[0].Type.Name, chosen[1].Type.Name),
		in(v1.CapacityTypeLabelKey, v1.CapacityTypeOnDemand),
	)
	// The provider finds the first of the two offerings out of stock before the launch succeeds.
	first, second := chosen[0].Type.Name, chosen[1].Type.Name
	restock := l.SellOut(func(k cloudprovider.OfferingKey) bool {
		return k.InstanceType == first && k.CapacityType == v1.CapacityTypeOnDemand
	})
	before := shelf(l.types())
	created, err := l.tryCreate(claim)
	if err != nil {
		l.Fatalf("%q is out of stock and %q is not, but the launch failed: %v", first, second, err)
	}
	l.closed(before, l.NodePool, func(k cloudprovider.OfferingKey) bool {
		return k.InstanceType == first && k.CapacityType == v1.CapacityTypeOnDemand
	}, "after a launch that found them empty")
	restock()
	l.end(created)
	l.exhaust(claim)
}

// exhaust sells out all offerings that suit a claim, and checks the error of Create and the catalogue after it.
func (l *lab) exhaust(claim *v1.NodeClaim) {
	suits := map[cloudprovider.OfferingKey]bool{}
	var names []cloudprovider.OfferingKey
	for _, c := range l.order(claim) {
		suits[c.Key()] = true
		names = append(names, c.Key())
	}
	slices.SortFunc(names, cloudprovider.OfferingKey.Compare)
	names = slices.Compact(names)
	isOne := func(k cloudprovider.OfferingKey) bool { return suits[k] }
	restock := l.SellOut(isOne)
	before := shelf(l.types())
	next := l.claim()
	next.Spec.Requirements = claim.Spec.Requirements
	_, err := l.tryCreate(next)
	if !cloudprovider.IsInsufficientCapacity(err) {
		l.Fatalf("nothing that suits has stock: got %v, want kind %s", err, cloudprovider.InsufficientCapacity)
	}
	if named := cloudprovider.ExhaustedOfferings(err); !slices.Equal(named, names) {
		l.Errorf("the error names %v, out of stock are %v", named, names)
	}
	l.closed(before, l.NodePool, isOne, "after a launch that found nothing")
	l.closed(before, l.otherPool("conformance-other"), isOne, "to another nodepool")
	restock()
	if l.Failed() || l.Advance == nil {
		return
	}
	// An hour is long enough for any provider to forget a stock-out.
	l.Advance(time.Hour)
	for key, available := range shelf(l.types()) {
		if suits[key] && before[key] && !available {
			l.Errorf("offering %s is still unavailable an hour later, for no reason", key)
		}
	}
}

// closed compares the offerings that InstanceTypes shows as available now with the offerings available before. Exactly the offerings for
// which want returns true must have become unavailable.
func (l *lab) closed(before map[cloudprovider.OfferingKey]bool, pool *v1.NodePool, want func(cloudprovider.OfferingKey) bool, when string) {
	after := shelf(l.typesFor(pool))
	keys := make([]cloudprovider.OfferingKey, 0, len(before))
	for key := range before {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, cloudprovider.OfferingKey.Compare)
	for _, key := range keys {
		switch available, listed := after[key]; {
		case !listed: // CP-CATALOG-01 covers this
		case want(key) && available:
			l.Errorf("%s: offering %s is still shown as available", when, key)
		case !want(key) && before[key] && !available:
			l.Errorf("%s: offering %s is shown as unavailable, though nobody found it so", when, key)
		}
	}
}

func (l *lab) createOwnership() {
	claim := l.claim()
	provider := l.Provider
	if heal, err := l.inject(Fault{Method: MethodCreate, Kind: cloudprovider.Transient, Lost: true}); err == nil {
		if created, err := l.Provider.Create(l.Context(), claim); err == nil {
			l.own(created)
		}
		heal()
	} else {
		l.create(claim)
	}
	if l.Restart != nil {
		provider = l.Restart()
	}
	l.lag()
	for _, c := range l.listBy(provider) {
		if c.UID == claim.UID {
			l.own(c)
			if pool := v1.PoolOf(c.Labels); c.Name != claim.Name || pool != l.NodePool.Key() {
				l.Errorf("the instance is known as claim %q of nodepool %q, launched for %q of %q", c.Name, pool, claim.Name, l.NodePool.Key())
			}
			return
		}
	}
	if l.Instances == nil {
		return
	}
	known := map[string]bool{}
	for _, m := range l.instances() {
		known[m.ClaimUID] = true
	}
	if c := l.create(claim); c != nil && known[""] {
		l.Errorf("the cloud has an instance that bears no claim's UID, launched just now")
	}
}

func (l *lab) createLeavesNoOrphan() {
	ended, cancel := context.WithCancel(l.Context())
	cancel()
	claim := l.claim()
	if _, err := l.Provider.Create(ended, claim); err == nil {
		l.Error("Create launched an instance although its context had ended")
	}
	l.findable(claim)

	claim = l.claim()
	if heal, err := l.inject(Fault{Method: MethodCreate, Kind: cloudprovider.Transient, Lost: true}); err == nil {
		if created, err := l.Provider.Create(l.Context(), claim); err == nil {
			l.own(created)
		}
		heal()
		l.findable(claim)
	}
	if l.Stall == nil {
		return
	}
	claim = l.claim()
	release, err := l.Stall(MethodCreate)
	if errors.Is(err, errors.ErrUnsupported) {
		return
	}
	if err != nil {
		l.Fatalf("stalling Create: %v", err)
	}
	soon, cancel := context.WithTimeout(l.Context(), 50*time.Millisecond)
	defer cancel()
	if created, err := l.Provider.Create(soon, claim); err == nil {
		l.own(created)
	}
	release()
	l.findable(claim)
}

// findable compares the instances that exist for a claim after a failed launch with the results of List and of the next Create.
func (l *lab) findable(claim *v1.NodeClaim) {
	listed := l.list()
	if l.Instances != nil {
		for _, m := range l.instances() {
			if m.ClaimUID == string(claim.UID) && listed[m.ProviderID] == nil {
				l.Errorf("instance %q was left by a failed launch, and List does not show it", m.ProviderID)
			}
		}
	}
	var left string
	for id, c := range listed {
		if c.UID == claim.UID && c.DeletionTimestamp.IsZero() {
			left = id
			l.own(c)
		}
	}
	created, err := l.tryCreate(claim)
	if err != nil {
		l.Errorf("launching again after a failure: %v", err)
		return
	}
	if left != "" && created.Status.ProviderID != left {
		l.Errorf("a failed launch left instance %q, and the next gave %q", left, created.Status.ProviderID)
	}
}

func (l *lab) createNodeClass() {
	if l.SetNodeClass == nil {
		l.Skip("needs the hook SetNodeClass")
	}
	for _, state := range []NodeClassState{NodeClassUnready, NodeClassMissing, NodeClassTerminating} {
		if err := l.SetNodeClass(l.NodeClass, state); errors.Is(err, errors.ErrUnsupported) {
			continue
		} else if err != nil {
			l.Fatalf("making node class %q %s: %v", l.NodeClass.Name, state, err)
		}
		if _, err := l.tryCreate(l.claim()); !cloudprovider.IsNodeClassNotReady(err) {
			l.Errorf("node class %q is %s: got %v, want kind %s", l.NodeClass.Name, state, err, cloudprovider.NodeClassNotReady)
		}
	}
	if err := l.SetNodeClass(l.NodeClass, NodeClassReady); err != nil {
		l.Fatalf("making node class %q ready: %v", l.NodeClass.Name, err)
	}
	l.create(l.claim())
}
