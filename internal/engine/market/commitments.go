package market

import (
	"cmp"
	"math/bits"
	"slices"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/engine/match"
)

// Share is the share of a node that a commitment covers.
type Share struct {
	// Commitment is the number of the commitment.
	Commitment int
	// share is the covered share of the node, used is the amount of the commitment that is used, and Saved is the amount saved of the
	// node's price. All three are in units of 1e-9.
	share, used, Saved int64
}

// Covered is a node that commitments may cover.
type Covered struct {
	InstanceType string
	// Plain is the price without commitments.
	Plain int64
	// By is indexed by commitment and has the coverage by each commitment.
	By []Coverage
	// Shares are the shares of the node that are covered so far. Rest is the share that is not covered.
	Shares []Share
	Rest   int64
}

// Saved returns the amount by which the shares reduce the price.
func (c *Covered) Saved() int64 {
	sum := int64(0)
	for _, s := range c.Shares {
		sum += s.Saved
	}
	return sum
}

// yield compares nodes by the amount that commitment k saves per unit used, largest first, without rounding.
func yield(k int, a, b *Covered) int {
	ahi, alo := bits.Mul64(uint64(a.Plain-a.By[k].Price), uint64(b.By[k].Used))
	bhi, blo := bits.Mul64(uint64(b.Plain-b.By[k].Price), uint64(a.By[k].Used))
	return cmp.Or(cmp.Compare(bhi, ahi), cmp.Compare(blo, alo))
}

// ByYield returns a comparison for the order in which commitment k covers nodes. It ignores shares that are already covered; only Fill
// knows them.
func ByYield(k int) func(a, b *Covered) int {
	return func(a, b *Covered) int {
		return cmp.Or(yield(k, a, b), -cmp.Compare(a.Plain, b.Plain), cmp.Compare(a.InstanceType, b.InstanceType))
	}
}

// Fill covers nodes with commitment k and returns the remaining amount. The nodes must be in the order of ByYield. Of nodes with the same
// yield, those with the largest uncovered share are covered first.
func Fill(k int, left int64, nodes []*Covered) int64 {
	for lo := 0; lo < len(nodes) && left > 0; {
		hi, mixed := lo+1, false
		for ; hi < len(nodes) && yield(k, nodes[lo], nodes[hi]) == 0; hi++ {
			mixed = mixed || nodes[hi].Rest != nodes[lo].Rest
		}
		if mixed {
			slices.SortStableFunc(nodes[lo:hi], func(a, b *Covered) int { return cmp.Compare(b.Rest, a.Rest) })
		}
		for _, n := range nodes[lo:hi] {
			left -= n.cover(k, left)
		}
		lo = hi
	}
	return left
}

// cover covers as much of the node as the remaining amount of commitment k (the parameter left) allows. It returns the amount of the
// commitment that this uses.
func (c *Covered) cover(k int, left int64) int64 {
	by := c.By[k]
	if c.Rest == 0 || left == 0 {
		return 0
	}
	sh, used := c.Rest, part(by.Used-1, c.Rest)+1
	if used > left {
		hi, lo := bits.Mul64(uint64(left), Whole)
		q, _ := bits.Div64(hi, lo, uint64(by.Used))
		sh, used = min(int64(q), c.Rest), left
	}
	saved := part(c.Plain-by.Price, sh)
	if saved <= 0 {
		return 0
	}
	c.Shares = append(c.Shares, Share{k, sh, used, saved})
	c.Rest -= sh
	return used
}

// FillNew covers new nodes with the remaining amount of each commitment, and returns the amounts that remain afterwards.
func (c *Costs) FillNew(left []int64, nodes []*Covered) []int64 {
	left = slices.Clone(left)
	for k := range left {
		list := slices.DeleteFunc(slices.Clone(nodes), func(n *Covered) bool { return n.By[k].Used == 0 })
		slices.SortStableFunc(list, ByYield(k))
		left[k] = Fill(k, left[k], list)
	}
	return left
}

// AppliesTo says which terms apply to a node of the pool that is bought as the offering. ofOfferings reports whether offerings state a key.
func (c *Costs) AppliesTo(ofOfferings func(key string) bool, it *cloudprovider.InstanceType, o *cloudprovider.Offering, pool v1.PoolKey) []bool {
	out := make([]bool, len(c.Terms))
	for i := range c.Terms {
		t := &c.Terms[i]
		out[i] = t.inPool(pool)
		for _, r := range t.Where {
			have := it.Requirements
			if ofOfferings(r.Key()) {
				have = o.Requirements
			}
			out[i] = out[i] && match.Meets(have, r)
		}
	}
	return out
}

// CoveredAt returns the price of a variant in a slot, in USD per hour, and the terms of that price. The parameter by has the covered
// shares. It ignores shares of commitments that do not apply to the variant in the slot.
func (c *Catalog) CoveredAt(variant, slot int, by *Covered) (usd float64, terms []Line) {
	price := c.Price(variant, slot)
	var shares []Share
	for _, s := range by.Shares {
		if cover := c.Cover(s.Commitment, variant, slot); cover.Used > 0 {
			price -= part(c.Price(variant, slot)-cover.Price, s.share)
			shares = append(shares, s)
		}
	}
	return float64(price) / NanoPerUSD, c.Lines(variant, slot, shares)
}
