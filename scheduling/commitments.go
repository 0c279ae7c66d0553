package scheduling

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/resources"
)

// share is how much of a node a commitment covers.
type share struct {
	// commitment by number.
	commitment int
	// share of the node, used of the commitment, saved of the node's price; all in thousand-millionths.
	share, used, saved int64
}

// covered is a node that commitments may cover.
type covered struct {
	instanceType string
	// plain is its price without any.
	plain int64
	// by is indexed by commitment.
	by []coverage
	// shares of it are covered so far; rest is not.
	shares []share
	rest   int64
}

func (c *covered) saved() int64 {
	sum := int64(0)
	for _, s := range c.shares {
		sum += s.saved
	}
	return sum
}

// yield compares nodes by what commitment k saves on them for what they use of it, most first: without rounding.
func yield(k int, a, b *covered) int {
	ahi, alo := bits.Mul64(uint64(a.plain-a.by[k].price), uint64(b.by[k].used))
	bhi, blo := bits.Mul64(uint64(b.plain-b.by[k].price), uint64(a.by[k].used))
	return cmp.Or(cmp.Compare(bhi, ahi), cmp.Compare(blo, alo))
}

// byYield is the order in which commitment k is filled but for what is covered already, which only fill knows.
func byYield(k int) func(a, b *covered) int {
	return func(a, b *covered) int {
		return cmp.Or(yield(k, a, b), -cmp.Compare(a.plain, b.plain), cmp.Compare(a.instanceType, b.instanceType))
	}
}

// fill uses commitment k up for the nodes, which are in the order of byYield, and returns what is left of it. Of nodes with
// the same yield those come first of which most is not covered yet.
func fill(k int, left int64, nodes []*covered) int64 {
	for lo := 0; lo < len(nodes) && left > 0; {
		hi, mixed := lo+1, false
		for ; hi < len(nodes) && yield(k, nodes[lo], nodes[hi]) == 0; hi++ {
			mixed = mixed || nodes[hi].rest != nodes[lo].rest
		}
		if mixed {
			slices.SortStableFunc(nodes[lo:hi], func(a, b *covered) int { return cmp.Compare(b.rest, a.rest) })
		}
		for _, n := range nodes[lo:hi] {
			left -= n.cover(k, left)
		}
		lo = hi
	}
	return left
}

// cover covers what commitment k can with what is left of it, and returns how much of it that uses.
func (c *covered) cover(k int, left int64) int64 {
	by := c.by[k]
	if c.rest == 0 || left == 0 {
		return 0
	}
	sh, used := c.rest, part(by.used-1, c.rest)+1
	if used > left {
		hi, lo := bits.Mul64(uint64(left), whole)
		q, _ := bits.Div64(hi, lo, uint64(by.used))
		sh, used = min(int64(q), c.rest), left
	}
	saved := part(c.plain-by.price, sh)
	if saved <= 0 {
		return 0
	}
	c.shares = append(c.shares, share{k, sh, used, saved})
	c.rest -= sh
	return used
}

// standing is a node of the snapshot with the offering it was bought as.
type standing struct {
	node int32
	priced
	source string
	covered
}

// standings are the nodes of the snapshot that use commitments.
type standings struct {
	nodes []standing
	// order is indexed by commitment: those it may cover, most yield first.
	order [][]int32
	// left of each commitment when no node is hidden, and the shares of each of nodes.
	left   []int64
	shares [][]share
}

