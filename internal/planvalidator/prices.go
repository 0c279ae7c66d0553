package planvalidator

import (
	"cmp"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

// uncovered is passed as the number of a cost term to get the price of an offering without any commitment.
const uncovered = -1

// price computes the price of an offering that the pool launches, by the cost model. The parameter covering is the number of the cost term
// whose commitment covers the node completely, or the constant uncovered. The result uses is the amount of that commitment that the node
// uses.
func (c *checker) price(pool v1.PoolKey, it *cloudprovider.InstanceType, o *cloudprovider.Offering, covering int) (price, uses float64) {
	price = o.Price
	if c.s.CostModel == nil {
		return price, 0
	}
	for i := range c.s.CostModel.Terms {
		t := &c.s.CostModel.Terms[i]
		if !c.applies(t, pool, it, o) {
			continue
		}
		switch {
		case t.Percent != nil:
			price += price * *t.Percent / 100
		case t.PerNode != nil:
			price += *t.PerNode
		case t.Price != nil:
			price = *t.Price
		case t.PerResource != nil:
			for name, usd := range t.PerResource {
				q := capacity(it, o)[name]
				units := q.AsApproximateFloat64()
				if name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage || strings.HasPrefix(string(name), "hugepages-") {
					units /= 1024 * 1024 * 1024
				}
				price += usd * units
			}
		case t.Offerings != nil:
			for _, x := range t.Offerings {
				if x.Offering == cloudprovider.KeyOf(it, o) {
					price += x.Amount
				}
			}
		case i == covering:
			uses = 1
			if p := t.Commitment.PercentOfPrice; p > 0 {
				uses = price * p / 100
			} else if t.Commitment.ByType != nil {
				uses = t.Commitment.ByType[it.Name]
			}
			if uses > 0 {
				price *= t.Commitment.RemainingPercent / 100
			}
		}
		price = max(price, 0)
	}
	return price, uses
}

// applies reports whether the term applies to a node of the pool with this type and offering.
func (c *checker) applies(t *scheduling.CostTerm, pool v1.PoolKey, it *cloudprovider.InstanceType, o *cloudprovider.Offering) bool {
	if len(t.Where.NodePools) > 0 && (pool.IsZero() || !slices.Contains(t.Where.NodePools, pool.String())) {
		return false
	}
	_, ofOfferings := c.stated(it)
	anyCapacity := t.Commitment == nil
	for _, r := range t.Where.Requirements {
		key, _ := c.canonical(r.Key)
		anyCapacity = anyCapacity || key == v1.CapacityTypeLabelKey
		from := it.Requirements
		if ofOfferings[key] {
			from = o.Requirements
		}
		known := c.fromEntries(from.NodeSelectorRequirements()).get(key)
		if !from.Has(key) {
			known = label{{op: corev1.NodeSelectorOpDoesNotExist}}
		}
		if !known.permits(rule{op: r.Operator, values: r.Values}) {
			return false
		}
	}
	if t.Commitment != nil && reservation(o) != "" {
		return false
	}
	return anyCapacity || o.CapacityType() == v1.CapacityTypeOnDemand
}

// billed is a node that commitments may cover.
type billed struct {
	name  string
	pool  v1.PoolKey
	it    *cloudprovider.InstanceType
	o     *cloudprovider.Offering
	rest  float64 // the share of the node that no commitment covers yet
	price float64
}

// bill applies the commitments first to the nodes of the snapshot, and then to the nodes of the plan. The result prices has the price of
// each planned node by its name. The result left has, by the number of the commitment's cost term, the amount of each commitment that the
// nodes of the snapshot leave unused.
func (c *checker) bill() (prices map[string]float64, left map[int]float64) {
	var standing, planned []*billed
	for i := range c.s.Nodes {
		if n := &c.s.Nodes[i]; !n.Leaving {
			if it, o := c.boughtAs(n); it != nil {
				standing = append(standing, &billed{name: n.Name, pool: n.Pool, it: it, o: o, rest: 1})
			}
		}
	}
	for i := range c.p.NewNodes {
		n := &c.p.NewNodes[i]
		for _, it := range c.typesOf(c.pools[n.Pool]) {
			for j := range it.Offerings {
				if o := &it.Offerings[j]; o == c.bought(n) {
					plain, _ := c.price(n.Pool, it, o, uncovered)
					planned = append(planned, &billed{pool: n.Pool, name: n.Name, it: it, o: o, rest: 1, price: plain})
				}
			}
		}
	}
	left = map[int]float64{}
	for i := range c.s.CostModel.Terms {
		if c.s.CostModel.Terms[i].Commitment == nil {
			continue
		}
		rest := c.s.CostModel.Terms[i].Commitment.Amount
		slices.SortStableFunc(standing, func(a, b *billed) int { return strings.Compare(a.name, b.name) })
		rest = c.use(i, rest, standing)
		left[i] = rest
		c.use(i, rest, planned)
	}
	prices = map[string]float64{}
	for _, n := range planned {
		prices[n.name] = n.price
	}
	return prices, left
}

// use applies the commitment of the cost term to the nodes, and returns the amount of the commitment that remains.
func (c *checker) use(term int, left float64, nodes []*billed) float64 {
	type candidate struct {
		*billed
		plain, saves, uses float64
	}
	var list []candidate
	for _, n := range nodes {
		plain, _ := c.price(n.pool, n.it, n.o, uncovered)
		price, uses := c.price(n.pool, n.it, n.o, term)
		if c.applies(&c.s.CostModel.Terms[term], n.pool, n.it, n.o) && uses > 1e-9 && plain-price > 1e-9 {
			list = append(list, candidate{n, plain, plain - price, uses})
		}
	}
	rounded := func(a, b float64) int {
		if close(a, b) {
			return 0
		}
		return cmp.Compare(a, b)
	}
	slices.SortStableFunc(list, func(a, b candidate) int {
		return cmp.Or(rounded(b.saves/b.uses, a.saves/a.uses), rounded(b.rest, a.rest), rounded(b.plain, a.plain), strings.Compare(a.it.Name, b.it.Name))
	})
	for _, n := range list {
		covered := min(n.rest, left/n.uses)
		n.rest -= covered
		n.price -= covered * n.saves
		left = max(0, left-covered*n.uses)
	}
	return left
}

// boughtAs returns the type and the cheapest offering that match the labels of a node of the snapshot. It returns nil if no offering
// matches.
func (c *checker) boughtAs(n *scheduling.Node) (it *cloudprovider.InstanceType, o *cloudprovider.Offering) {
	known := c.view(n).labels
	value := func(key string) string { return known.get(key).only() }
	bought := cmp.Or(value(v1.CapacityTypeLabelKey), v1.CapacityTypeOnDemand)
	var names []string
	for name := range c.s.Catalogs {
		names = append(names, name)
	}
	slices.Sort(names)
	if np := c.pools[n.Pool]; np != nil && np.Catalog != "" {
		names = []string{np.Catalog}
	}
	for _, name := range names {
		for _, x := range c.s.Catalogs[name] {
			if x.Name != value(corev1.LabelInstanceTypeStable) {
				continue
			}
			for i := range x.Offerings {
				at := &x.Offerings[i]
				fits := at.CapacityType() == bought
				for r := range at.Requirements.All {
					v := value(r.Key())
					fits = fits && (v == "" || r.Has(v))
				}
				if fits && (o == nil || at.Price < o.Price) {
					it, o = x, at
				}
			}
		}
		if o != nil {
			return it, o
		}
	}
	return nil, nil
}

// prices does nothing if the snapshot has no cost model. Otherwise it checks that each new node has the price of the cost model, and that
// the cost terms that the plan lists add up to this price.
func (c *checker) prices() {
	if c.s.CostModel == nil || len(c.s.CostModel.Terms) == 0 {
		return
	}
	want, _ := c.bill()
	for i := range c.p.NewNodes {
		n := &c.p.NewNodes[i]
		for j := range n.InstanceTypes {
			option := &n.InstanceTypes[j]
			if j == 0 && !close(option.Price, want[n.Name]) {
				c.fault(n.Name, "%s costs %v, the cost model makes it %v", option.Name, option.Price, want[n.Name])
			}
			sum := 0.0
			for _, term := range option.Terms {
				sum += term.Amount
			}
			if math.Abs(sum-option.Price) > 1e-8 {
				c.fault(n.Name, "%s costs %v, its terms add up to %v", option.Name, option.Price, sum)
			}
		}
	}
}

// covers reports whether a commitment covers part of the node.
func covers(n *scheduling.NewNode) bool {
	return len(n.InstanceTypes) > 0 && slices.ContainsFunc(n.InstanceTypes[0].Terms, func(t scheduling.PriceTerm) bool { return t.Covered > 0 })
}
