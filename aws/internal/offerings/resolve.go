package offerings

import (
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/cloudprovider"
)

// Resolve returns the instance types of a view in a market, sorted by name. The offerings of a type are sorted by zone. In each zone,
// on-demand offerings come first, then spot, then reserved ones. Types that can't be launched, and offerings in zones without a subnet, are
// listed as unavailable. Offerings without a price are left out, and so are types without offerings: plans can't use them. The result is
// shared data: nobody may change it.
func Resolve(m Market, v View) ([]*cloudprovider.InstanceType, error) {
	b, err := newBuilder(m, v, nil)
	if err != nil {
		return nil, err
	}
	return b.types(), nil
}

// Explanation says why an offering is available or not.
type Explanation struct {
	// Key names the offering.
	Key cloudprovider.OfferingKey
	// Price in USD per hour, and its source; 0 and empty if it is not known.
	Price       float64
	PriceSource string
	// Reason why the offering is not available; empty if it is available.
	Reason string
}

// Explain returns, for each offering that a type might have in a view, whether it is available, and if not, why. The result is empty if no
// instance of the view can have this type.
func Explain(m Market, v View, instanceType string) ([]Explanation, error) {
	b, err := newBuilder(m, v, nil)
	if err != nil {
		return nil, err
	}
	var out []Explanation
	for i := range b.shapes {
		shape := &b.shapes[i]
		if shape.Type.Name != instanceType {
			continue
		}
		b.offer(shape, func(o cloudprovider.Offering, reason string) {
			out = append(out, Explanation{Key: cloudprovider.KeyOf(&shape.Type, &o), Price: o.Price, PriceSource: o.PriceSource, Reason: reason})
		})
	}
	return out, nil
}

// newBuilder prepares the result for a view. If shapes is nil, newBuilder computes them.
func newBuilder(m Market, v View, shapes []instancetype.Shape) (*builder, error) {
	if m.Catalog == nil {
		return nil, errors.New("there is no catalogue to resolve instance types from")
	}
	if shapes == nil {
		var err error
		if shapes, err = instancetype.Shapes(m.Catalog, v.Settings); err != nil {
			return nil, err
		}
	}
	b := &builder{market: m, view: v, shapes: shapes}
	b.prepare()
	return b, nil
}

// types returns the shapes with their offerings. The earlier results must be sorted by name. If a type is unchanged since an earlier
// result, the new result has the pointer of the earlier result. If several results have an equal type, the first of them is used.
func (b *builder) types(earlier ...[]*cloudprovider.InstanceType) []*cloudprovider.InstanceType {
	var (
		out     = make([]*cloudprovider.InstanceType, 0, len(b.shapes))
		scratch []cloudprovider.Offering
		// The first result for a view allocates memory in blocks. Later results replace only a few types; a block would keep the replaced
		// types in memory.
		blocks = arena{blocks: !slices.ContainsFunc(earlier, func(list []*cloudprovider.InstanceType) bool { return len(list) > 0 })}
	)
	for i := range b.shapes {
		shape := &b.shapes[i]
		scratch = scratch[:0]
		b.offer(shape, func(o cloudprovider.Offering, _ string) {
			if o.Price > 0 || o.Reserved() {
				scratch = append(scratch, o)
			}
		})
		if len(scratch) == 0 {
			continue
		}
		t := b.typeOf(shape)
		var kept *cloudprovider.InstanceType
		for j := range earlier {
			old := take(&earlier[j], shape.Type.Name)
			if kept != nil || old == nil || !sameShape(old, &t) {
				continue
			}
			if sameOfferings(old, scratch) {
				kept = old
				continue
			}
			// Only offerings changed, so the new type reuses the other data of the old type.
			t.Requirements, t.Capacity, t.Overhead, t.VolumeLimits, t.Devices = old.Requirements, old.Capacity, old.Overhead, old.VolumeLimits, old.Devices
		}
		if kept == nil {
			kept = blocks.put(t, scratch)
		}
		out = append(out, kept)
	}
	return out
}

// take removes all entries up to name from a list that is sorted by name, and returns the type called name, or nil if the list has none.
func take(list *[]*cloudprovider.InstanceType, name string) *cloudprovider.InstanceType {
	for len(*list) > 0 && (*list)[0].Name <= name {
		first := (*list)[0]
		*list = (*list)[1:]
		if first.Name == name {
			return first
		}
	}
	return nil
}

// arena allocates types and their offerings, in blocks or one by one.
type arena struct {
	blocks    bool
	types     []cloudprovider.InstanceType
	offerings []cloudprovider.Offering
}

// A block is small, because a type that is still used keeps its whole block in memory.
const typesInBlock, offeringsInBlock = 32, 256

func (a *arena) put(t cloudprovider.InstanceType, offerings []cloudprovider.Offering) *cloudprovider.InstanceType {
	if !a.blocks {
		t.Offerings = slices.Clone(offerings)
		return &t
	}
	if len(a.types) == cap(a.types) {
		a.types = make([]cloudprovider.InstanceType, 0, typesInBlock)
	}
	if cap(a.offerings)-len(a.offerings) < len(offerings) {
		a.offerings = make([]cloudprovider.Offering, 0, max(offeringsInBlock, len(offerings)))
	}
	start := len(a.offerings)
	a.offerings = append(a.offerings, offerings...)
	// The capacity is limited, so that appending to one type's offerings can't overwrite the offerings of the next type.
	t.Offerings = a.offerings[start:len(a.offerings):len(a.offerings)]
	a.types = append(a.types, t)
	return &a.types[len(a.types)-1]
}

// sameOfferings reports whether an old type has exactly these offerings.
func sameOfferings(old *cloudprovider.InstanceType, offerings []cloudprovider.Offering) bool {
	return slices.EqualFunc(old.Offerings, offerings, func(a, b cloudprovider.Offering) bool {
		return a.Price == b.Price && a.Available == b.Available && a.ReservationCapacity == b.ReservationCapacity && a.ReservationEnds.Equal(b.ReservationEnds) &&
			a.PriceSource == b.PriceSource && sameBasis(a.PriceBasis, b.PriceBasis) &&
			sameRate(a.InterruptionRate, b.InterruptionRate) && a.Requirements.Equal(b.Requirements)
	})
}

// sameShape reports whether two types are the same except for their offerings.
func sameShape(a, b *cloudprovider.InstanceType) bool {
	return a.Name == b.Name && equalResources(a.Capacity, b.Capacity) &&
		equalResources(a.Overhead.KubeReserved, b.Overhead.KubeReserved) &&
		equalResources(a.Overhead.SystemReserved, b.Overhead.SystemReserved) &&
		equalResources(a.Overhead.EvictionThreshold, b.Overhead.EvictionThreshold) &&
		equalLimits(a.VolumeLimits, b.VolumeLimits) && slices.Equal(a.NotKnown, b.NotKnown) && equality.Semantic.DeepEqual(a.Devices, b.Devices) && a.Requirements.Equal(b.Requirements)
}
