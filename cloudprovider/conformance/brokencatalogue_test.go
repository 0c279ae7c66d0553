package conformance_test

import (
	"context"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/cloudprovider/conformance"
	"github.com/drawknife/drawknife/fake"
)

func brokenDescriptions() []broken {
	lastClosed := map[cloudprovider.OfferingKey]bool{} // a package variable, as far as providers are concerned
	return []broken{
		{clause: "CP-DESCRIBE-01", what: "the declaration changes with the first launch", how: func(d *double) {
			launched := false
			d.create = func(ctx context.Context, c *v1.NodeClaim) (*v1.NodeClaim, error) {
				d.state.Lock()
				launched = true
				d.state.Unlock()
				return d.Cloud.Create(ctx, c)
			}
			d.describe = func() cloudprovider.Capabilities {
				c := d.Cloud.Describe()
				d.state.Lock()
				defer d.state.Unlock()
				if launched {
					c.LaunchTimeout.Duration = time.Hour
				}
				return c
			}
		}},
		{clause: "CP-DESCRIBE-02", what: "a node class kind is declared twice", how: func(d *double) {
			d.describe = func() cloudprovider.Capabilities {
				c := d.Cloud.Describe()
				c.NodeClasses = append(c.NodeClasses, c.NodeClasses[0])
				return c
			}
		}},
		{clause: "CP-DESCRIBE-03", what: "the zone label of the CSI driver is no alias", how: func(d *double) {
			d.describe = func() cloudprovider.Capabilities {
				c := d.Cloud.Describe()
				delete(c.Vocabulary.Aliases, "topology.csi.fake.drawknife.test/zone")
				return c
			}
		}},
		{clause: "CP-DESCRIBE-04", what: "capacity types are not listed", how: func(d *double) {
			d.describe = func() cloudprovider.Capabilities {
				c := d.Cloud.Describe()
				delete(c.LabelValues, v1.CapacityTypeLabelKey)
				return c
			}
		}},
		{clause: "CP-DESCRIBE-05", what: "stock-outs are remembered in a package variable", how: func(d *double) {
			d.SetAvailable(false, func(k cloudprovider.OfferingKey) bool { return lastClosed[k] })
			d.create = func(ctx context.Context, c *v1.NodeClaim) (*v1.NodeClaim, error) {
				created, err := d.Cloud.Create(ctx, c)
				d.state.Lock()
				defer d.state.Unlock()
				if named := cloudprovider.ExhaustedOfferings(err); len(named) == 1 {
					clear(lastClosed)
					lastClosed[named[0]] = true
				}
				return created, err
			}
		}},
		{clause: "CP-DESCRIBE-06", what: "the name is in capitals", how: func(d *double) {
			d.name = func() string { return "FAKE" }
		}},
	}
}

func copiesOf(types []*cloudprovider.InstanceType) []*cloudprovider.InstanceType {
	copies := make([]*cloudprovider.InstanceType, len(types))
	for i, t := range types {
		copies[i] = t.DeepCopy()
	}
	return copies
}

