package conformance_test

import (
	"context"
	"slices"
	"strings"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/cloudprovider/conformance"
)

func (d *double) CreateGroup(ctx context.Context, claims []*v1.NodeClaim) ([]*v1.NodeClaim, error) {
	if d.group != nil {
		return d.group(ctx, claims)
	}
	return d.Cloud.CreateGroup(ctx, claims)
}

// levelsOf are those that a provider that breaks the clause is checked for. Providers that break something else have no groups: what they
// break, groups would show once more.
func levelsOf(clause string) []conformance.Level {
	if strings.HasPrefix(clause, "CP-GROUP") {
		return conformance.Levels()
	}
	return slices.DeleteFunc(conformance.Levels(), func(l conformance.Level) bool { return l == conformance.Group })
}

func brokenGroups() []broken {
	return []broken{
		{clause: "CP-GROUP-01", what: "instances are described without their claims", how: func(d *double) {
			d.group = func(ctx context.Context, claims []*v1.NodeClaim) ([]*v1.NodeClaim, error) {
				created, err := d.Cloud.CreateGroup(ctx, claims)
				for _, c := range created {
					c.Name = ""
				}
				return created, err
			}
		}},
		{clause: "CP-GROUP-02", what: "a part of a group stays", how: func(d *double) {
			d.group = func(ctx context.Context, claims []*v1.NodeClaim) ([]*v1.NodeClaim, error) {
				created, err := d.Cloud.CreateGroup(ctx, claims)
				if cloudprovider.IsInsufficientCapacity(err) && len(cloudprovider.ExhaustedOfferings(err)) > 0 {
					alone := claims[0].DeepCopy()
					alone.Spec.Requirements = nil
					_, _ = d.Cloud.Create(ctx, alone)
				}
				return created, err
			}
		}},
		{clause: "CP-GROUP-03", what: "another process launches the group again", how: func(d *double) {
			d.group = func(ctx context.Context, claims []*v1.NodeClaim) ([]*v1.NodeClaim, error) {
				created, err := d.Cloud.CreateGroup(ctx, claims)
				// A loss is for CP-GROUP-04, a partial group for CP-GROUP-05: they get no answer before the restart, or none after it.
				if err != nil || d.restarts == 0 || !d.remembers(claims[0], "answered") {
					if err == nil && d.restarts == 0 {
						d.remember(claims[0], "answered")
					}
					return created, err
				}
				for _, c := range created {
					if err := d.Cloud.Delete(ctx, c); err != nil {
						return nil, err
					}
				}
				return d.Cloud.CreateGroup(ctx, claims)
			}
		}},
		{clause: "CP-GROUP-04", what: "a lost answer leaves a part", how: func(d *double) {
			d.group = func(ctx context.Context, claims []*v1.NodeClaim) ([]*v1.NodeClaim, error) {
				created, err := d.Cloud.CreateGroup(ctx, claims)
				if cloudprovider.IsTransient(err) {
					all, _ := d.Cloud.List(ctx)
					for _, c := range all {
						if c.UID == claims[0].UID {
							_ = d.Cloud.Delete(ctx, c)
						}
					}
				}
				return created, err
			}
		}},
		{clause: "CP-GROUP-05", what: "a group that has lost an instance gets another", how: func(d *double) {
			d.group = func(ctx context.Context, claims []*v1.NodeClaim) ([]*v1.NodeClaim, error) {
				created, err := d.Cloud.CreateGroup(ctx, claims)
				if !cloudprovider.IsInsufficientCapacity(err) || len(cloudprovider.ExhaustedOfferings(err)) > 0 {
					return created, err
				}
				created = nil
				for _, c := range claims {
					one, err := d.Cloud.Create(ctx, c)
					if err != nil {
						return nil, err
					}
					created = append(created, one)
				}
				return created, nil
			}
		}},
	}
}

// remember and remembers are what the provider's processes have in common.
func (d *double) remember(c *v1.NodeClaim, what string) {
	d.state.Lock()
	defer d.state.Unlock()
	d.forLaterOnes[what+string(c.UID)] = true
}

func (d *double) remembers(c *v1.NodeClaim, what string) bool {
	d.state.Lock()
	defer d.state.Unlock()
	return d.forLaterOnes[what+string(c.UID)]
}
