package scheduling

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/existing"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/resources"
)

// standing is a node of the snapshot with the offering it was bought as.
type standing struct {
	node int32
	market.Priced
	source string
	market.Covered
}

// standings are the nodes of the snapshot that use commitments.
type standings struct {
	nodes []standing
	// order is indexed by commitment: those it may cover, most yield first.
	order [][]int32
	// left of each commitment when no node is hidden, and the shares of each of nodes.
	left   []int64
	shares [][]market.Share
}

// compileStandings finds what the snapshot's nodes use of the commitments.
func (m *Model) compileStandings() {
	if m.costs == nil || len(m.costs.Commitments) == 0 {
		return
	}
	s := &standings{order: make([][]int32, len(m.costs.Commitments))}
	for i := range m.nodes {
		if m.nodes[i].Source.Leaving {
			continue
		}
		o, source, ok := m.boughtAs((*Node)(m.nodes[i].Source))
		if !ok || o.Key.CapacityType == capacityTypeReserved {
			continue
		}
		st := standing{node: int32(i), Priced: o, source: source, Covered: market.Covered{InstanceType: o.Key.InstanceType, By: make([]market.Coverage, len(m.costs.Commitments))}}
		st.Plain, _ = m.costs.Walk(&o, market.NoTerm, nil)
		for k, term := range m.costs.Commitments {
			if !o.Applies[term] {
				continue
			}
			if price, used := m.costs.Walk(&o, term, nil); used > 0 && price < st.Plain {
				st.By[k] = market.Coverage{Price: price, Used: used}
				s.order[k] = append(s.order[k], int32(len(s.nodes)))
			}
		}
		s.nodes = append(s.nodes, st)
	}
	for k := range s.order {
		before := market.ByYield(k)
		slices.SortFunc(s.order[k], func(a, b int32) int {
			x, y := &s.nodes[a], &s.nodes[b]
			return cmp.Or(before(&x.Covered, &y.Covered), cmp.Compare(m.nodes[x.node].Name, m.nodes[y.node].Name))
		})
	}
	s.left, s.shares = s.fillWithout(m.costs, nil)
	m.standings = s
}

