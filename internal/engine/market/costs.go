package market

import (
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/engine/bitset"
)

// Whole is the share of a completely covered node. Shares are integers in units of 1e-9, like money and the amounts of commitments.
const Whole = 1_000_000_000

// Costs is the list of cost terms, in the order in which they apply.
type Costs struct {
	Terms []Term
	// Commitments are the indexes of the terms that are commitments.
	Commitments []int
}

// Term changes the prices of the offerings to which it applies.
type Term struct {
	Name, Source string
	// NodePools are the pools to which the term applies, as the text of their keys. An empty list means all pools. Where are requirements
	// that an offering must meet.
	NodePools []string
	Where     []requirements.Requirement
	// Exactly one of these fields is set. The term adds a percentage of the price so far (Percent), or USD per hour for each node (PerNode)
	// or unit of a resource (PerResource). Or it replaces the price (Price), adds nano-USD by offering (Table), or is a commitment.
	Percent, PerNode, Price *float64
	PerResource             map[corev1.ResourceName]float64
	Table                   map[cloudprovider.OfferingKey]int64
	Commitment              *Commitment
}

// Commitment is a prepaid amount, in 1e-9 of its unit.
type Commitment struct {
	Amount                           int64
	PercentOfPrice, RemainingPercent float64
	ByType                           map[string]float64
}

// Line is the amount that a term adds to a price, in USD per hour, and the share of the node that a commitment covers.
type Line struct {
	Name, Source    string
	Amount, Covered float64
}

// listPrice is the name of the line for the list price.
const listPrice = "list price"

// inPool reports whether the term applies to nodes of the pool. The zero key means a node without a pool.
func (t *Term) inPool(key v1.PoolKey) bool {
	return len(t.NodePools) == 0 || (!key.IsZero() && slices.Contains(t.NodePools, key.String()))
}

// Priced is an offering with its computed price.
type Priced struct {
	Key      cloudprovider.OfferingKey
	Capacity corev1.ResourceList
	// Applies is indexed like Costs.Terms.
	Applies []bool
	List    int64
}

// NoTerm means that there is no commitment.
const NoTerm = -1

// Walk applies the terms to the list price, in their order. Walk assumes that the commitment with the given term index covers the offering
// completely; NoTerm means no commitment. It calls note, which may be nil, with the amount of each term. used is the amount of the
// commitment that the node uses, or 0 if it is not covered.
func (c *Costs) Walk(o *Priced, covering int, note func(term int, amount int64)) (price, used int64) {
	price = o.List
	for i := range c.Terms {
		t := &c.Terms[i]
		if !o.Applies[i] {
			continue
		}
		after := price
		switch {
		case t.Percent != nil:
			after += percentOf(price, *t.Percent)
		case t.PerNode != nil:
			after += NanoUSD(*t.PerNode)
		case t.PerResource != nil:
			after += NanoUSD(t.perResource(o.Capacity))
		case t.Price != nil:
			after = NanoUSD(*t.Price)
		case t.Table != nil:
			after += t.Table[o.Key]
		case i == covering:
			if used = t.Commitment.use(o.Key.InstanceType, price); used > 0 {
				after = percentOf(price, t.Commitment.RemainingPercent)
			}
		}
		after = min(max(after, 0), MaxPrice*NanoPerUSD)
		if note != nil && (after != price || i == covering) {
			note(i, after-price)
		}
		price = after
	}
	return price, used
}

func percentOf(price int64, percent float64) int64 {
	return int64(math.Round(float64(price) * (percent / 100)))
}

// perResource returns the amount for the capacity in USD per hour, summed in the order of resource names.
func (t *Term) perResource(capacity corev1.ResourceList) float64 {
	sum := 0.0
	for _, name := range slices.Sorted(maps.Keys(t.PerResource)) {
		q := capacity[name]
		units := q.AsApproximateFloat64()
		if inGiB(name) {
			units /= 1 << 30
		}
		sum += t.PerResource[name] * units
	}
	return min(max(sum, -MaxPrice), MaxPrice)
}

