package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/cloudprovider/conformance"
	"github.com/drawknife/drawknife/fake"
)

// broken is one way to break the contract.
type broken struct {
	// clause that it breaks; also is another that says the same of it.
	clause string
	what   string
	also   []string
	how    func(*double)
}

// dear is a type that claims of the kit don't get unless they name it.
func dear(t *cloudprovider.InstanceType) bool { return t.Name == "m1.24xlarge" }

func brokenDescriptions() []broken {
	lastClosed := map[cloudprovider.OfferingKey]bool{} // a package variable, as far as providers are concerned
	return []broken{
		{clause: "CP-DESCRIBE-01", what: "the declaration changes with the first launch", how: func(d *double) {
			launched := false
			d.create = func(ctx context.Context, c *v1.NodeClaim) (*v1.NodeClaim, error) {
				launched = true
				return d.Cloud.Create(ctx, c)
			}
			d.describe = func() cloudprovider.Capabilities {
				c := d.Cloud.Describe()
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
		{clause: "CP-CATALOG-09", what: "each call makes the types anew", how: func(d *double) {
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
				var copies []*cloudprovider.InstanceType
				for _, t := range all {
					copies = append(copies, t.DeepCopy())
				}
				kept = append(kept, copies)
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
			machines := d.subject.Machines
			d.subject.Machines = func(ctx context.Context) ([]conformance.Machine, error) {
				all, err := machines(ctx)
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
	}
}

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
					n++
					c = c.DeepCopy()
					c.UID = types.UID(fmt.Sprint("made-up-", n))
				}
				return d.Cloud.Create(ctx, c)
			}
		}},
		{clause: "CP-CREATE-02", what: "the next process launches a second machine", how: func(d *double) {
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
			machines := d.subject.Machines
			d.subject.Machines = func(ctx context.Context) ([]conformance.Machine, error) {
				all, err := machines(ctx)
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
				hidden[c.UID] = err != nil
				return created, err
			}
			d.listing(func(all []*v1.NodeClaim) []*v1.NodeClaim {
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
		{clause: "CP-CREATE-11", what: "machines have more than is shown", how: func(d *double) {
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
		{clause: "CP-SPOT-03", what: "a machine taken back runs for ever", how: func(d *double) {
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

func brokenMachines() []broken {
	return []broken{
		{clause: "CP-DELETE-01", what: "what shuts down is called gone", how: func(d *double) {
			d.delete = func(ctx context.Context, c *v1.NodeClaim) error {
				if got, err := d.Cloud.Get(ctx, c.Status.ProviderID); err == nil && !got.DeletionTimestamp.IsZero() {
					return cloudprovider.NewNodeClaimNotFoundError(c.Status.ProviderID, nil)
				}
				return d.Cloud.Delete(ctx, c)
			}
		}},
		{clause: "CP-DELETE-02", what: "the second Delete complains", how: func(d *double) {
			d.delete = func(ctx context.Context, c *v1.NodeClaim) error {
				if got, err := d.Cloud.Get(ctx, c.Status.ProviderID); err == nil && !got.DeletionTimestamp.IsZero() {
					return errors.New("incorrect instance state")
				}
				return d.Cloud.Delete(ctx, c)
			}
		}},
		{clause: "CP-DELETE-03", what: "an empty provider ID is a plain error", how: func(d *double) {
			d.delete = func(ctx context.Context, c *v1.NodeClaim) error {
				if c.Status.ProviderID == "" {
					return errors.New("parsing provider id")
				}
				return d.Cloud.Delete(ctx, c)
			}
		}},
		{clause: "CP-DELETE-04", what: "the claim's UID is believed", how: func(d *double) {
			d.delete = func(ctx context.Context, c *v1.NodeClaim) error {
				all, err := d.Cloud.List(context.WithoutCancel(ctx))
				for _, m := range all {
					if err == nil && m.UID == c.UID && m.DeletionTimestamp.IsZero() && c.Status.ProviderID != "" && len(c.Labels) == 0 {
						return d.Cloud.Delete(ctx, m)
					}
				}
				return d.Cloud.Delete(ctx, c)
			}
		}},
		{clause: "CP-GET-01", what: "Get does not tell the image", how: func(d *double) {
			d.get = func(ctx context.Context, id string) (*v1.NodeClaim, error) {
				got, err := d.Cloud.Get(ctx, id)
				if got != nil {
					got.Status.ImageID = ""
				}
				return got, err
			}
		}},
		{clause: "CP-GET-02", what: "what shuts down is gone to Get", how: func(d *double) {
			d.get = func(ctx context.Context, id string) (*v1.NodeClaim, error) {
				got, err := d.Cloud.Get(ctx, id)
				if got != nil && !got.DeletionTimestamp.IsZero() {
					return nil, cloudprovider.NewNodeClaimNotFoundError(id, nil)
				}
				return got, err
			}
		}},
		{clause: "CP-GET-03", what: "a malformed provider ID is a permanent error", how: func(d *double) {
			d.get = func(ctx context.Context, id string) (*v1.NodeClaim, error) {
				if id != "" && !strings.HasPrefix(id, "fake:///") {
					return nil, cloudprovider.NewPermanentError(errors.New("parsing provider id"))
				}
				return d.Cloud.Get(ctx, id)
			}
		}},
		{clause: "CP-LIST-01", what: "the next process lists its own machines only", how: func(d *double) {
			own := map[string]bool{}
			if d.restarts == 0 {
				return
			}
			d.create = func(ctx context.Context, c *v1.NodeClaim) (*v1.NodeClaim, error) {
				created, err := d.Cloud.Create(ctx, c)
				if err == nil {
					own[created.Status.ProviderID] = true
				}
				return created, err
			}
			d.listing(func(all []*v1.NodeClaim) []*v1.NodeClaim {
				return slices.DeleteFunc(all, func(c *v1.NodeClaim) bool { return !own[c.Status.ProviderID] })
			})
		}},
		{clause: "CP-LIST-01", what: "machines of another cluster are listed", how: func(d *double) {
			another := d.ForCluster("another")
			d.list = func(ctx context.Context) ([]*v1.NodeClaim, error) {
				all, err := d.Cloud.List(ctx)
				if err != nil {
					return nil, err
				}
				theirs, err := another.List(ctx)
				all = append(all, theirs...)
				slices.SortFunc(all, func(a, b *v1.NodeClaim) int { return strings.Compare(a.Status.ProviderID, b.Status.ProviderID) })
				return all, err
			}
		}},
		{clause: "CP-LIST-02", what: "dead machines stay in a cache", how: func(d *double) {
			dead := map[string]*v1.NodeClaim{}
			d.list = func(ctx context.Context) ([]*v1.NodeClaim, error) {
				all, err := d.Cloud.List(ctx)
				if err != nil {
					return nil, err
				}
				there := map[string]bool{}
				for _, c := range all {
					there[c.Status.ProviderID] = true
					dead[c.Status.ProviderID] = c
				}
				for _, id := range slices.Sorted(maps.Keys(dead)) {
					if !there[id] {
						all = append(all, dead[id])
					}
				}
				slices.SortFunc(all, func(a, b *v1.NodeClaim) int { return strings.Compare(a.Status.ProviderID, b.Status.ProviderID) })
				return all, nil
			}
		}},
		{clause: "CP-LIST-03", what: "what shuts down is listed as running", how: func(d *double) {
			d.listing(func(all []*v1.NodeClaim) []*v1.NodeClaim {
				for _, c := range all {
					c.DeletionTimestamp = nil
				}
				return all
			})
		}},
		{clause: "CP-LIST-04", what: "UIDs are not listed", how: func(d *double) {
			d.listing(func(all []*v1.NodeClaim) []*v1.NodeClaim {
				for _, c := range all {
					c.UID = ""
				}
				return all
			})
		}},
		{clause: "CP-LIST-05", what: "what could not be read is left out", how: func(d *double) {
			d.list = func(ctx context.Context) ([]*v1.NodeClaim, error) {
				all, err := d.Cloud.List(ctx)
				if err != nil && ctx.Err() == nil {
					return all, nil
				}
				return all, err
			}
		}},
		{clause: "CP-LIST-06", what: "the list is upside down", how: func(d *double) {
			d.listing(func(all []*v1.NodeClaim) []*v1.NodeClaim { slices.Reverse(all); return all })
		}},
	}
}

func brokenErrors() []broken {
	return []broken{
		{clause: "CP-ERROR-01", what: "throttling has no kind", how: func(d *double) {
			d.errors(func(err error) error {
				if cloudprovider.IsThrottled(err) {
					return errors.New("try again")
				}
				return err
			})
		}},
		{clause: "CP-ERROR-02", what: "an error is its kind and nothing more", how: func(d *double) {
			d.errors(func(err error) error {
				if cloudprovider.KindOf(err) == cloudprovider.Permanent {
					return fmt.Errorf("no: %w", cloudprovider.Permanent)
				}
				return err
			})
		}},
		{clause: "CP-ERROR-03", what: "what is not understood is permanent", how: func(d *double) {
			d.errors(func(err error) error {
				if err.Error() != "" && errors.Unwrap(errors.Unwrap(err)) == nil && cloudprovider.IsTransient(err) {
					return cloudprovider.NewPermanentError(err)
				}
				return err
			})
		}},
		{clause: "CP-ERROR-04", what: "how long to wait is not passed on", how: func(d *double) {
			d.errors(func(err error) error {
				if cloudprovider.IsThrottled(err) && !errors.Is(err, cloudprovider.Unauthorized) {
					return cloudprovider.NewThrottledError("fake:Do", 0, nil)
				}
				return err
			})
		}},
		{clause: "CP-ERROR-05", what: "a permission is not named", how: func(d *double) {
			d.errors(func(err error) error {
				if cloudprovider.KindOf(err) == cloudprovider.Unauthorized {
					return cloudprovider.NewUnauthorizedError("", err)
				}
				return err
			})
		}},
		{clause: "CP-ERROR-06", what: "the first cause is all that is told", how: func(d *double) {
			d.errors(func(err error) error {
				if cloudprovider.IsThrottled(err) {
					wait, _ := cloudprovider.RetryAfter(err)
					return cloudprovider.NewThrottledError("fake:Do", wait, nil)
				}
				return err
			})
		}},
		{clause: "CP-ERROR-07", what: "an ended context is an error of the provider's own", how: func(d *double) {
			d.errors(func(err error) error {
				if errors.Is(err, context.Canceled) {
					return errors.New("interrupted")
				}
				return err
			})
		}},
	}
}

func brokenConcurrency() []broken {
	return []broken{
		{clause: "CP-CONCURRENCY-01", what: "a page is all that is listed", how: func(d *double) {
			d.listing(func(all []*v1.NodeClaim) []*v1.NodeClaim { return all[:min(len(all), 50)] })
		}},
		{clause: "CP-CONCURRENCY-02", what: "a lock is held across calls of the cloud", how: func(d *double) {
			var mu sync.Mutex
			d.types = func(ctx context.Context, p *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
				mu.Lock()
				defer mu.Unlock()
				return d.Cloud.InstanceTypes(ctx, p)
			}
			d.create = func(ctx context.Context, c *v1.NodeClaim) (*v1.NodeClaim, error) {
				mu.Lock()
				defer mu.Unlock()
				return d.Cloud.Create(ctx, c)
			}
		}},
		{clause: "CP-CONCURRENCY-03", what: "a goroutine is left by each call", how: func(d *double) {
			stop := make(chan struct{})
			d.t.Cleanup(func() { close(stop) })
			d.list = func(ctx context.Context) ([]*v1.NodeClaim, error) {
				go func() { <-stop }()
				return d.Cloud.List(ctx)
			}
		}},
		{clause: "CP-CONCURRENCY-04", what: "machines that are gone are remembered", how: func(d *double) {
			var mu sync.Mutex
			var kept [][]byte
			d.create = func(ctx context.Context, c *v1.NodeClaim) (*v1.NodeClaim, error) {
				mu.Lock()
				defer mu.Unlock()
				kept = append(kept, make([]byte, 16<<10))
				return d.Cloud.Create(ctx, c)
			}
			d.t.Cleanup(func() { kept = nil })
		}},
	}
}

func brokenAbilities() []broken {
	return []broken{
		{clause: "CP-CLASS-01", what: "a missing node class is not known about", how: func(d *double) {
			d.status = func(ctx context.Context, ref v1.NodeClassReference) (cloudprovider.NodeClassReadiness, error) {
				r, err := d.Cloud.NodeClassStatus(ctx, ref)
				if r.Reason == cloudprovider.NodeClassNotFound {
					r.Status, r.Reason = "Unknown", "Waiting"
				}
				return r, err
			}
		}},
		{clause: "CP-CLASS-02", what: "what is wrong is not said", how: func(d *double) {
			d.status = func(ctx context.Context, ref v1.NodeClassReference) (cloudprovider.NodeClassReadiness, error) {
				r, err := d.Cloud.NodeClassStatus(ctx, ref)
				r.Message = ""
				return r, err
			}
		}},
		{clause: "CP-CLASS-03", also: []string{"CP-CREATE-10"}, what: "machines are launched from what is not ready", how: func(d *double) {
			d.create = func(ctx context.Context, c *v1.NodeClaim) (*v1.NodeClaim, error) {
				created, err := d.Cloud.Create(ctx, c)
				if cloudprovider.IsNodeClassNotReady(err) {
					c = c.DeepCopy()
					c.Spec.NodeClassRef.Name = "another"
					return d.Cloud.Create(ctx, c)
				}
				return created, err
			}
		}},
		{clause: "CP-CLASS-04", what: "a brown-out makes node classes unready", how: func(d *double) {
			d.status = func(ctx context.Context, ref v1.NodeClassReference) (cloudprovider.NodeClassReadiness, error) {
				r, err := d.Cloud.NodeClassStatus(ctx, ref)
				if err != nil {
					return cloudprovider.NodeClassReadiness{Status: "False", Reason: "Unreadable", Message: err.Error()}, ctx.Err()
				}
				return r, nil
			}
		}},
		{clause: "CP-GATE-01", what: "the gate closes again", how: func(d *double) {
			open := map[string]int{}
			d.registered = func(ctx context.Context, c *v1.NodeClaim) (cloudprovider.GateResult, error) {
				r, err := d.Cloud.Registered(ctx, c)
				if r.Open {
					open[c.Status.ProviderID]++
				}
				r.Open = r.Open && open[c.Status.ProviderID] < 3
				return r, err
			}
		}},
		{clause: "CP-GATE-02", what: "to ask twice opens the gate", how: func(d *double) {
			asked := map[string]int{}
			d.registered = func(ctx context.Context, c *v1.NodeClaim) (cloudprovider.GateResult, error) {
				r, err := d.Cloud.Registered(ctx, c)
				if err == nil {
					asked[c.Status.ProviderID]++
					r.Open = r.Open || asked[c.Status.ProviderID] > 1
				}
				return r, err
			}
		}},
		{clause: "CP-GATE-03", what: "a gate that can't tell is open", how: func(d *double) {
			d.registered = func(ctx context.Context, c *v1.NodeClaim) (cloudprovider.GateResult, error) {
				r, err := d.Cloud.Registered(ctx, c)
				if err != nil && !cloudprovider.IsNodeClaimNotFound(err) {
					r.Open = true
				}
				return r, err
			}
		}},
		{clause: "CP-GATE-04", what: "a gate waits for a machine that is gone", how: func(d *double) {
			d.registered = func(ctx context.Context, c *v1.NodeClaim) (cloudprovider.GateResult, error) {
				r, err := d.Cloud.Registered(ctx, c)
				return r, cloudprovider.IgnoreNodeClaimNotFound(err)
			}
		}},
		{clause: "CP-DRIFT-01", what: "every other answer is another", how: func(d *double) {
			n := 0
			d.drifted = func(ctx context.Context, c *v1.NodeClaim) (cloudprovider.DriftReason, error) {
				reason, err := d.Cloud.IsDrifted(ctx, c)
				if n++; n%2 == 0 && reason != "" {
					reason += "Again"
				}
				return reason, err
			}
		}},
		{clause: "CP-DRIFT-02", what: "machines are born drifted", how: func(d *double) {
			d.drifted = func(ctx context.Context, c *v1.NodeClaim) (cloudprovider.DriftReason, error) {
				reason, err := d.Cloud.IsDrifted(ctx, c)
				if err == nil && reason == "" {
					reason = "New"
				}
				return reason, err
			}
		}},
		{clause: "CP-DRIFT-03", what: "what is gone has drifted", how: func(d *double) {
			d.drifted = func(ctx context.Context, c *v1.NodeClaim) (cloudprovider.DriftReason, error) {
				reason, err := d.Cloud.IsDrifted(ctx, c)
				if cloudprovider.IsNodeClaimNotFound(err) {
					return "Gone", nil
				}
				return reason, err
			}
		}},
		{clause: "CP-DRIFT-04", what: "what is not known has not drifted", how: func(d *double) {
			d.drifted = func(ctx context.Context, c *v1.NodeClaim) (cloudprovider.DriftReason, error) {
				reason, err := d.Cloud.IsDrifted(ctx, c)
				if err != nil && !cloudprovider.IsNodeClaimNotFound(err) {
					return "", ctx.Err()
				}
				return reason, err
			}
		}},
		{clause: "CP-REPAIR-01", what: "no policy is an empty policy", how: func(d *double) {
			d.policies = func() []cloudprovider.RepairPolicy { return []cloudprovider.RepairPolicy{{}} }
		}},
		{clause: "CP-REPAIR-02", what: "a node may not be unready for a moment", how: func(d *double) {
			d.policies = func() []cloudprovider.RepairPolicy {
				return []cloudprovider.RepairPolicy{{ConditionType: corev1.NodeReady, ConditionStatus: corev1.ConditionFalse}}
			}
		}},
		{clause: "CP-REPAIR-03", what: "all callers get one slice", how: func(d *double) {
			kept := d.Cloud.RepairPolicies()
			d.policies = func() []cloudprovider.RepairPolicy { return kept }
		}},
	}
}

func brokenInterruptions() []broken {
	return []broken{
		{clause: "CP-INTERRUPT-01", what: "what is read is acknowledged", how: func(d *double) {
			d.receive = func(ctx context.Context) ([]cloudprovider.Interruption, error) {
				all, err := d.Cloud.ReceiveInterruptions(ctx)
				for _, m := range all {
					_ = d.Cloud.AckInterruptions(ctx, m.ID)
				}
				return all, err
			}
		}},
		{clause: "CP-INTERRUPT-02", what: "messages that mean nothing are passed on", how: func(d *double) {
			noise := d.subject.Noise
			d.subject.Noise = func() error { d.forLaterOnes["noise"] = true; return noise() }
			d.receive = func(ctx context.Context) ([]cloudprovider.Interruption, error) {
				if d.forLaterOnes["noise"] {
					return []cloudprovider.Interruption{{ID: "noise"}}, nil
				}
				return d.Cloud.ReceiveInterruptions(ctx)
			}
		}},
		{clause: "CP-INTERRUPT-03", what: "nothing is an answer", how: func(d *double) {
			d.receive = func(ctx context.Context) ([]cloudprovider.Interruption, error) {
				soon, cancel := context.WithTimeout(ctx, 5*time.Millisecond)
				defer cancel()
				all, err := d.Cloud.ReceiveInterruptions(soon)
				if err != nil && soon.Err() != nil {
					return nil, ctx.Err()
				}
				return all, err
			}
		}},
		{clause: "CP-INTERRUPT-04", what: "a message goes to two readers", how: func(d *double) {
			var mu sync.Mutex
			var again []cloudprovider.Interruption
			d.receive = func(ctx context.Context) ([]cloudprovider.Interruption, error) {
				mu.Lock()
				copies := again
				again = nil
				mu.Unlock()
				if len(copies) > 0 && ctx.Err() == nil {
					return copies, nil
				}
				all, err := d.Cloud.ReceiveInterruptions(ctx)
				mu.Lock()
				again = slices.Clone(all)
				mu.Unlock()
				return all, err
			}
			d.ack = func(ctx context.Context, ids ...string) error {
				mu.Lock()
				again = nil
				mu.Unlock()
				return d.Cloud.AckInterruptions(ctx, ids...)
			}
		}},
		{clause: "CP-INTERRUPT-05", what: "acknowledging twice is refused", how: func(d *double) {
			acked := map[string]bool{}
			d.ack = func(ctx context.Context, ids ...string) error {
				for _, id := range ids {
					if acked[id] {
						return errors.New("receipt handle is invalid")
					}
					acked[id] = true
				}
				return d.Cloud.AckInterruptions(ctx, ids...)
			}
		}},
		{clause: "CP-INTERRUPT-06", what: "one delivery is about all machines", how: func(d *double) {
			var mu sync.Mutex
			var ids []string
			d.receive = func(ctx context.Context) ([]cloudprovider.Interruption, error) {
				all, err := d.Cloud.ReceiveInterruptions(ctx)
				mu.Lock()
				defer mu.Unlock()
				for i := range all {
					ids = append(ids, all[i].ID)
					all[i].ID = "batch"
				}
				return all, err
			}
			d.ack = func(ctx context.Context, _ ...string) error {
				mu.Lock()
				defer mu.Unlock()
				return d.Cloud.AckInterruptions(ctx, ids...)
			}
		}},
	}
}

// Every clause has a provider that breaks it, and the kit finds just that.
func TestBrokenProviders(t *testing.T) {
	all := slices.Concat(
		brokenDescriptions(), brokenCatalogues(), brokenLaunches(), brokenMachines(), brokenErrors(), brokenConcurrency(),
		brokenAbilities(), brokenInterruptions(),
	)
	found := map[string]bool{}
	for _, b := range all {
		found[b.clause] = true
		t.Run(b.clause+"/"+b.what, func(t *testing.T) {
			options := conformance.Options{Trials: 8, Steps: 12, Parallel: 60}
			if testing.Short() { // that it is found; not that nothing else is
				options.Clauses = slices.Concat(b.also, []string{b.clause})
			}
			report := conformance.Check(t, func(t testing.TB) conformance.Subject { return doubled(t, b.how) },
				options)
			want := slices.Concat(b.also, []string{b.clause})
			got := report.Failed()
			slices.Sort(want)
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("clauses that failed (-want +got):\n%s", diff)
				for _, r := range report.Results {
					if r.Outcome == conformance.Failed {
						t.Logf("%s: %s", r.Clause, strings.Join(r.Faults, "\n"))
					}
				}
			}
		})
	}
	for _, clause := range conformance.Clauses() {
		if !found[clause] {
			t.Errorf("no provider breaks %s", clause)
		}
	}
}