// compileStandings finds what the snapshot's nodes use of the commitments.
func (m *Model) compileStandings() {
	if m.costs == nil || len(m.costs.commitments) == 0 {
		return
	}
	s := &standings{order: make([][]int32, len(m.costs.commitments))}
	for i := range m.nodes {
		if m.nodes[i].source.Leaving {
			continue
		}
		o, source, ok := m.boughtAs(m.nodes[i].source)
		if !ok || o.key.CapacityType == capacityTypeReserved {
			continue
		}
		st := standing{node: int32(i), priced: o, source: source, covered: covered{instanceType: o.key.InstanceType, by: make([]coverage, len(m.costs.commitments))}}
		st.plain, _ = m.costs.walk(&o, noTerm, nil)
		for k, term := range m.costs.commitments {
			if !o.applies[term] {
				continue
			}
			if price, used := m.costs.walk(&o, term, nil); used > 0 && price < st.plain {
				st.by[k] = coverage{price, used}
				s.order[k] = append(s.order[k], int32(len(s.nodes)))
			}
		}
		s.nodes = append(s.nodes, st)
	}
	for k := range s.order {
		before := byYield(k)
		slices.SortFunc(s.order[k], func(a, b int32) int {
			x, y := &s.nodes[a], &s.nodes[b]
			return cmp.Or(before(&x.covered, &y.covered), cmp.Compare(m.nodes[x.node].name, m.nodes[y.node].name))
		})
	}
	s.left, s.shares = s.fillWithout(m.costs, nil)
	m.standings = s
}

// fillWithout is what the nodes that are not hidden leave of each commitment, and their shares.
func (s *standings) fillWithout(model *costs, hidden []int32) (left []int64, shares [][]share) {
	nodes := make([]covered, len(s.nodes))
	for i := range nodes {
		nodes[i] = covered{instanceType: s.nodes[i].instanceType, plain: s.nodes[i].plain, by: s.nodes[i].by, rest: whole}
	}
	left = make([]int64, len(model.commitments))
	for k, term := range model.commitments {
		var list []*covered
		for _, i := range s.order[k] {
			if !slices.Contains(hidden, s.nodes[i].node) {
				list = append(list, &nodes[i])
			}
		}
		left[k] = fill(k, model.terms[term].amount, list)
	}
	shares = make([][]share, len(nodes))
	for i := range nodes {
		shares[i] = nodes[i].shares
	}
	return left, shares
}

// commitmentsLeft is what the trial's nodes of the snapshot leave of each commitment for new ones.
func (t *Trial) commitmentsLeft() []int64 {
	switch s := t.m.standings; {
	case s == nil:
		return nil
	case len(t.hidden) == 0:
		return s.left
	default:
		left, _ := s.fillWithout(t.m.costs, t.hidden)
		return left
	}
}

// fillNew covers new nodes with what is left of each commitment, and returns what remains.
func (c *costs) fillNew(left []int64, nodes []*covered) []int64 {
	left = slices.Clone(left)
	for k := range left {
		list := slices.DeleteFunc(slices.Clone(nodes), func(n *covered) bool { return n.by[k].used == 0 })
		slices.SortStableFunc(list, byYield(k))
		left[k] = fill(k, left[k], list)
	}
	return left
}

// coverable is a new node of the pool as commitments see it.
func (m *Model) coverable(p *pool, row, slot int) *covered {
	t := p.table
	variant := t.rows[row].variant
	out := &covered{instanceType: t.catalog.types[t.catalog.variants[variant].typ].Name, plain: t.catalog.price(variant, slot), by: make([]coverage, len(m.costs.commitments)), rest: whole}
	for k := range out.by {
		out.by[k] = t.catalog.cover(k, variant, slot)
	}
	return out
}

// committedSavings is what commitments take off the cost of the trial's new machines.
func (t *Trial) committedSavings() int64 {
	if t.m.standings == nil {
		return 0
	}
	var nodes []*covered
	for i := range t.machines {
		if mc := &t.machines[i]; !mc.empty() {
			nodes = append(nodes, t.m.coverable(t.m.pools[mc.pool], int(mc.row), int(mc.slot)))
		}
	}
	t.m.costs.fillNew(t.commitmentsLeft(), nodes)
	sum := int64(0)
	for _, n := range nodes {
		sum += n.saved()
	}
	return sum
}

