package provisioning

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/drawknife/drawknife/api/option"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

// PoolSet has the NodePools of a pass and their instance types, for a Snapshot.
type PoolSet struct {
	// NodePools are all pools that own or may launch nodes, by key. Pools that must not launch now have a reason (NotReady).
	NodePools []scheduling.NodePool
	// Catalogs are the lists of instance types to which NodePools refer. Pools with the same types share a list.
	Catalogs map[string][]*cloudprovider.InstanceType
	// Events are about pools without any instance type.
	Events []Event
}

// ResolvePools asks the provider for the instance types of every pool that may launch nodes at the time now: the provider supports
// its kind of node class, the pool is ready by the conditions that PoolStatus writes, and it is not being deleted. Static pools and
// pools that may not launch are included as owners of their nodes, with their instance types if the provider returns them. A pool whose
// types can't be read launches nothing, with the reason, and does not affect the others; it is an error only if ctx ended. estimate may be
// nil; it closes offerings that are probably out of stock. The key of each pool contains the API version in which it was created
// (v1.GenerationOf).
func ResolvePools(ctx context.Context, provider cloudprovider.CloudProvider, pools []*v1.NodePool, estimate *StockEstimate, now time.Time) (*PoolSet, error) {
	switch {
	case provider == nil:
		return nil, option.Missing("ResolvePools", "the provider")
	case slices.Contains(pools, nil):
		return nil, option.Missing("ResolvePools", fmt.Sprintf("pools[%d]", slices.Index(pools, nil)))
	}
	set := &PoolSet{Catalogs: map[string][]*cloudprovider.InstanceType{}}
	capabilities := provider.Describe()
	sorted := slices.SortedFunc(slices.Values(pools), func(a, b *v1.NodePool) int {
		return a.Key().Compare(b.Key())
	})
	for _, pool := range sorted {
		entry := scheduling.NodePool{Key: pool.Key(), Object: pool, NotReady: notReady(pool, capabilities)}
		if capabilities.SupportsNodeClass(pool.Spec.Template.Spec.NodeClassRef) {
			types, err := provider.InstanceTypes(ctx, pool)
			if ctx.Err() != nil {
				return nil, fmt.Errorf("instance types of nodepool %s: %w", v1.QualifiedName(pool), errors.Join(ctx.Err(), err))
			}
			set.add(&entry, types, err, estimate, now)
		}
		set.NodePools = append(set.NodePools, entry)
	}
	return set, nil
}

// notReady returns why the pool must not launch nodes, or "" if it may.
func notReady(pool *v1.NodePool, capabilities cloudprovider.Capabilities) string {
	ref := pool.Spec.Template.Spec.NodeClassRef
	switch {
	case pool.DeletionTimestamp != nil:
		return "it is being deleted"
	case !capabilities.SupportsNodeClass(ref):
		return fmt.Sprintf("its node class is of kind %s in group %q, which the provider does not serve", ref.Kind, ref.Group)
	}
	conditions := pool.Conditions()
	if conditions.IsTrue(v1.ConditionReady) {
		return ""
	}
	for _, kind := range []string{v1.ConditionValidationSucceeded, v1.ConditionNodeClassReady} {
		if conditions.IsTrue(kind) {
			continue
		}
		switch c := conditions.Get(kind); {
		case c.Message != "":
			return c.Message
		case !conditions.Has(kind):
			return "its status has no condition " + kind + " yet: provisioning.PoolStatus computes it, and it has to be written before pools are resolved"
		}
		return "its condition " + kind + " is not True"
	}
	return "its condition Ready is not True"
}

// add gives the pool its catalog.
func (s *PoolSet) add(entry *scheduling.NodePool, types []*cloudprovider.InstanceType, err error, stock *StockEstimate, now time.Time) {
	owner := entry.NotReady != "" || entry.Object.Spec.Replicas != nil
	switch {
	case owner && (err != nil || len(types) == 0):
		return // plans never launch its nodes anyway
	case cloudprovider.IsUnevaluatedNodePool(err):
		entry.NotReady = "its instance types have yet to be evaluated"
	case err != nil:
		entry.NotReady = fmt.Sprintf("its instance types could not be found out: %v", err)
	case len(types) == 0:
		entry.NotReady = "it has no instance types"
	}
	if entry.NotReady != "" && !owner {
		s.Events = append(s.Events, Event{
			Kind: "NodePool", Name: entry.Object.Name, UID: entry.Object.UID, Warning: true, Reason: EventNoCompatibleInstanceTypes,
			Message: entry.NotReady, Every: every(noCompatibleEvery),
		})
		return
	}
	if stock != nil {
		types = stock.Apply(types, now)
	}
	for name, known := range s.Catalogs {
		if slices.Equal(known, types) {
			entry.Catalog = name
			return
		}
	}
	// The list is named after the first pool that uses it.
	entry.Catalog = entry.Key.String()
	s.Catalogs[entry.Catalog] = types
}
