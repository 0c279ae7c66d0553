package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/cloudprovider/conformance"
	"github.com/drawknife/drawknife/fake"
)

func onDemand(k cloudprovider.OfferingKey) bool { return k.CapacityType == v1.CapacityTypeOnDemand }

func brokenLaunches() []broken {
	without := func(c *v1.NodeClaim, key string) *v1.NodeClaim {
		c = c.DeepCopy()
		c.Spec.Requirements = slices.DeleteFunc(c.Spec.Requirements, func(r v1.NodeSelectorRequirementWithMinValues) bool { return r.Key == key })
		return c
	}
	names := func(c *v1.NodeClaim, key string) bool {
		return slices.ContainsFunc(c.Spec.Requirements, func(r v1.NodeSelectorRequirementWithMinValues) bool { return r.Key == key })
	}
	with := func(c *v1.NodeClaim, key string, values ...string) *v1.NodeClaim {
		c = c.DeepCopy()
		c.Spec.Requirements = append(c.Spec.Requirements, v1.NodeSelectorRequirementWithMinValues{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values})
		return c
	}
	return []broken{
		{clause: "CP-CREATE-01", what: "the zone is passed over", how: func(d *double) {
			d.create = func(ctx context.Context, c *v1.NodeClaim) (*v1.NodeClaim, error) {
				return d.Cloud.Create(ctx, without(c, corev1.LabelTopologyZone))
			}
		}},
		{clause: "CP-CREATE-01", what: "requests are passed over", how: func(d *double) {
			d.create = func(ctx context.Context, c *v1.NodeClaim) (*v1.NodeClaim, error) {
				c = c.DeepCopy()
				c.Spec.Resources.Requests = nil
				return d.Cloud.Create(ctx, c)
			}
		}},
		{clause: "CP-CREATE-02", what: "a claim without UID is launched", how: func(d *double) {
			n := 0
			d.create = func(ctx context.Context, c *v1.NodeClaim) (*v1.NodeClaim, error) {
				if c.UID == "" {
					d.state.Lock()
					n++
					c = c.DeepCopy()
					c.UID = types.UID(fmt.Sprint("made-up-", n))
					d.state.Unlock()
				}
				return d.Cloud.Create(ctx, c)
			}
		}},
		{clause: "CP-CREATE-02", what: "the next process launches a second instance", how: func(d *double) {
			suffix := fmt.Sprint("#", d.restarts)
			d.answers(func(c *v1.NodeClaim) {
				uid, _, _ := strings.Cut(string(c.UID), "#")
				c.UID = types.UID(uid)
			})
			create := d.create
			d.create = func(ctx context.Context, c *v1.NodeClaim) (*v1.NodeClaim, error) {
				if d.restarts > 0 && c.UID != "" {
					c = c.DeepCopy()
					c.UID += types.UID(suffix)
				}
				return create(ctx, c)
			}
		}},
		{clause: "CP-CREATE-03", what: "the dearest is bought", how: func(d *double) {
			d.create = func(ctx context.Context, c *v1.NodeClaim) (*v1.NodeClaim, error) {
				if names(c, v1.CapacityTypeLabelKey) && !names(c, corev1.LabelInstanceTypeStable) {
					c = with(c, corev1.LabelInstanceTypeStable, "m1.24xlarge")
				}
				return d.Cloud.Create(ctx, c)
			}
		}},
		{clause: "CP-CREATE-04", what: "nodes join without the unregistered taint", how: func(d *double) {
			instances := d.subject.Instances
			d.subject.Instances = func(ctx context.Context) ([]conformance.Instance, error) {
				all, err := instances(ctx)
				for i := range all {
					all[i].Taints = slices.DeleteFunc(all[i].Taints, func(t corev1.Taint) bool { return t.Key == v1.UnregisteredTaintKey })
				}
				return all, err
			}
		}},
		{clause: "CP-CREATE-05", what: "the image is not told", how: func(d *double) {
			d.answers(func(c *v1.NodeClaim) { c.Status.ImageID = "" })
		}},
		{clause: "CP-CREATE-05", what: "a label is not told", how: func(d *double) {
			d.answers(func(c *v1.NodeClaim) { delete(c.Labels, fake.LabelInstanceFamily) })
		}},
		{clause: "CP-CREATE-06", what: "the claim is written to", how: func(d *double) {
			d.create = func(ctx context.Context, c *v1.NodeClaim) (*v1.NodeClaim, error) {
				if c.Annotations != nil {
					c.Annotations["launched"] = "yes"
				}
				return d.Cloud.Create(ctx, c)
			}
		}},
		{clause: "CP-CREATE-07", what: "stock-outs are forgotten", how: func(d *double) {
			d.create = func(ctx context.Context, c *v1.NodeClaim) (*v1.NodeClaim, error) {
				defer d.SetAvailable(true, onDemand)
				return d.Cloud.Create(ctx, c)
			}
		}},
		{clause: "CP-CREATE-07", what: "another capacity type is closed", how: func(d *double) {
			d.create = func(ctx context.Context, c *v1.NodeClaim) (*v1.NodeClaim, error) {
				created, err := d.Cloud.Create(ctx, c)
				for _, key := range cloudprovider.ExhaustedOfferings(err) {
					if onDemand(key) {
						d.SetAvailable(true, func(k cloudprovider.OfferingKey) bool { return k == key })
						key.CapacityType = v1.CapacityTypeSpot
						d.SetAvailable(false, func(k cloudprovider.OfferingKey) bool { return k == key })
					}
				}
				return created, err
			}
		}},
		{clause: "CP-CREATE-07", what: "exhaustion has no kind", how: func(d *double) {
			d.create = func(ctx context.Context, c *v1.NodeClaim) (*v1.NodeClaim, error) {
				created, err := d.Cloud.Create(ctx, c)
				if slices.ContainsFunc(cloudprovider.ExhaustedOfferings(err), onDemand) {
					return nil, errors.New("no instances left")
				}
				return created, err
			}
		}},
		{clause: "CP-CREATE-07", what: "closed offerings never open again", how: func(d *double) {
			d.create = func(ctx context.Context, c *v1.NodeClaim) (*v1.NodeClaim, error) {
				created, err := d.Cloud.Create(ctx, c)
				d.SetAvailable(false, func(k cloudprovider.OfferingKey) bool {
					return onDemand(k) && slices.Contains(cloudprovider.ExhaustedOfferings(err), k)
				})
				return created, err
			}
		}},
		{clause: "CP-CREATE-08", what: "the nodepool is known to the process alone", how: func(d *double) {
			if d.restarts > 0 {
				d.listing(func(all []*v1.NodeClaim) []*v1.NodeClaim {
					for _, c := range all {
						delete(c.Labels, v1.NodePoolLabelKey)
					}
					return all
				})
			}
		}},
		{clause: "CP-CREATE-09", what: "what a lost answer was about is not listed", how: func(d *double) {
			hidden := map[types.UID]bool{}
			d.create = func(ctx context.Context, c *v1.NodeClaim) (*v1.NodeClaim, error) {
				created, err := d.Cloud.Create(ctx, c)
				d.state.Lock()
				defer d.state.Unlock()
				hidden[c.UID] = err != nil
				return created, err
			}
			d.listing(func(all []*v1.NodeClaim) []*v1.NodeClaim {
				d.state.Lock()
				defer d.state.Unlock()
				return slices.DeleteFunc(all, func(c *v1.NodeClaim) bool { return hidden[c.UID] })
			})
		}},
		{clause: "CP-CREATE-10", what: "a node class that is not ready has an error of its own", how: func(d *double) {
			d.create = func(ctx context.Context, c *v1.NodeClaim) (*v1.NodeClaim, error) {
				created, err := d.Cloud.Create(ctx, c)
				if cloudprovider.IsNodeClassNotReady(err) {
					return nil, errors.New("no subnets")
				}
				return created, err
			}
		}},
		{clause: "CP-CREATE-11", what: "instances have more than is shown", how: func(d *double) {
			d.answers(func(c *v1.NodeClaim) { c.Status.Capacity[corev1.ResourcePods] = resource.MustParse("999") })
		}},
		{clause: "CP-SPOT-01", what: "on-demand is bought before spot", how: func(d *double) {
			d.create = func(ctx context.Context, c *v1.NodeClaim) (*v1.NodeClaim, error) {
				for i, r := range c.Spec.Requirements {
					if r.Key == v1.CapacityTypeLabelKey && len(r.Values) == 2 && slices.Contains(r.Values, v1.CapacityTypeOnDemand) && !names(c, corev1.LabelInstanceTypeStable) {
						c = c.DeepCopy()
						c.Spec.Requirements[i].Values = []string{v1.CapacityTypeOnDemand}
					}
				}
				return d.Cloud.Create(ctx, c)
			}
		}},
		{clause: "CP-SPOT-02", what: "with spot, on-demand is closed", how: func(d *double) {
			d.create = func(ctx context.Context, c *v1.NodeClaim) (*v1.NodeClaim, error) {
				created, err := d.Cloud.Create(ctx, c)
				for _, key := range cloudprovider.ExhaustedOfferings(err) {
					if key.CapacityType == v1.CapacityTypeSpot {
						key.CapacityType = v1.CapacityTypeOnDemand
						d.SetAvailable(false, func(k cloudprovider.OfferingKey) bool { return k == key })
					}
				}
				return created, err
			}
		}},
		{clause: "CP-SPOT-03", what: "an instance taken back runs for ever", how: func(d *double) {
			taken := d.forLaterOnes
			interrupt := d.subject.Interrupt
			d.subject.Interrupt = func(id string, kind cloudprovider.InterruptionKind, notice time.Duration) error {
				taken[id] = kind == cloudprovider.InterruptionSpotReclaim
				return interrupt(id, kind, notice)
			}
			d.get = func(ctx context.Context, id string) (*v1.NodeClaim, error) {
				got, err := d.Cloud.Get(ctx, id)
				if taken[id] {
					got = &v1.NodeClaim{}
					got.Status.ProviderID = id
					return got, nil
				}
				return got, err
			}
		}},
		{clause: "CP-RESERVED-01", what: "reservations are left alone", how: func(d *double) {
			d.create = func(ctx context.Context, c *v1.NodeClaim) (*v1.NodeClaim, error) {
				if c.UID != "" && !names(c, v1.CapacityTypeLabelKey) && len(c.Spec.Resources.Requests) == 1 {
					c = with(c, v1.CapacityTypeLabelKey, v1.CapacityTypeSpot, v1.CapacityTypeOnDemand)
				}
				return d.Cloud.Create(ctx, c)
			}
		}},
		{clause: "CP-RESERVED-02", what: "the room left is not counted", how: func(d *double) {
			d.selling(func(t *cloudprovider.InstanceType) bool { return t.Name == "m1.medium" }, func(t *cloudprovider.InstanceType) {
				t.Offerings[len(t.Offerings)-1].ReservationCapacity = 3
			})
		}},
		{clause: "CP-RESERVED-03", what: "a full reservation is stretched on demand", how: func(d *double) {
			d.create = func(ctx context.Context, c *v1.NodeClaim) (*v1.NodeClaim, error) {
				created, err := d.Cloud.Create(ctx, c)
				if cloudprovider.IsInsufficientCapacity(err) && names(c, fake.LabelReservationID) && created == nil && !d.forLaterOnes["sold out"] {
					return d.Cloud.Create(ctx, without(without(c, fake.LabelReservationID), v1.CapacityTypeLabelKey))
				}
				return created, err
			}
		}},
	}
}
