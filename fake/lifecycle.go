package fake

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// run changes the phase of an instance from pending to running, or shuts the instance down if it is stillborn.
func (a *account) run(m *instance, at time.Time) {
	if m.Phase != Pending {
		return
	}
	if m.stillborn {
		a.happened("Stillborn", m, at)
		a.shutDown(m, at)
		return
	}
	m.Phase = Running
	a.happened("Running", m, at)
	a.queueHook(a.options.OnLaunch, m)
}

// shutDown starts to shut down a live instance. From then on, another instance may be launched for its claim.
func (a *account) shutDown(m *instance, at time.Time) {
	if !m.live() {
		return
	}
	m.Phase = ShuttingDown
	m.ShutdownAt = at
	m.GoneAt = at.Add(a.options.ShutdownLatency)
	a.happened("ShuttingDown", m, at)
	delete(a.byOwner, m.owner)
	a.timeline.plan(m.GoneAt, func(time.Time) { a.end(m) })
}

// end removes an instance that is gone.
func (a *account) end(m *instance) {
	m.Phase = Gone
	delete(a.instances, m.ProviderID)
	a.happened("Gone", m, m.GoneAt)
	if a.options.ListLag > 0 {
		a.departed = slices.DeleteFunc(a.departed, func(d *instance) bool { return !m.GoneAt.Before(d.GoneAt.Add(a.options.ListLag)) })
		a.departed = append(a.departed, m)
	}
	a.catalog.changeReservation(m.reservation, 1)
	a.queueHook(a.options.OnTerminate, m)
}

// find returns the instance with this provider ID if this cluster owns it.
func (c *Cloud) find(providerID string) (*instance, error) {
	m, ok := c.instances[providerID]
	if !ok || m.Tags[TagCluster] != c.cluster {
		return nil, cloudprovider.NewNodeClaimNotFoundError(providerID, nil)
	}
	return m, nil
}

// onInstance carries out a call that concerns the instance of a claim. It uses only the claim's provider ID.
func (c *Cloud) onInstance(ctx context.Context, method Method, nodeClaim *v1.NodeClaim, work func(m *instance, now time.Time)) error {
	e := &Event{Name: string(method), On: nodeClaim == nil}
	if nodeClaim != nil {
		e.ProviderID, e.Text = nodeClaim.Status.ProviderID, nodeClaim.Name
	}
	return c.call(ctx, e, func(now time.Time) error {
		if nodeClaim == nil {
			return cloudprovider.NewNodeClaimNotFoundError("", nil)
		}
		m, err := c.find(nodeClaim.Status.ProviderID)
		if err != nil {
			return fmt.Errorf("calling %s for nodeclaim %q: %w", method, nodeClaim.Name, err)
		}
		work(m, now)
		return nil
	})
}

// Delete starts to shut down the claim's instance. If the instance is already shutting down, Delete changes nothing and returns nil.
func (c *Cloud) Delete(ctx context.Context, nodeClaim *v1.NodeClaim) error {
	return c.onInstance(ctx, MethodDelete, nodeClaim, func(m *instance, now time.Time) { c.shutDown(m, now) })
}

// Get describes one of this cluster's instances.
func (c *Cloud) Get(ctx context.Context, providerID string) (*v1.NodeClaim, error) {
	var found *v1.NodeClaim
	err := c.call(ctx, &Event{Name: string(MethodGet), ProviderID: providerID}, func(time.Time) error {
		m, err := c.find(providerID)
		if err != nil {
			return err
		}
		found = m.claim()
		return nil
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// List describes all of this cluster's instances, ordered by provider ID. Changes appear in it only after Options.ListLag.
func (c *Cloud) List(ctx context.Context) ([]*v1.NodeClaim, error) {
	var claims []*v1.NodeClaim
	e := &Event{Name: string(MethodList)}
	err := c.call(ctx, e, func(now time.Time) error {
		known := now.Add(-c.options.ListLag)
		for _, m := range c.instances {
			if m.Tags[TagCluster] == c.cluster && !m.LaunchedAt.After(known) {
				claims = append(claims, m.asOf(known))
			}
		}
		for _, m := range c.departed {
			if m.Tags[TagCluster] == c.cluster && m.GoneAt.After(known) && !m.LaunchedAt.After(known) {
				claims = append(claims, m.asOf(known))
			}
		}
		e.Number = len(claims)
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(claims, func(a, b *v1.NodeClaim) int { return strings.Compare(a.Status.ProviderID, b.Status.ProviderID) })
	return claims, nil
}

// Instances returns the instances of all clusters that are not gone, ordered by provider ID, like the console of a cloud. It is not a
// method of the provider, so faults don't affect it.
func (c *Cloud) Instances() []Instance {
	now := c.clock.Now()
	defer c.runHooks()
	c.mu.Lock()
	defer c.mu.Unlock()
	now = c.notBefore(now)
	c.catchUp(now)
	instances := make([]Instance, 0, len(c.instances))
	for _, m := range c.instances {
		instances = append(instances, m.snapshot())
	}
	slices.SortFunc(instances, func(a, b Instance) int { return strings.Compare(a.ProviderID, b.ProviderID) })
	return instances
}

// Instance returns the instance with this provider ID, of any cluster. It returns false if the instance does not exist or is gone. It is
// not a method of the provider, so faults don't affect it.
func (c *Cloud) Instance(providerID string) (Instance, bool) {
	now := c.clock.Now()
	defer c.runHooks()
	c.mu.Lock()
	defer c.mu.Unlock()
	now = c.notBefore(now)
	c.catchUp(now)
	m, ok := c.instances[providerID]
	if !ok {
		return Instance{}, false
	}
	return m.snapshot(), true
}

// SetKubeletVersion sets the kubelet version of new instances; existing instances keep their version.
func (c *Cloud) SetKubeletVersion(version string) {
	_ = c.lever(Event{Name: "SetKubeletVersion", Text: version}, func(time.Time) error {
		c.kubeletVersion = version
		return nil
	})
}