// boughtAs finds the offering that a node of the snapshot was bought as: by its labels, in the catalog of its pool or,
// without one, in the first by name that has its type; of several that its labels leave the cheapest. A node that does
// not say its capacity type counts as bought on demand.
func (m *Model) boughtAs(n *Node) (o priced, source string, ok bool) {
	labels := map[string]string{}
	for k, v := range viewOf(n).labels {
		if key := m.vocab.Canonical(k); key == k || labels[key] == "" {
			labels[key] = m.vocab.CanonicalValue(key, v)
		}
	}
	if labels[labelCapacityType] == "" {
		labels[labelCapacityType] = v1.CapacityTypeOnDemand
	}
	for _, c := range m.catalogsOf(n) {
		at, found := slices.BinarySearchFunc(c.types, labels[corev1.LabelInstanceTypeStable], func(it *cloudprovider.InstanceType, name string) int {
			return strings.Compare(it.Name, name)
		})
		if !found {
			continue
		}
		it := c.types[at]
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
		o = priced{key: cloudprovider.KeyOf(it, offering), list: nanoUSD(offering.Price), capacity: it.CapacityOf(offering)}
		if m.costs != nil {
			o.applies = m.costs.appliesTo(c, it, offering, n.Pool)
		}
		return o, c.source, true
	}
	return priced{}, "", false
}

// offeredAs reports whether a node with the labels may have been bought as the offering: no label of it says otherwise.
func offeredAs(o *cloudprovider.Offering, labels map[string]string) bool {
	if o.CapacityType() != labels[labelCapacityType] {
		return false
	}
	for r := range o.Requirements.All {
		if v, stated := labels[r.Key()]; stated && !r.Has(v) {
			return false
		}
	}
	return true
}

// appliesTo tells which terms apply to a node of the pool bought as the offering.
func (c *costs) appliesTo(from *catalog, it *cloudprovider.InstanceType, o *cloudprovider.Offering, pool v1.PoolKey) []bool {
	out := make([]bool, len(c.terms))
	for i := range c.terms {
		t := &c.terms[i]
		out[i] = t.inPool(pool)
		for _, r := range t.where {
			have := it.Requirements
			if from.offeringKeys[r.Key()] {
				have = o.Requirements
			}
			out[i] = out[i] && match.Meets(have, r)
		}
	}
	return out
}

// catalogsOf are those in which to look for the node's type.
func (m *Model) catalogsOf(n *Node) []*catalog {
	if at, ok := m.poolIndex[n.Pool]; ok {
		if c := m.catalogs[m.pools[at].catalogName]; c != nil {
			return []*catalog{c}
		}
	}
	names := make([]string, 0, len(m.catalogs))
	for name := range m.catalogs {
		names = append(names, name)
	}
	slices.Sort(names)
	out := make([]*catalog, len(names))
	for i, name := range names {
		out[i] = m.catalogs[name]
	}
	return out
}

// NodePrice is what a node of the snapshot costs now by its offering's list price, its pool's terms, and what commitments
// cover of it; false for a name that the snapshot lacks, and for a node whose instance type or offering no catalog has. It
// is safe for concurrent use.
func (m *Model) NodePrice(name string) (NodePrice, bool) {
	i, ok := m.nodeIndex[name]
	if !ok {
		return NodePrice{}, false
	}
	o, source, ok := m.boughtAs(m.nodes[i].source)
	if !ok {
		return NodePrice{}, false
	}
	out := NodePrice{Offering: o.key, Price: float64(o.list) / nanoPerUSD}
	if m.costs == nil {
		return out, true
	}
	price, _ := m.costs.walk(&o, noTerm, nil)
	var shares []share
	if s := m.standings; s != nil {
		if at := slices.IndexFunc(s.nodes, func(st standing) bool { return st.node == int32(i) }); at >= 0 {
			shares = s.shares[at]
		}
	}
	for _, sh := range shares {
		price -= sh.saved
	}
	out.Price, out.Terms = float64(price)/nanoPerUSD, m.costs.lines(&o, source, shares)
	return out, true
}

// boughtNode is a new node of a plan as commitments see it.
type boughtNode struct {
	machine *machine
	description
}