func inGiB(name corev1.ResourceName) bool {
	return name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage || strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

// use returns the amount of the commitment that a completely covered node of this type and price uses, or 0 if it can't be covered.
func (c *Commitment) use(instanceType string, price int64) int64 {
	switch {
	case c.PercentOfPrice > 0:
		return int64(math.Ceil(float64(price) * (c.PercentOfPrice / 100)))
	case c.ByType != nil:
		return NanoUSD(c.ByType[instanceType])
	}
	return Whole
}

// costTable has the prices of a catalog's offerings for one pool, or for several pools to which the same terms apply.
type costTable struct {
	of   *Costs
	list []int64 // like Catalog.prices
	// inPool says, by term, whether it applies to nodes of the pool. variants and slots have, by term, the variants and slots to which it
	// applies.
	inPool          []bool
	variants, slots []bitset.Set
	// covered is indexed by commitment, and then by variant*slots+slot.
	covered [][]Coverage
}

// Coverage is the price of an offering that a commitment covers completely, and the amount of the commitment that it uses. Used is 0 if the
// commitment does not cover the offering or saves nothing.
type Coverage struct{ Price, Used int64 }

// PoolTerms returns, for each term, whether it applies to nodes of the pool, and a text that is equal for equal results.
func (c *Costs) PoolTerms(key v1.PoolKey) (in []bool, text string) {
	in = make([]bool, len(c.Terms))
	signs := make([]byte, len(c.Terms))
	for i := range c.Terms {
		in[i], signs[i] = c.Terms[i].inPool(key), '0'
		if in[i] {
			signs[i] = '1'
		}
	}
	return in, string(signs)
}

// Reprice returns a copy of the catalog with the prices of the cost model. Everything else is shared.
func (c *Catalog) Reprice(model *Costs, inPool []bool, source string) *Catalog {
	out := *c
	out.variantMasks, out.slotMasks, out.frozen = maps.Clone(c.variantMasks), maps.Clone(c.slotMasks), false
	out.Source = source
	t := &costTable{of: model, list: c.prices, inPool: inPool, covered: make([][]Coverage, len(model.Commitments))}
	for i := range model.Terms {
		variants, slots := c.AllVariants.Clone(), c.AllSlots.Clone()
		for _, r := range model.Terms[i].Where {
			if c.OfferingKeys[r.Key()] {
				slots.And(c.SlotMask(r))
			} else {
				variants.And(c.VariantMask(r))
			}
		}
		t.variants, t.slots = append(t.variants, variants), append(t.slots, slots)
	}
	out.costs = t
	out.prices = slices.Clone(c.prices)
	for k := range t.covered {
		t.covered[k] = make([]Coverage, len(c.prices))
	}
	for v := range out.Variants {
		for s := range out.Slots {
			at := v*len(out.Slots) + s
			if c.prices[at] == NoPrice {
				continue
			}
			o := out.pricedAt(v, s, c.prices[at])
			out.prices[at], _ = model.Walk(&o, NoTerm, nil)
			for k, term := range model.Commitments {
				if !o.Applies[term] || out.Slots[s].Reservation != "" {
					continue
				}
				if price, used := model.Walk(&o, term, nil); used > 0 && price < out.prices[at] {
					t.covered[k][at] = Coverage{price, used}
				}
			}
		}
	}
	return &out
}

// pricedAt returns a variant in a slot as an offering with the given list price.
func (c *Catalog) pricedAt(variant, slot int, list int64) Priced {
	it := c.Types[c.Variants[variant].Type]
	o := Priced{Key: c.offeringKey(it, slot), Capacity: c.Variants[variant].Capacity, List: list, Applies: make([]bool, len(c.costs.inPool))}
	for i := range o.Applies {
		o.Applies[i] = c.costs.inPool[i] && c.costs.variants[i].Has(variant) && c.costs.slots[i].Has(slot)
	}
	return o
}

func (c *Catalog) offeringKey(it *cloudprovider.InstanceType, slot int) cloudprovider.OfferingKey {
	s := &c.Slots[slot]
	return cloudprovider.OfferingKey{InstanceType: it.Name, Zone: s.Zone, CapacityType: s.CapacityType, Others: s.Others}
}

// Repriced returns the price that the cost model gives an offering which can't be bought now and has this list price.
func (c *Catalog) Repriced(variant, slot int, list int64) int64 {
	if c.costs == nil {
		return list
	}
	o := c.pricedAt(variant, slot, list)
	price, _ := c.costs.of.Walk(&o, NoTerm, nil)
	return price
}

// Cover returns the coverage of a variant in a slot by commitment k, or the zero Coverage if it is not covered.
func (c *Catalog) Cover(k, variant, slot int) Coverage {
	if c.costs == nil {
		return Coverage{}
	}
	return c.costs.covered[k][variant*len(c.Slots)+slot]
}

// Lines returns the terms of the price of a variant in a slot.
func (c *Catalog) Lines(variant, slot int, shares []Share) []Line {
	o := c.pricedAt(variant, slot, c.costs.list[variant*len(c.Slots)+slot])
	return c.costs.of.Lines(&o, c.Source, shares)
}

// Lines returns the amount that each term adds to a price if commitments cover shares of the node, or nil if there is no cost model.
func (c *Costs) Lines(o *Priced, source string, shares []Share) []Line {
	out := []Line{{Name: listPrice, Source: source, Amount: float64(o.List) / NanoPerUSD}}
	sums := make([]int64, len(c.Terms))
	noted := make([]bool, len(c.Terms))
	plain, _ := c.Walk(o, NoTerm, func(i int, amount int64) { sums[i], noted[i] = amount, true })
	covered := make([]float64, len(c.Terms))
	for _, s := range shares {
		term := c.Commitments[s.Commitment]
		line := make([]int64, len(c.Terms))
		price, used := c.Walk(o, term, func(i int, amount int64) { line[i], noted[i] = amount, true })
		if used == 0 || price >= plain {
			continue
		}
		covered[term] = float64(s.share) / Whole
		// The price contains the total saving of the share, rounded down. The lines must add up to the price.
		saved, told := part(plain-price, s.share), int64(0)
		base := make([]int64, len(c.Terms))
		c.Walk(o, NoTerm, func(i int, amount int64) { base[i] = amount })
		for i := range line {
			if i != term {
				d := signedPart(line[i]-base[i], s.share)
				sums[i] += d
				told += d
			}
		}
		sums[term] -= saved + told
	}
	for i := range c.Terms {
		if noted[i] && (sums[i] != 0 || covered[i] > 0) {
			out = append(out, Line{Name: c.Terms[i].Name, Source: c.Terms[i].Source, Amount: float64(sums[i]) / NanoPerUSD, Covered: covered[i]})
		}
	}
	return out
}

// part returns amount x share, rounded down. amount must not be negative.
func part(amount, share int64) int64 {
	hi, lo := bits.Mul64(uint64(amount), uint64(share))
	q, _ := bits.Div64(hi, lo, Whole)
	return int64(q)
}

func signedPart(amount, share int64) int64 {
	if amount < 0 {
		return -part(-amount, share)
	}
	return part(amount, share)
}