// fillWithout is what the nodes that are not hidden leave of each commitment, and their shares.
func (s *standings) fillWithout(model *market.Costs, hidden []int32) (left []int64, shares [][]market.Share) {
	nodes := make([]market.Covered, len(s.nodes))
	for i := range nodes {
		nodes[i] = market.Covered{InstanceType: s.nodes[i].InstanceType, Plain: s.nodes[i].Plain, By: s.nodes[i].By, Rest: market.Whole}
	}
	left = make([]int64, len(model.Commitments))
	for k, term := range model.Commitments {
		var list []*market.Covered
		for _, i := range s.order[k] {
			if !slices.Contains(hidden, s.nodes[i].node) {
				list = append(list, &nodes[i])
			}
		}
		left[k] = market.Fill(k, model.Terms[term].Commitment.Amount, list)
	}
	shares = make([][]market.Share, len(nodes))
	for i := range nodes {
		shares[i] = nodes[i].Shares
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

// coverable is a new node of the pool as commitments see it.
func (m *Model) coverable(p *nodepool.Pool, row, slot int) *market.Covered {
	t := p.Table
	variant := t.Rows[row].Variant
	out := &market.Covered{InstanceType: t.Catalog.Types[t.Catalog.Variants[variant].Type].Name, Plain: t.Catalog.Price(variant, slot), By: make([]market.Coverage, len(m.costs.Commitments)), Rest: market.Whole}
	for k := range out.By {
		out.By[k] = t.Catalog.Cover(k, variant, slot)
	}
	return out
}

// committedSavings is what commitments take off the cost of the trial's new nodes.
func (t *Trial) committedSavings() int64 {
	if t.m.standings == nil {
		return 0
	}
	var nodes []*market.Covered
	for i := range t.machines {
		if mc := &t.machines[i]; !mc.empty() {
			nodes = append(nodes, t.m.coverable(t.m.pools[mc.pool], int(mc.row), int(mc.slot)))
		}
	}
	t.m.costs.FillNew(t.commitmentsLeft(), nodes)
	sum := int64(0)
	for _, n := range nodes {
		sum += n.Saved()
	}
	return sum
}

// boughtAs finds the offering that a node of the snapshot was bought as: by its labels, in the catalog of its pool or,
// without one, in the first by name that has its type; of several that its labels leave the cheapest. A node that does
// not say its capacity type counts as bought on demand.
func (m *Model) boughtAs(n *Node) (o market.Priced, source string, ok bool) {
	labels := map[string]string{}
	for k, v := range existing.ViewOf((*existing.Source)(n)).Labels {
		if key := m.vocab.Canonical(k); key == k || labels[key] == "" {
			labels[key] = m.vocab.CanonicalValue(key, v)
		}
	}
	if labels[labelCapacityType] == "" {
		labels[labelCapacityType] = v1.CapacityTypeOnDemand
	}
	for _, c := range m.catalogsOf(n) {
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
		if m.costs != nil {
			o.Applies = m.costs.AppliesTo(c, it, offering, n.Pool)
		}
		return o, c.Source, true
	}
	return market.Priced{}, "", false
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

// catalogsOf are those in which to look for the node's type.
func (m *Model) catalogsOf(n *Node) []*market.Catalog {
	if at, ok := m.poolIndex[n.Pool]; ok {
		if c := m.catalogs[m.pools[at].CatalogName]; c != nil {
			return []*market.Catalog{c}
		}
	}
	names := make([]string, 0, len(m.catalogs))
	for name := range m.catalogs {
		names = append(names, name)
	}
	slices.Sort(names)
	out := make([]*market.Catalog, len(names))
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
	o, source, ok := m.boughtAs((*Node)(m.nodes[i].Source))
	if !ok {
		return NodePrice{}, false
	}
	out := NodePrice{Offering: o.Key, Price: float64(o.List) / market.NanoPerUSD}
	if m.costs == nil {
		return out, true
	}
	price, _ := m.costs.Walk(&o, market.NoTerm, nil)
	var shares []market.Share
	if s := m.standings; s != nil {
		if at := slices.IndexFunc(s.nodes, func(st standing) bool { return st.node == int32(i) }); at >= 0 {
			shares = s.shares[at]
		}
	}
	for _, sh := range shares {
		price -= sh.Saved
	}
	out.Price, out.Terms = float64(price)/market.NanoPerUSD, priceTerms(m.costs.Lines(&o, source, shares))
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
	covers := make([]*market.Covered, len(nodes))
	for i := range nodes {
		covers[i] = m.coverable(m.pools[nodes[i].machine.pool], nodes[i].row, nodes[i].slot)
	}
	left := t.commitmentsLeft()
	remains := m.costs.FillNew(left, covers)
	saved := make([]int64, len(left))
	options := map[string][]InstanceTypeOption{}
	for i, c := range covers {
		if len(c.Shares) == 0 {
			continue
		}
		for _, s := range c.Shares {
			saved[s.Commitment] += s.Saved
		}
		text := fmt.Sprint(nodes[i].offers.key, nodes[i].machine.used, nodes[i].row, c.Shares)
		if options[text] == nil {
			options[text] = m.coveredOptions(&nodes[i], c)
		}
		out.NewNodes[i].InstanceTypes = options[text]
	}
	for k, term := range m.costs.Commitments {
		c := &m.snapshot.CostModel.Terms[term]
		out.Commitments = append(out.Commitments, CommitmentUse{
			Name: c.Name, Source: c.Source, Unit: c.Commitment.unit(), Amount: c.Commitment.Amount,
			Existing: float64(m.costs.Terms[term].Commitment.Amount-left[k]) / market.Whole, Planned: float64(left[k]-remains[k]) / market.Whole, Saved: float64(saved[k]) / market.NanoPerUSD,
		})
	}
}

// coveredOptions are the node's options with the prices that they have with its shares covered: the first stays first.
func (m *Model) coveredOptions(n *boughtNode, c *market.Covered) []InstanceTypeOption {
	p := m.pools[n.machine.pool]
	catalog := p.Table.Catalog
	out := make([]InstanceTypeOption, 0, len(n.options))
	for i, plain := range n.options {
		if i == 0 {
			plain.Price, plain.Terms = pricedOption(catalog.CoveredAt(p.Table.Rows[n.row].Variant, n.slot, c))
			out = append(out, plain)
			continue
		}
		// Of a type's rows the first offered counts, as in optionsFor.
		at := slices.IndexFunc(n.offers.rows, func(o rowOffer) bool {
			return o.option.Name == plain.Name && o.option.Price == plain.Price && resources.Fits(n.machine.used, p.Table.AllocOf(o.row, m.resources.Len()))
		})
		o := n.offers.rows[at]
		plain.Price, plain.Terms = pricedOption(catalog.CoveredAt(p.Table.Rows[o.row].Variant, o.slot, c))
		out = append(out, plain)
	}
	slices.SortStableFunc(out[1:], func(a, b InstanceTypeOption) int { return cmp.Compare(a.Price, b.Price) })
	return out
}

// keepCovered narrows the nodes that would do in place of one that is planned for a commitment to those that it
// covers: bought where it covers the planned one, and covered wherever that is.
func (m *Model) keepCovered(mc *machine, rows, slots bitset.Set) {
	if mc.commitment == 0 {
		return
	}
	k, t := int(mc.commitment-1), m.pools[mc.pool].Table
	for s := range slots.Members {
		if t.Catalog.Cover(k, t.Rows[mc.row].Variant, s).Used == 0 {
			slots.Remove(s)
		}
	}
	for r := range rows.Members {
		for s := range slots.Members {
			variant := t.Rows[r].Variant
			if t.Rows[r].Slots.Has(s) && t.Catalog.Price(variant, s) != market.NoPrice && t.Catalog.Cover(k, variant, s).Used == 0 {
				rows.Remove(r)
				break
			}
		}
	}
}
