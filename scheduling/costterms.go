package scheduling

import (
	"errors"
	"fmt"
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

// whole is the share of a node that is covered altogether. Shares are integers, in thousand-millionths, like money and the
// amounts of commitments.
const whole = 1_000_000_000

// costs is a CostModel made ready for planning.
type costs struct {
	terms []costTerm
	// commitments are the terms that are one, by number.
	commitments []int
}

// costTerm is a term with its selector read.
type costTerm struct {
	*CostTerm
	where []requirements.Requirement
	table map[cloudprovider.OfferingKey]int64
	// amount is that of its commitment.
	amount int64
}

// compileCosts reads the snapshot's cost model and gives each pool its prices.
func (m *Model) compileCosts(s *Snapshot) (err error) {
	if m.costs, err = m.readCosts(s); err == nil {
		m.priceCatalogs(s)
	}
	return err
}

// readCosts is the snapshot's cost model; nil without terms.
func (m *Model) readCosts(s *Snapshot) (*costs, error) {
	if err := s.CostModel.Validate(); err != nil {
		var at *CostModelError
		if errors.As(err, &at) {
			return nil, &SnapshotError{Path: "costModel." + at.Path, Rule: at.Rule, Cure: at.Cure}
		}
		return nil, err
	}
	if s.CostModel == nil || len(s.CostModel.Terms) == 0 {
		return nil, nil
	}
	out := &costs{}
	for i := range s.CostModel.Terms {
		t := costTerm{CostTerm: &s.CostModel.Terms[i]}
		capacityTyped := false
		for j, e := range t.Where.Requirements {
			r, err := m.vocab.ParseNodeSelectorRequirement(e)
			if err != nil {
				return nil, &SnapshotError{Path: fmt.Sprintf("costModel.terms[%d].where.requirements[%d]", i, j), Rule: "can't be read: " + err.Error(), Cure: "see the rule"}
			}
			t.where = append(t.where, r)
			capacityTyped = capacityTyped || r.Key() == labelCapacityType
		}
		if t.Offerings != nil {
			t.table = make(map[cloudprovider.OfferingKey]int64, len(t.Offerings))
			for _, o := range t.Offerings {
				t.table[o.Offering] = nanoUSD(o.Amount)
			}
		}
		if t.Commitment != nil {
			if !capacityTyped {
				t.where = append(t.where, requirements.In(labelCapacityType, v1.CapacityTypeOnDemand))
			}
			t.amount = nanoUSD(t.Commitment.Amount)
			out.commitments = append(out.commitments, i)
		}
		out.terms = append(out.terms, t)
	}
	return out, nil
}

// inPool reports whether the term applies to nodes of the pool, the zero key for none.
func (t *costTerm) inPool(key v1.PoolKey) bool {
	return len(t.Where.NodePools) == 0 || (!key.IsZero() && slices.Contains(t.Where.NodePools, key.String()))
}

// priced is an offering whose price is asked for.
type priced struct {
	key      cloudprovider.OfferingKey
	capacity corev1.ResourceList
	// applies is indexed like costs.terms.
	applies []bool
	list    int64
}

// noTerm stands for no commitment.
const noTerm = -1

// walk applies the terms to the list price, in their order, with the offering covered wholly by one of the commitments,
// which is a term's number, or by none. note is told what each term adds; nil for nobody. used is what the covering
// commitment is used for it, 0 if it does not cover it.
func (c *costs) walk(o *priced, covering int, note func(term int, amount int64)) (price, used int64) {
	price = o.list
	for i := range c.terms {
		t := &c.terms[i]
		if !o.applies[i] {
			continue
		}
		after := price
		switch {
		case t.Percent != nil:
			after += percentOf(price, *t.Percent)
		case t.PerNode != nil:
			after += nanoUSD(*t.PerNode)
		case t.PerResource != nil:
			after += nanoUSD(t.perResource(o.capacity))
		case t.Price != nil:
			after = nanoUSD(*t.Price)
		case t.table != nil:
			after += t.table[o.key]
		case i == covering:
			if used = t.Commitment.use(o.key.InstanceType, price); used > 0 {
				after = percentOf(price, t.Commitment.RemainingPercent)
			}
		}
		after = min(max(after, 0), maxPrice*nanoPerUSD)
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

// perResource is what the capacity adds, USD per hour, summed in the order of names.
func (t *costTerm) perResource(capacity corev1.ResourceList) float64 {
	sum := 0.0
	for _, name := range sortedKeys(t.PerResource) {
		q := capacity[name]
		units := q.AsApproximateFloat64()
		if inGiB(name) {
			units /= 1 << 30
		}
		sum += t.PerResource[name] * units
	}
	return min(max(sum, -maxPrice), maxPrice)
}

func inGiB(name corev1.ResourceName) bool {
	return name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage || strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

// use is how much of the commitment a wholly covered node of the type and price uses; 0 if it can't be covered.
func (c *Commitment) use(instanceType string, price int64) int64 {
	switch {
	case c.PercentOfPrice > 0:
		return int64(math.Ceil(float64(price) * (c.PercentOfPrice / 100)))
	case c.ByType != nil:
		return nanoUSD(c.ByType[instanceType])
	}
	return whole
}

// pricing of a catalog's offerings for one pool, or for several to which the same terms apply.
type costTable struct {
	of   *costs
	list []int64 // like catalog.prices
	// applies is what each term applies to.
	inPool          []bool
	variants, slots []bitset.Set
	// covered is indexed [commitment][variant*slots+slot].
	covered [][]coverage
}

// coverage is what an offering costs when a commitment covers it wholly, and what it uses of it then; used 0 where it does
// not, or saves nothing.
type coverage struct{ price, used int64 }

// priceCatalogs gives each pool the prices of the cost model.
func (m *Model) priceCatalogs(s *Snapshot) {
	if m.costs == nil {
		return
	}
	for i := range s.NodePools {
		name := m.poolCatalog[i]
		if name == "" || s.NodePools[i].Object == nil {
			continue
		}
		inPool, text := m.costs.poolTerms(s.NodePools[i].Identity())
		pricedName := name + "\x00" + s.NodePools[i].Catalog + "\x00" + text
		if m.catalogs[pricedName] == nil {
			source := fmt.Sprintf("catalog %q", s.NodePools[i].Catalog)
			if m.overlays != nil {
				source += ", NodeOverlays applied"
			}
			m.catalogs[pricedName] = m.catalogs[name].reprice(m.costs, inPool, source)
		}
		m.poolCatalog[i] = pricedName
	}
}

// poolTerms are the terms that apply to nodes of the pool, and a text that differs where they do.
func (c *costs) poolTerms(key v1.PoolKey) (in []bool, text string) {
	in = make([]bool, len(c.terms))
	signs := make([]byte, len(c.terms))
	for i := range c.terms {
		in[i], signs[i] = c.terms[i].inPool(key), '0'
		if in[i] {
			signs[i] = '1'
		}
	}
	return in, string(signs)
}

// reprice is the catalog with the prices of the cost model, sharing all else.
func (c *catalog) reprice(model *costs, inPool []bool, source string) *catalog {
	out := *c
	out.variantMasks, out.slotMasks, out.frozen = maps.Clone(c.variantMasks), maps.Clone(c.slotMasks), false
	out.source = source
	t := &costTable{of: model, list: c.prices, inPool: inPool, covered: make([][]coverage, len(model.commitments))}
	for i := range model.terms {
		variants, slots := c.allVariants.Clone(), c.allSlots.Clone()
		for _, r := range model.terms[i].where {
			if c.offeringKeys[r.Key()] {
				slots.And(c.slotMask(r))
			} else {
				variants.And(c.variantMask(r))
			}
		}
		t.variants, t.slots = append(t.variants, variants), append(t.slots, slots)
	}
	out.costs = t
	out.prices = slices.Clone(c.prices)
	for k := range t.covered {
		t.covered[k] = make([]coverage, len(c.prices))
	}
	for v := range out.variants {
		for s := range out.slots {
			at := v*len(out.slots) + s
			if c.prices[at] == noPrice {
				continue
			}
			o := out.pricedAt(v, s, c.prices[at])
			out.prices[at], _ = model.walk(&o, noTerm, nil)
			for k, term := range model.commitments {
				if !o.applies[term] || out.slots[s].reservation != "" {
					continue
				}
				if price, used := model.walk(&o, term, nil); used > 0 && price < out.prices[at] {
					t.covered[k][at] = coverage{price, used}
				}
			}
		}
	}
	return &out
}

// pricedAt is a variant in a slot, with a list price.
func (c *catalog) pricedAt(variant, slot int, list int64) priced {
	it := c.types[c.variants[variant].typ]
	o := priced{key: c.offeringKey(it, slot), capacity: c.variants[variant].capacity, list: list, applies: make([]bool, len(c.costs.inPool))}
	for i := range o.applies {
		o.applies[i] = c.costs.inPool[i] && c.costs.variants[i].Has(variant) && c.costs.slots[i].Has(slot)
	}
	return o
}

func (c *catalog) offeringKey(it *cloudprovider.InstanceType, slot int) cloudprovider.OfferingKey {
	s := &c.slots[slot]
	return cloudprovider.OfferingKey{InstanceType: it.Name, Zone: s.zone, CapacityType: s.capacityType, Others: s.others}
}

// repriced is a list price of an offering that is not on sale, as the cost model has it.
func (c *catalog) repriced(variant, slot int, list int64) int64 {
	if c.costs == nil {
		return list
	}
	o := c.pricedAt(variant, slot, list)
	price, _ := c.costs.of.walk(&o, noTerm, nil)
	return price
}

// cover is the coverage of a variant in a slot by commitment k; zero without one.
func (c *catalog) cover(k, variant, slot int) coverage {
	if c.costs == nil {
		return coverage{}
	}
	return c.costs.covered[k][variant*len(c.slots)+slot]
}

// lines spell out the price of a variant in a slot.
func (c *catalog) lines(variant, slot int, shares []share) []PriceTerm {
	o := c.pricedAt(variant, slot, c.costs.list[variant*len(c.slots)+slot])
	return c.costs.of.lines(&o, c.source, shares)
}

// lines spell out a price: what each term adds, where the commitments cover shares of the node; nil without a cost model.
func (c *costs) lines(o *priced, source string, shares []share) []PriceTerm {
	out := []PriceTerm{{Name: ListPriceTerm, Source: source, Amount: float64(o.list) / nanoPerUSD}}
	sums := make([]int64, len(c.terms))
	noted := make([]bool, len(c.terms))
	plain, _ := c.walk(o, noTerm, func(i int, amount int64) { sums[i], noted[i] = amount, true })
	covered := make([]float64, len(c.terms))
	for _, s := range shares {
		term := c.commitments[s.commitment]
		line := make([]int64, len(c.terms))
		price, used := c.walk(o, term, func(i int, amount int64) { line[i], noted[i] = amount, true })
		if used == 0 || price >= plain {
			continue
		}
		covered[term] = float64(s.share) / whole
		// What the share saves as a whole, rounded down, is what the price shows; the lines add up to that.
		saved, told := part(plain-price, s.share), int64(0)
		base := make([]int64, len(c.terms))
		c.walk(o, noTerm, func(i int, amount int64) { base[i] = amount })
		for i := range line {
			if i != term {
				d := signedPart(line[i]-base[i], s.share)
				sums[i] += d
				told += d
			}
		}
		sums[term] -= saved + told
	}
	for i := range c.terms {
		if noted[i] && (sums[i] != 0 || covered[i] > 0) {
			out = append(out, PriceTerm{Name: c.terms[i].Name, Source: c.terms[i].Source, Amount: float64(sums[i]) / nanoPerUSD, Covered: covered[i]})
		}
	}
	return out
}

// part is amount x share, rounded down; amount is at least 0.
func part(amount, share int64) int64 {
	hi, lo := bits.Mul64(uint64(amount), uint64(share))
	q, _ := bits.Div64(hi, lo, whole)
	return int64(q)
}

func signedPart(amount, share int64) int64 {
	if amount < 0 {
		return -part(-amount, share)
	}
	return part(amount, share)
}

// NodePrice is what a node of the snapshot costs.
type NodePrice struct {
	// Offering that the node was bought as.
	Offering cloudprovider.OfferingKey `json:"offering"`
	// Price in USD per hour, what commitments pay already taken off.
	Price float64 `json:"price"`
	// Terms that made it, the list price first; nil without a CostModel.
	Terms []PriceTerm `json:"terms,omitempty"`
}
