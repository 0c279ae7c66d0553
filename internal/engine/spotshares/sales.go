package spotshares

import (
	"math"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/resources"
)

// offer is a spot offering that some NodePool may buy.
type offer struct {
	pool         Pool
	price, share float64
	has          requirements.Set
	room         map[corev1.ResourceName]float64
}

// readMarket lists the spot offerings that NodePools may buy.
func (b *builder) readMarket() error {
	if b.market != nil {
		return nil
	}
	b.market = []offer{}
	type key struct {
		catalog string
		at      int
	}
	type known struct {
		room     map[corev1.ResourceName]float64
		onDemand map[string]float64
	}
	types, listed := map[key]known{}, map[*cloudprovider.Offering]bool{}
	for i := range b.Snapshot.NodePools {
		np := &b.Snapshot.NodePools[i]
		if np.Catalog == "" || np.NotReady != "" {
			continue
		}
		set, err := b.RequirementsOf(np)
		if err != nil {
			return err
		}
		for at, it := range b.Snapshot.Catalogs[np.Catalog] {
			if it == nil {
				continue
			}
			k, ok := types[key{np.Catalog, at}]
			if !ok {
				k = known{amounts(it.Allocatable()), onDemandByZone(it)}
				types[key{np.Catalog, at}] = k
			}
			for j := range it.Offerings {
				o := &it.Offerings[j]
				has := it.MachineRequirements(o)
				if o.CapacityType() != v1.CapacityTypeSpot || !o.Available || listed[o] || has.Intersects(set) != nil {
					continue
				}
				listed[o] = true
				sale := offer{pool: Pool{it.Name, o.Zone()}, price: o.Price, has: has, room: k.room}
				if base, sold := k.onDemand[o.Zone()]; sold {
					sale.share = o.Price / base
				} else if base, sold := k.onDemand[""]; sold {
					sale.share = o.Price / base
				}
				b.market = append(b.market, sale)
			}
		}
	}
	return nil
}

// onDemandByZone returns the lowest on-demand price of the type in each zone. The entry with the empty name is the lowest price of all
// zones.
func onDemandByZone(it *cloudprovider.InstanceType) map[string]float64 {
	out := map[string]float64{}
	for i := range it.Offerings {
		o := &it.Offerings[i]
		if o.CapacityType() != v1.CapacityTypeOnDemand || !(o.Price > 0) {
			continue
		}
		for _, zone := range []string{o.Zone(), ""} {
			if price, ok := out[zone]; !ok || o.Price < price {
				out[zone] = o.Price
			}
		}
	}
	return out
}

func amounts(list corev1.ResourceList) map[corev1.ResourceName]float64 {
	out := make(map[corev1.ResourceName]float64, len(list))
	for name, q := range list {
		out[name] = q.AsApproximateFloat64()
	}
	return out
}

// salesFor returns the spot pools that pods of the pattern can use. It checks the labels and the amounts of resources.
func (b *builder) salesFor(pattern int32) ([]Sale, error) {
	if known, ok := b.sold[pattern]; ok {
		return known, nil
	}
	if err := b.readMarket(); err != nil {
		return nil, err
	}
	pod := b.Roster.Patterns[pattern].First
	terms, err := b.Terms.Placement(&pod.Spec)
	if err != nil {
		terms = nil // the pod can't be planned, and the error of its class contains the reason
	}
	want := amounts(resources.OfPod(pod))
	at := map[Pool]int{}
	out := []Sale{}
	for i := range b.market {
		o := &b.market[i]
		holds := fit(want, o.room)
		if holds < 1 || !anyIntersects(terms, o.has) {
			continue
		}
		sale := Sale{o.pool, o.price, holds, o.share}
		if n, listed := at[o.pool]; listed {
			// Two NodePools may have different prices for this spot pool, and a price limit must hold for both prices.
			out[n].Price, out[n].PriceShare = math.Min(out[n].Price, sale.Price), higher(out[n].PriceShare, sale.PriceShare)
			continue
		}
		at[o.pool] = len(out)
		out = append(out, sale)
	}
	b.sold[pattern] = out
	return out, nil
}

// higher returns the higher of the two shares. 0 means unknown, and counts as the highest.
func higher(a, b float64) float64 {
	if a == 0 || b == 0 {
		return 0
	}
	return math.Max(a, b)
}

func anyIntersects(terms []match.Needs, has requirements.Set) bool {
	for _, term := range terms {
		if term.Set().Intersects(has) == nil {
			return true
		}
	}
	return false
}

// fit returns how many pods with these requests an empty node can hold, or 1 if they request nothing.
func fit(want, room map[corev1.ResourceName]float64) float64 {
	most := math.Inf(1)
	for name, amount := range want {
		if amount > 0 {
			most = math.Min(most, math.Floor(room[name]/amount+1e-9))
		}
	}
	if math.IsInf(most, 1) {
		return 1
	}
	return most
}