func brokenCatalogues() []broken {
	return []broken{
		{clause: "CP-CATALOG-01", what: "types without an available offering are left out", how: func(d *double) {
			d.types = func(ctx context.Context, p *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
				all, err := d.Cloud.InstanceTypes(ctx, p)
				return slices.DeleteFunc(all, func(t *cloudprovider.InstanceType) bool {
					return !slices.ContainsFunc(t.Offerings, func(o cloudprovider.Offering) bool { return o.Available })
				}), err
			}
		}},
		{clause: "CP-CATALOG-02", what: "a type bears two names", how: func(d *double) {
			d.selling(dear, func(t *cloudprovider.InstanceType) {
				t.Requirements = t.Requirements.Without(corev1.LabelInstanceTypeStable).With(requirements.In(corev1.LabelInstanceTypeStable, t.Name, "m1.huge"))
			})
		}},
		{clause: "CP-CATALOG-03", what: "a well-known label is not stated", how: func(d *double) {
			d.selling(dear, func(t *cloudprovider.InstanceType) { t.Requirements = t.Requirements.Without(fake.LabelInstanceFamily) })
		}},
		{clause: "CP-CATALOG-04", what: "a label is stated under its old name", how: func(d *double) {
			d.selling(dear, func(t *cloudprovider.InstanceType) {
				t.Requirements = t.Requirements.With(requirements.In(corev1.LabelFailureDomainBetaRegion, fake.GenericRegion))
			})
		}},
		{clause: "CP-CATALOG-05", what: "an offering occurs twice", how: func(d *double) {
			d.selling(dear, func(t *cloudprovider.InstanceType) { t.Offerings = append(t.Offerings, t.Offerings[0]) })
		}},
		{clause: "CP-CATALOG-06", what: "an offering is in two zones", how: func(d *double) {
			d.selling(dear, func(t *cloudprovider.InstanceType) {
				o := &t.Offerings[len(t.Offerings)-1]
				o.Requirements = o.Requirements.Without(corev1.LabelTopologyZone).With(requirements.In(corev1.LabelTopologyZone, fake.GenericZones()...))
			})
		}},
		{clause: "CP-CATALOG-07", what: "a price is infinite", how: func(d *double) {
			d.selling(dear, func(t *cloudprovider.InstanceType) { t.Offerings[0].Price = math.Inf(1) })
		}},
		{clause: "CP-CATALOG-08", what: "the overhead is all there is", how: func(d *double) {
			d.selling(dear, func(t *cloudprovider.InstanceType) { t.Overhead.SystemReserved = t.Capacity })
		}},
		{clause: "CP-CATALOG-09", what: "each call makes the types again", how: func(d *double) {
			d.types = func(ctx context.Context, p *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
				all, err := d.Cloud.InstanceTypes(ctx, p)
				for i := range all {
					all[i] = all[i].DeepCopy()
				}
				return all, err
			}
		}},
		{clause: "CP-CATALOG-09", what: "types change in the callers' hands", how: func(d *double) {
			handedOut := map[string]*cloudprovider.InstanceType{}
			d.types = func(ctx context.Context, p *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
				all, err := d.Cloud.InstanceTypes(ctx, p)
				d.state.Lock()
				defer d.state.Unlock()
				for i, t := range all {
					if handedOut[t.Name] == nil {
						handedOut[t.Name] = t.DeepCopy()
					}
					*handedOut[t.Name] = *t.DeepCopy()
					all[i] = handedOut[t.Name]
				}
				return all, err
			}
		}},
		{clause: "CP-CATALOG-10", what: "all callers get one slice", how: func(d *double) {
			var kept []*cloudprovider.InstanceType
			d.types = func(ctx context.Context, p *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
				all, err := d.Cloud.InstanceTypes(ctx, p)
				d.state.Lock()
				defer d.state.Unlock()
				if err != nil || len(kept) == len(all) && slices.Contains(kept, nil) {
					return kept, err
				}
				kept = all
				return kept, nil
			}
		}},
		{clause: "CP-CATALOG-11", what: "the order differs by nodepool", how: func(d *double) {
			d.types = func(ctx context.Context, p *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
				all, err := d.Cloud.InstanceTypes(ctx, p)
				if p.Name == "conformance-other" {
					slices.Reverse(all)
				}
				return all, err
			}
		}},
		{clause: "CP-CATALOG-12", what: "answers are kept for each nodepool and change", how: func(d *double) {
			var kept [][]*cloudprovider.InstanceType
			d.types = func(ctx context.Context, p *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
				all, err := d.Cloud.InstanceTypes(ctx, p)
				d.state.Lock()
				defer d.state.Unlock()
				kept = append(kept, copiesOf(all))
				return all, err
			}
			d.t.Cleanup(func() { kept = nil })
		}},
		{clause: "CP-CATALOG-12", what: "answers are kept for each nodepool", how: func(d *double) {
			kept := map[string][]*cloudprovider.InstanceType{}
			d.types = func(ctx context.Context, p *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
				all, err := d.Cloud.InstanceTypes(ctx, p)
				d.state.Lock()
				defer d.state.Unlock()
				kept[p.Name] = copiesOf(all)
				return all, err
			}
			d.t.Cleanup(func() { kept = nil })
		}},
		{clause: "CP-CATALOG-12", what: "answers are kept for each change", how: func(d *double) {
			kept := map[string][]*cloudprovider.InstanceType{}
			d.types = func(ctx context.Context, p *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
				all, err := d.Cloud.InstanceTypes(ctx, p)
				closed := ""
				for _, t := range all {
					for i := range t.Offerings {
						if !t.Offerings[i].Available {
							closed += cloudprovider.KeyOf(t, &t.Offerings[i]).String() + " "
						}
					}
				}
				d.state.Lock()
				defer d.state.Unlock()
				kept[closed] = copiesOf(all)
				return all, err
			}
			d.t.Cleanup(func() { kept = nil })
		}},
		{clause: "CP-CATALOG-13", what: "what is not known yet is an empty list", how: func(d *double) {
			d.types = func(ctx context.Context, p *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
				all, err := d.Cloud.InstanceTypes(ctx, p)
				if cloudprovider.IsUnevaluatedNodePool(err) {
					return nil, nil
				}
				return all, err
			}
		}},
		{clause: "CP-CATALOG-14", what: "nodes have less than was modelled", how: func(d *double) {
			instances := d.subject.Instances
			d.subject.Instances = func(ctx context.Context) ([]conformance.Instance, error) {
				all, err := instances(ctx)
				for _, m := range all {
					memory := m.Observed.Allocatable[corev1.ResourceMemory]
					memory.Sub(resource.MustParse("64Mi"))
					m.Observed.Allocatable[corev1.ResourceMemory] = memory
				}
				return all, err
			}
		}},
		{clause: "CP-CATALOG-15", what: "a volume limit is negative", how: func(d *double) {
			d.selling(dear, func(t *cloudprovider.InstanceType) { t.VolumeLimits = map[string]int32{"csi.example": -1} })
		}},
		{clause: "CP-CATALOG-16", what: "two devices have one name", how: publishing(cloudprovider.DevicePool{
			Driver: "gpu.example.com", Devices: []resourcev1.Device{{Name: "gpu-0"}, {Name: "gpu-0"}},
		})},
		{clause: "CP-CATALOG-16", what: "a driver has two pools of one name", how: publishing(
			cloudprovider.DevicePool{Driver: "gpu.example.com", Devices: []resourcev1.Device{{Name: "gpu-0"}}},
			cloudprovider.DevicePool{Driver: "gpu.example.com", Devices: []resourcev1.Device{{Name: "gpu-1"}}},
		)},
		{clause: "CP-CATALOG-16", what: "a partition takes counters that no device has", how: publishing(cloudprovider.DevicePool{
			Driver: "gpu.example.com", Devices: []resourcev1.Device{{Name: "half-0", ConsumesCounters: []resourcev1.DeviceCounterConsumption{{CounterSet: "gpu-0"}}}},
		})},
		{clause: "CP-CATALOG-16", what: "a device has less than no memory", how: publishing(cloudprovider.DevicePool{
			Driver: "gpu.example.com", Devices: []resourcev1.Device{{Name: "gpu-0", Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{
				"memory": {Value: resource.MustParse("-1")},
			}}},
		})},
		{clause: "CP-CATALOG-16", what: "a device is of a node that is not there yet", how: publishing(cloudprovider.DevicePool{
			Driver: "gpu.example.com", Devices: []resourcev1.Device{{Name: "gpu-0", NodeName: new(string)}},
		})},
		{clause: "CP-CATALOG-16", what: "an attribute has no value", how: publishing(cloudprovider.DevicePool{
			Driver: "gpu.example.com", Devices: []resourcev1.Device{{Name: "gpu-0", Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"model": {}}}},
		})},
		{clause: "CP-CATALOG-16", what: "an attribute is bound to a label that no offering states", how: publishing(cloudprovider.DevicePool{
			Driver: "gpu.example.com", Devices: []resourcev1.Device{{Name: "gpu-0"}},
			Bindings: []cloudprovider.AttributeBinding{{Attribute: "clique", Label: "example.com/clique"}},
		})},
		{clause: "CP-CATALOG-16", what: "a bound attribute has no value in some zone", how: publishing(cloudprovider.DevicePool{
			Driver: "gpu.example.com", Devices: []resourcev1.Device{{Name: "gpu-0"}},
			Bindings: []cloudprovider.AttributeBinding{{Attribute: "site", Label: corev1.LabelTopologyZone, Values: map[string]resourcev1.DeviceAttribute{"elsewhere": {StringValue: new(string)}}}},
		})},
	}
}

// publishing has an instance type publish the pools of devices.
func publishing(pools ...cloudprovider.DevicePool) func(*double) {
	return func(d *double) {
		d.selling(dear, func(t *cloudprovider.InstanceType) { t.Devices = pools })
	}
}
