package existing

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Seller finds the offerings by which nodes were bought.
type Seller struct {
	Vocab *requirements.Lookup
	Pools []*nodepool.Pool
	// PoolIndex maps each pool to its number. Catalogs has the catalogs of the pools, by name.
	PoolIndex map[v1.PoolKey]int
	Catalogs  map[string]*market.Catalog
	// Costs is the cost model. If it is nil, list prices are used.
	Costs *market.Costs
}

// BoughtAs finds, by the node's labels, the offering as which the node was bought. It searches the catalog of the node's pool. If the node
// has no pool, it searches the first catalog by name that has the instance type. If several offerings are possible, it returns the
// cheapest. A node without a capacity type label counts as on-demand.
func (from *Seller) BoughtAs(n *planning.Node) (o market.Priced, source string, ok bool) {
	labels := map[string]string{}
	for k, v := range ViewOf(n).Labels {
		if key := from.Vocab.Canonical(k); key == k || labels[key] == "" {
			labels[key] = from.Vocab.CanonicalValue(key, v)
		}
	}
	if labels[v1.CapacityTypeLabelKey] == "" {
		labels[v1.CapacityTypeLabelKey] = v1.CapacityTypeOnDemand
	}
	for _, c := range from.catalogsOf(n) {
		at, found := slices.BinarySearchFunc(c.Types, labels[corev1.LabelInstanceTypeStable], func(it *cloudprovider.InstanceType, name string) int {
			return strings.Compare(it.Name, name)
		})
		if !found {
			continue
		}
		it := c.Types[at]
		best := -1
		for i := range it.Offerings {
			if offeredAs(&it.Offerings[i], labels) && (best < 0 || it.Offerings[i].Price < it.Offerings[best].Price) {
				best = i
			}
		}
		if best < 0 {
			continue
		}
		offering := &it.Offerings[best]
		o = market.Priced{Key: cloudprovider.KeyOf(it, offering), List: market.NanoUSD(offering.Price), Capacity: it.CapacityOf(offering)}
		if from.Costs != nil {
			o.Applies = from.Costs.AppliesTo(func(key string) bool { return c.OfferingKeys[key] }, it, offering, n.Pool)
		}
		return o, c.Source, true
	}
	return market.Priced{}, "", false
}

// offeredAs reports whether a node with the labels may have been bought as the offering: the capacity type is the same, and no label
// contradicts the offering.
func offeredAs(o *cloudprovider.Offering, labels map[string]string) bool {
	if o.CapacityType() != labels[v1.CapacityTypeLabelKey] {
		return false
	}
	for r := range o.Requirements.All {
		if v, stated := labels[r.Key()]; stated && !r.Has(v) {
			return false
		}
	}
	return true
}

// catalogsOf returns the catalogs to search for the node's type: the catalog of its pool or, if the pool is unknown, all catalogs.
func (from *Seller) catalogsOf(n *planning.Node) []*market.Catalog {
	if at, ok := from.PoolIndex[n.Pool]; ok {
		if c := from.Catalogs[from.Pools[at].CatalogName]; c != nil {
			return []*market.Catalog{c}
		}
	}
	names := make([]string, 0, len(from.Catalogs))
	for name := range from.Catalogs {
		names = append(names, name)
	}
	slices.Sort(names)
	out := make([]*market.Catalog, len(names))
	for i, name := range names {
		out[i] = from.Catalogs[name]
	}
	return out
}