// writeCommitments covers the plan's new nodes and writes down what that makes of their prices and of the commitments.
// nodes are in the order of out.NewNodes.
func (t *Trial) writeCommitments(out *Plan, nodes []boughtNode) {
	m := t.m
	if m.standings == nil {
		return
	}
	covers := make([]*covered, len(nodes))
	for i := range nodes {
		covers[i] = m.coverable(m.pools[nodes[i].machine.pool], nodes[i].row, nodes[i].slot)
	}
	left := t.commitmentsLeft()
	remains := m.costs.fillNew(left, covers)
	saved := make([]int64, len(left))
	options := map[string][]InstanceTypeOption{}
	for i, c := range covers {
		if len(c.shares) == 0 {
			continue
		}
		for _, s := range c.shares {
			saved[s.commitment] += s.saved
		}
		text := fmt.Sprint(nodes[i].offers.key, nodes[i].machine.used, nodes[i].row, c.shares)
		if options[text] == nil {
			options[text] = m.coveredOptions(&nodes[i], c)
		}
		out.NewNodes[i].InstanceTypes = options[text]
	}
	for k, term := range m.costs.commitments {
		c := &m.costs.terms[term]
		out.Commitments = append(out.Commitments, CommitmentUse{
			Name: c.Name, Source: c.Source, Unit: c.Commitment.unit(), Amount: c.Commitment.Amount,
			Existing: float64(c.amount-left[k]) / whole, Planned: float64(left[k]-remains[k]) / whole, Saved: float64(saved[k]) / nanoPerUSD,
		})
	}
}

// coveredOptions are the node's options with the prices that they have with its shares covered: the first stays first.
func (m *Model) coveredOptions(n *boughtNode, c *covered) []InstanceTypeOption {
	p := m.pools[n.machine.pool]
	catalog := p.table.catalog
	out := make([]InstanceTypeOption, 0, len(n.options))
	for i, plain := range n.options {
		if i == 0 {
			plain.Price, plain.Terms = catalog.coveredAt(p.table.rows[n.row].variant, n.slot, c)
			out = append(out, plain)
			continue
		}
		// Of a type's rows the first offered counts, as in optionsFor.
		at := slices.IndexFunc(n.offers.rows, func(o rowOffer) bool {
			return o.option.Name == plain.Name && o.option.Price == plain.Price && resources.Fits(n.machine.used, p.table.allocOf(o.row, m.resources.Len()))
		})
		o := n.offers.rows[at]
		plain.Price, plain.Terms = catalog.coveredAt(p.table.rows[o.row].variant, o.slot, c)
		out = append(out, plain)
	}
	slices.SortStableFunc(out[1:], func(a, b InstanceTypeOption) int { return cmp.Compare(a.Price, b.Price) })
	return out
}

// coveredAt is the price of a variant in a slot, USD per hour, with those of the shares covered that cover it, and what that
// price is made of.
func (c *catalog) coveredAt(variant, slot int, by *covered) (usd float64, terms []PriceTerm) {
	price := c.price(variant, slot)
	var shares []share
	for _, s := range by.shares {
		if cover := c.cover(s.commitment, variant, slot); cover.used > 0 {
			price -= part(c.price(variant, slot)-cover.price, s.share)
			shares = append(shares, s)
		}
	}
	return float64(price) / nanoPerUSD, c.lines(variant, slot, shares)
}

// keepCovered narrows the machines that would do in place of one that is planned for a commitment to those that it
// covers: bought where it covers the planned one, and covered wherever that is.
func (m *Model) keepCovered(mc *machine, rows, slots bitset.Set) {
	if mc.commitment == 0 {
		return
	}
	k, t := int(mc.commitment-1), m.pools[mc.pool].table
	for s := range slots.Members {
		if t.catalog.cover(k, t.rows[mc.row].variant, s).used == 0 {
			slots.Remove(s)
		}
	}
	for r := range rows.Members {
		for s := range slots.Members {
			variant := t.rows[r].variant
			if t.rows[r].slots.Has(s) && t.catalog.price(variant, s) != noPrice && t.catalog.cover(k, variant, s).used == 0 {
				rows.Remove(r)
				break
			}
		}
	}
}
