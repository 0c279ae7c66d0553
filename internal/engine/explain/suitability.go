package explain

import (
	"math"
	"math/bits"

	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/layout"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/newnodes"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/internal/engine/topology"
	"github.com/drawknife/drawknife/internal/engine/trial"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Explanations check nodes one by one and record which checks each node fails. The check that the nodes of a type fail first is the reason
// for a refusal. A node that fails only one check shows which change would be enough. No result of these checks decides a placement.

// check is one of the checks of a new node. Explanations count them in this order.
type check uint8

const (
	checkRequirements check = iota
	checkResources
	checkOffering
	checkLimits
	checkReservation
	checkVariety
	checkTopology
	checksPassed
)

// explanations contains data that all explanations of a plan share.
type explanations struct {
	t *trial.Trial
	// shut contains, by catalog, the offerings that are unavailable now, with their prices.
	shut map[*market.Catalog]map[variantSlot]int64
	// pools is indexed like Model.pools; its entries are computed when needed.
	pools []*poolFacts
	// twins is indexed like pools: see twinPools.
	twins     []int
	questions map[questionKey]*question
	cells     *layout.Cells // nil if there are no topology rules
	// barred caches, for each cell, whether a new node in the cell would add a domain that breaks a spread: see bars.
	barred map[int32]bool
	// looks is the number of nodes examined for nearest misses. nodeLooks is the number of existing nodes examined.
	looks, nodeLooks int
	// The field came is memory that all surveys share: see newSurvey.
	came []check
	// everyone lists, for each spread group, the number of its members by domain. Members on nodes that the group ignores are counted.
	everyone map[int32][]int32
	// hosts caches the new nodes of questions, without pods.
	hosts map[admission]topology.Host
	// groups caches, for each shape, the checks that each group of nodes fails. rules caches the descriptions of rules.
	groups map[int32][]groupFailings
	rules  map[ruleKey]planning.Rule
	// untainted is indexed like Model.pools: see likeButForTaints. It is nil until it is needed.
	untainted []int32
	// The next fields are the known names that unknown names are compared with: values of labels, resources by catalog, and label keys.
	// near caches similar names.
	values    map[valuesKey][]string
	resources map[*market.Catalog][]string
	keys      []string
	onNodes   map[string]bool
	near      map[nearKey][]string
}

// maxLooks is the limit for explanations.looks, so that explaining never takes much longer than planning. Classes that are explained after
// the limit is reached have no nearest miss.
const maxLooks = 4 << 20

// poolFacts describes the nodes of a pool, independent of pods.
type poolFacts struct {
	// stated has, for each key, the rows and slots that meet the pool's requirement.
	stated map[string]nodepool.Mask
	// cost has the amount of each limit that one node of each row uses, indexed by row*len(limits)+limit. over has the rows for which the
	// limits allow no further node. cost and over are nil if the pool has no limits.
	cost []int64
	over bitset.Set
}

// explainer explains why pods of one class have no places.
type explainer struct {
	*explanations
	m *model.Model
	c *podclass.Class
	s *podclass.Shape
	// demands are the alternatives of the shape for a new node.
	demands []demand
	// awaits means that the pod may only run on nodes of reservations. mayAwait means that awaits could be true if the pod had other
	// demands.
	awaits, mayAwait bool
	// brief means that no nearest miss is searched.
	brief bool
	// loosely means that the pods are explained as if they had other tolerations: see spreadsLoosely.
	loosely bool
	// beyondTaints caches results for pools whose taints the pods don't tolerate. Pools that differ only in taints share an entry, under
	// the index of the first.
	beyondTaints map[int32]toleratedPool
	// tries is the remaining number of existing nodes for which rules may be checked as if the pod or the node were changed.
	tries int
	// roomy has, for each table, the rows that have room for the pod.
	roomy map[*nodepool.Table]bitset.Set
	// admitted caches whether topology rules allow the pod. byWay caches the same for the nodes of the question wayOf, indexed by
	// assignment and slot. It is used if rules can't distinguish the nodes of one assignment and slot.
	admitted map[admission]bool
	byWay    []verdict
	wayOf    *question
	// residents counts the DaemonSet pods of the candidate that is being checked.
	residents int32
	// varied caches, for each varietySite, whether the pool's minValues are met.
	varied map[varietySite]bool
	// lean has, for each varietySite that does not meet minValues, the number of values that were found for each of the pool's minValues.
	lean map[varietySite][]int
}

// ruleSite contains the properties of a new node that topology rules see: its cell and its DaemonSets. loosely means that the result must
// be valid for any set of nodes that spread rules may count.
type ruleSite struct {
	cell, resident int32
	loosely        bool
}

// admission is the key of cached results for a pod of the class on a new node: the node's question and site.
type admission struct {
	q    *question
	site ruleSite
}

type verdict uint8

const (
	verdictOpen verdict = iota
	verdictAdmits
	verdictRefuses
	verdictAsked // refused, and the refusing rules are known
)

func (x *explanations) factsOf(at int32) *poolFacts {
	if f := x.pools[at]; f != nil {
		return f
	}
	p := x.t.M.Pools[at]
	f := &poolFacts{stated: map[string]nodepool.Mask{}}
	for r := range p.Template.All {
		f.stated[r.Key()] = p.MaskOf(r)
	}
	if p.Limits != nil {
		f.over = bitset.New(len(p.Table.Rows))
		for r := range p.Table.Rows {
			cost := p.RowCost(r)
			f.cost = append(f.cost, cost...)
			if !x.t.S.Limits.Allows(at, x.t.S.Limits.Usage[at], cost) {
				f.over.Add(r)
			}
		}
	}
	x.pools[at] = f
	return f
}

// lacks returns the number of resources of which the row has too little (it stops counting at two), and one of these resources.
func (x *explainer) lacks(q *question, row int) (n, dim int) {
	have := q.p.Table.AllocOf(row, len(x.c.Requests))
	for d, need := range x.c.Requests {
		if need > have[d] {
			if n++; n > 1 {
				return n, d
			}
			dim = d
		}
	}
	return n, dim
}

// roomyIn returns the table's rows that have room for the pod.
func (x *explainer) roomyIn(t *nodepool.Table) bitset.Set {
	if known, ok := x.roomy[t]; ok {
		return known
	}
	out := bitset.New(len(t.Rows))
	for r := range t.Rows {
		if resources.Fits(x.c.Requests, t.AllocOf(r, len(x.c.Requests))) {
			out.Add(r)
		}
	}
	x.roomy[t] = out
	return out
}

// reservable reports whether the slot's reservation has an instance left. For a slot without a reservation, it returns false only if awaits
// is set.
func (x *explainer) reservable(q *question, slot int, awaits bool) bool {
	c := q.p.Table.Catalog
	id := c.Slots[slot].Reservation
	if id == "" {
		return !awaits
	}
	return x.t.S.Limits.Reserved[id] < c.Reservations[id]
}

// varietySite identifies the nodes that can replace a candidate with a single pod of the class. The field row is 0 if the result does not
// depend on the row.
type varietySite struct {
	q                                 *question
	row, slot, assign, cell, resident int32
}

// keepsVariety reports whether the instance types that can replace the candidate meet the pool's minValues.
func (x *explainer) keepsVariety(q *question, cand *candidate) bool {
	if !x.t.StrictVariety(q.p) {
		return true
	}
	site := x.varietySiteOf(q, cand)
	ok, known := x.varied[site]
	if !known {
		mc := state.Node{Pool: q.at, Row: int32(cand.row), Slot: site.slot, Labels: q.assigned[cand.assign].Labels, Used: x.c.Requests}
		rows, slots := q.rows.Clone(), q.slots.Clone()
		var groups []*topology.Groups
		if x.c.Topology != nil {
			groups = []*topology.Groups{x.c.Topology}
		}
		newnodes.Of(x.t).KeepAlike(&mc, rows, slots, groups)
		if ok = q.p.VariedFor(mc.Row, x.c.Requests, rows, slots); !ok {
			if x.lean == nil {
				x.lean = map[varietySite][]int{}
			}
			x.lean[site] = q.p.VarietyLeft(mc.Row, x.c.Requests, rows, slots)
		}
		x.varied[site] = ok
	}
	return ok
}

func (x *explainer) varietySiteOf(q *question, cand *candidate) varietySite {
	site := varietySite{q: q, slot: int32(cand.slot), assign: int32(cand.assign), cell: layout.AnyCell}
	if q.p.Limits != nil {
		site.row = int32(cand.row)
	}
	if x.cells != nil {
		site.cell, site.resident = x.cellOf(q, cand), q.p.Table.Rows[cand.row].Resident
	}
	return site
}

// changed reports whether the explanation assumes other demands or tolerations of the pods, or a changed pool.
func (x *explainer) changed(q *question) bool { return q.changed || x.loosely }

// fitting calls see(candidate) for the nodes that meet the demand of q, have room for the pod, can be launched now within the pool's
// limits, and cost less than *below. The callback must itself call keepsVariety and admits for the nodes that it uses. It may lower *below.
func (x *explainer) fitting(q *question, below *int64, see func(*candidate)) {
	if q == nil {
		return
	}
	rows := q.rows.Clone()
	rows.And(x.roomyIn(q.p.Table))
	over := x.factsOf(q.at).over
	slots, awaits := bitset.New(len(q.p.Table.Catalog.Slots)), x.awaits || (x.changed(q) && x.mayAwait)
	for s := range q.slots.Members {
		if x.reservable(q, s, awaits) {
			slots.Add(s)
		}
	}
	var cand candidate
	for cand.row = range rows.Members {
		if over != nil && over.Has(cand.row) {
			continue
		}
		row := &q.p.Table.Rows[cand.row]
		prices := q.p.Table.Catalog.PricesOf(row.Variant)
		for a := range q.assigned {
			if cand.assign = a; !q.assigned[a].Fits(cand.row) {
				continue
			}
			x.looks += row.Slots.Count()
			for i, w := range row.Slots {
				for w &= slots[i]; w != 0; w &= w - 1 {
					cand.slot = i<<6 + bits.TrailingZeros64(w)
					if cand.price = prices[cand.slot]; cand.price < *below {
						see(&cand)
					}
				}
			}
		}
	}
}

// variantSlot is an offering of a catalog.
type variantSlot struct{ variant, slot int32 }

// shutOfferings returns the prices of the catalog's offerings that are unavailable now and have the same capacity as their instance type.
func (x *explanations) shutOfferings(c *market.Catalog) map[variantSlot]int64 {
	if known, ok := x.shut[c]; ok {
		return known
	}
	slotOf := make(map[string]int32, len(c.Slots))
	for s := range c.Slots {
		slotOf[c.Slots[s].Labels.String()] = int32(s)
	}
	out := map[variantSlot]int64{}
	for v := range c.Variants {
		if c.Variants[v].Override != "" {
			continue
		}
		it := c.Types[c.Variants[v].Type]
		for i := range it.Offerings {
			o := &it.Offerings[i]
			if o.Available || market.OverrideText(o) != "" || market.BoundText(it, o) != c.Variants[v].Bound {
				continue
			}
			site := variantSlot{variant: int32(v), slot: slotOf[o.Requirements.String()]}
			now := c.Repriced(v, int(site.slot), market.NanoUSD(o.Price))
			if price, ok := out[site]; !ok || now < price {
				out[site] = now
			}
		}
	}
	x.shut[c] = out
	return out
}

// labelOn returns the value of a label on the candidate. It does the same as nodepool.Pool.Label, but uses the question's pool. If the
// node's type has several values, it returns one of them.
func (x *explainer) labelOn(q *question, cand *candidate, key string) string {
	c := q.p.Table.Catalog
	have, decided := q.p.Template.Get(key), q.assigned[cand.assign].Labels
	_, stated := c.TypeKeys[key]
	switch {
	case c.OfferingKeys[key]:
		return match.OnlyValue(c.Slots[cand.slot].Labels.Get(key))
	case decided.Has(key):
		return match.OnlyValue(decided.Get(key))
	case stated:
		own := c.Types[c.Variants[q.p.Table.Rows[cand.row].Variant].Type].Requirements
		if !own.Has(key) {
			return ""
		}
		have = have.Intersect(own.Get(key))
	case !q.p.Template.Has(key):
		return ""
	}
	value, _ := have.AnyValue()
	return value
}

// cellOf returns the cell of the candidate.
func (x *explainer) cellOf(q *question, cand *candidate) int32 {
	if q.p == x.m.Pools[q.at] {
		return x.cells.OfNew(q.at, int32(cand.row), int32(cand.slot), &q.assigned[cand.assign])
	}
	return x.cells.Number(x.t.S.Topology.DomainsOf(func(key string) string { return x.labelOn(q, cand, key) }))
}

// option describes the candidate in the form that a plan has.
func (x *explainer) option(q *question, cand *candidate) *planning.InstanceTypeOption {
	c := q.p.Table.Catalog
	s := &c.Slots[cand.slot]
	return &planning.InstanceTypeOption{
		Name: c.Types[c.Variants[q.p.Table.Rows[cand.row].Variant].Type].Name, Zone: s.Zone, CapacityType: s.CapacityType, Others: s.Others,
		Price: float64(cand.price) / market.NanoPerUSD,
	}
}

// limitShare returns by how much one more node of the row would exceed the pool's limits: the sum of the excess amounts, each divided by
// its limit.
func (x *explainer) limitShare(q *question, row int) float64 {
	share := 0.0
	x.exceeded(q, row, func(i int, over int64) { share += float64(over) / math.Max(float64(q.p.Limits.Max[i]), 1) })
	return share
}

// exceeded calls f for each limit that one more node of the row would exceed.
func (x *explainer) exceeded(q *question, row int, f func(limit int, over int64)) {
	l := q.p.Limits
	cost := x.factsOf(q.at).cost[row*len(l.Names) : (row+1)*len(l.Names)]
	for i := range l.Names {
		over := x.t.S.Limits.Usage[q.at][i] + cost[i] - l.Max[i]
		if l.Reached(x.t.S.Limits.Standing[q.at], i) {
			over = max(over, 1)
		}
		if over > 0 {
			f(i, over)
		}
	}
}
