package conformance_test

import (
	"context"
	"sync"
	"testing"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/cloudprovider/conformance"
	"github.com/drawknife/drawknife/fake"
)

// double is a fake cloud some of whose methods are replaced. Nil replaces nothing.
type double struct {
	*fake.Cloud
	describe   func() cloudprovider.Capabilities
	name       func() string
	types      func(context.Context, *v1.NodePool) ([]*cloudprovider.InstanceType, error)
	create     func(context.Context, *v1.NodeClaim) (*v1.NodeClaim, error)
	delete     func(context.Context, *v1.NodeClaim) error
	get        func(context.Context, string) (*v1.NodeClaim, error)
	list       func(context.Context) ([]*v1.NodeClaim, error)
	drifted    func(context.Context, *v1.NodeClaim) (cloudprovider.DriftReason, error)
	policies   func() []cloudprovider.RepairPolicy
	receive    func(context.Context) ([]cloudprovider.Interruption, error)
	ack        func(context.Context, ...string) error
	status     func(context.Context, v1.NodeClassReference) (cloudprovider.NodeClassReadiness, error)
	group      func(context.Context, []*v1.NodeClaim) ([]*v1.NodeClaim, error)
	registered func(context.Context, *v1.NodeClaim) (cloudprovider.GateResult, error)
	subject    *conformance.Subject
	restarts   int
	t          testing.TB
	clock      *fake.SimClock
	// state is held by hooks while they look at what they remember, never while they call: a call may hang.
	state        sync.Mutex
	forLaterOnes map[string]bool
}

func (d *double) Describe() cloudprovider.Capabilities {
	if d.describe != nil {
		return d.describe()
	}
	return d.Cloud.Describe()
}

func (d *double) Name() string {
	if d.name != nil {
		return d.name()
	}
	return d.Cloud.Name()
}

func (d *double) InstanceTypes(ctx context.Context, p *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
	if d.types != nil {
		return d.types(ctx, p)
	}
	return d.Cloud.InstanceTypes(ctx, p)
}

func (d *double) Create(ctx context.Context, c *v1.NodeClaim) (*v1.NodeClaim, error) {
	if d.create != nil {
		return d.create(ctx, c)
	}
	return d.Cloud.Create(ctx, c)
}

func (d *double) Delete(ctx context.Context, c *v1.NodeClaim) error {
	if d.delete != nil {
		return d.delete(ctx, c)
	}
	return d.Cloud.Delete(ctx, c)
}

func (d *double) Get(ctx context.Context, id string) (*v1.NodeClaim, error) {
	if d.get != nil {
		return d.get(ctx, id)
	}
	return d.Cloud.Get(ctx, id)
}

func (d *double) List(ctx context.Context) ([]*v1.NodeClaim, error) {
	if d.list != nil {
		return d.list(ctx)
	}
	return d.Cloud.List(ctx)
}

func (d *double) IsDrifted(ctx context.Context, c *v1.NodeClaim) (cloudprovider.DriftReason, error) {
	if d.drifted != nil {
		return d.drifted(ctx, c)
	}
	return d.Cloud.IsDrifted(ctx, c)
}

func (d *double) RepairPolicies() []cloudprovider.RepairPolicy {
	if d.policies != nil {
		return d.policies()
	}
	return d.Cloud.RepairPolicies()
}

func (d *double) ReceiveInterruptions(ctx context.Context) ([]cloudprovider.Interruption, error) {
	if d.receive != nil {
		return d.receive(ctx)
	}
	return d.Cloud.ReceiveInterruptions(ctx)
}

func (d *double) AckInterruptions(ctx context.Context, ids ...string) error {
	if d.ack != nil {
		return d.ack(ctx, ids...)
	}
	return d.Cloud.AckInterruptions(ctx, ids...)
}

func (d *double) NodeClassStatus(ctx context.Context, ref v1.NodeClassReference) (cloudprovider.NodeClassReadiness, error) {
	if d.status != nil {
		return d.status(ctx, ref)
	}
	return d.Cloud.NodeClassStatus(ctx, ref)
}

func (d *double) Registered(ctx context.Context, c *v1.NodeClaim) (cloudprovider.GateResult, error) {
	if d.registered != nil {
		return d.registered(ctx, c)
	}
	return d.Cloud.Registered(ctx, c)
}

// answers replaces how an instance is described, wherever it is.
func (d *double) answers(change func(*v1.NodeClaim)) {
	changed := func(c *v1.NodeClaim, err error) (*v1.NodeClaim, error) {
		if c != nil {
			change(c)
		}
		return c, err
	}
	d.create = func(ctx context.Context, c *v1.NodeClaim) (*v1.NodeClaim, error) {
		return changed(d.Cloud.Create(ctx, c))
	}
	d.get = func(ctx context.Context, id string) (*v1.NodeClaim, error) { return changed(d.Cloud.Get(ctx, id)) }
	d.listing(func(all []*v1.NodeClaim) []*v1.NodeClaim {
		for _, c := range all {
			change(c)
		}
		return all
	})
}

// listing replaces what List gives.
func (d *double) listing(change func([]*v1.NodeClaim) []*v1.NodeClaim) {
	d.list = func(ctx context.Context) ([]*v1.NodeClaim, error) {
		all, err := d.Cloud.List(ctx)
		return change(all), err
	}
}

// selling replaces single types, each by one copy as long as nothing about it changes.
func (d *double) selling(which func(*cloudprovider.InstanceType) bool, change func(*cloudprovider.InstanceType)) {
	copies := map[*cloudprovider.InstanceType]*cloudprovider.InstanceType{}
	d.types = func(ctx context.Context, p *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
		all, err := d.Cloud.InstanceTypes(ctx, p)
		d.state.Lock()
		defer d.state.Unlock()
		for i, t := range all {
			if !which(t) {
				continue
			}
			if copies[t] == nil {
				copies[t] = t.DeepCopy()
				change(copies[t])
			}
			all[i] = copies[t]
		}
		return all, err
	}
}

// errors replaces the errors of all methods of CloudProvider.
func (d *double) errors(change func(error) error) {
	changed := func(err error) error {
		if err == nil {
			return nil
		}
		return change(err)
	}
	d.types = func(ctx context.Context, p *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
		all, err := d.Cloud.InstanceTypes(ctx, p)
		return all, changed(err)
	}
	d.create = func(ctx context.Context, c *v1.NodeClaim) (*v1.NodeClaim, error) {
		created, err := d.Cloud.Create(ctx, c)
		return created, changed(err)
	}
	d.delete = func(ctx context.Context, c *v1.NodeClaim) error { return changed(d.Cloud.Delete(ctx, c)) }
	d.get = func(ctx context.Context, id string) (*v1.NodeClaim, error) {
		got, err := d.Cloud.Get(ctx, id)
		return got, changed(err)
	}
	d.list = func(ctx context.Context) ([]*v1.NodeClaim, error) {
		all, err := d.Cloud.List(ctx)
		return all, changed(err)
	}
}

// doubled is a factory of providers that are broken in one way.
func doubled(t testing.TB, break_ func(*double)) conformance.Subject {
	cloud, clock := newFake(t)
	s := subject(cloud, clock)
	d := &double{Cloud: cloud, subject: &s, t: t, clock: clock, forLaterOnes: map[string]bool{}}
	break_(d)
	s.Provider = d
	s.Restart = func() cloudprovider.CloudProvider {
		next := &double{
			Cloud: cloud.ForCluster(fake.DefaultCluster), subject: &s, t: t, clock: clock, restarts: d.restarts + 1, forLaterOnes: d.forLaterOnes,
		}
		break_(next)
		return next
	}
	return s
}
