package explain

import (
	"math/bits"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/topology"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// survey counts the checks that the nodes of a pool fail, and keeps the nearest miss among nodes that fail a single check.
type survey struct {
	*explainer
	// The field came has, for each instance type, the first check that its best node fails.
	came []check
	// best is the nearest miss so far. outline is the incomplete description of this miss, which the method nearest completes. The field of
	// is the question of this miss.
	best    finding
	outline planning.NearestMiss
	of      *question
	// rules are the topology rules that concern the pod. refusing is indexed like rules and marks the rules that refuse an otherwise
	// suitable node.
	rules    []rule
	refusing []bool
	// newDomain means that an otherwise suitable node would add a domain that breaks a spread: see bars.
	newDomain bool
	ruled     map[ruleSite]bool
	small     candidate // scratch
	// held is indexed like rules. For a rule about a host port, it has the DaemonSet pods of a new node that use the port.
	held [][]planning.Holder
	// found has, for each of the pool's minValues, the number of values of the node that comes closest to them: see noteVariety.
	found []int
	// missesOnly means that only the nearest miss is needed, and that nodes which can take a pod of the class without a change are ignored.
	missesOnly bool
}

// newSurvey returns an empty survey. It becomes invalid when the next survey is made.
func (x *explainer) newSurvey(p *nodepool.Pool) *survey {
	types := len(p.Table.Catalog.Types)
	x.came = slices.Grow(x.came[:0], types)[:types]
	clear(x.came)
	v := &survey{explainer: x, came: x.came, rules: rulesOf(x.m, x.c.Topology)}
	if len(v.rules) > 0 {
		v.refusing, v.held = make([]bool, len(v.rules)), make([][]planning.Holder, len(v.rules))
	}
	return v
}

// walk examines all nodes that meet the demand of q.
func (v *survey) walk(q *question) {
	v.ruled = nil
	roomy, over := v.roomyIn(q.p.Table), v.factsOf(q.at).over
	var cand candidate
	onlyRoom := v.missesOnly && over == nil && len(q.p.Table.Catalog.Reservations) == 0 && !v.t.StrictVariety(q.p)
	for r := range q.rows.Members {
		closed := over != nil && over.Has(r)
		came := checkOffering
		switch {
		case onlyRoom && roomy.Has(r):
		case roomy.Has(r):
			eachWay(q, r, &cand, func(cand *candidate) {
				if cand.price != market.NoPrice {
					v.looks++
					came = max(came, v.way(q, cand, closed))
				}
			})
		default:
			came = checkResources
			if !closed && !v.brief {
				v.tooSmall(q, r)
			}
		}
		typ := q.p.Table.Catalog.Variants[q.p.Table.Rows[r].Variant].Type
		v.came[typ] = max(v.came[typ], came)
	}
}

// eachWay sets *cand to each offering of row r that meets the demand of q, one after another, and calls see(cand) for each. If the offering
// is not available, cand.price is market.NoPrice.
func eachWay(q *question, r int, cand *candidate, see func(*candidate)) {
	row := &q.p.Table.Rows[r]
	cand.row = r
	prices := q.p.Table.Catalog.PricesOf(row.Variant)
	for a := range q.assigned {
		if cand.assign = a; !q.assigned[a].Fits(r) {
			continue
		}
		for i, w := range row.Slots {
			for w &= q.slots[i]; w != 0; w &= w - 1 {
				cand.slot = i<<6 + bits.TrailingZeros64(w)
				cand.price = prices[cand.slot]
				see(cand)
			}
		}
	}
}

// way returns the first check that a node with enough room would fail if it were bought as the offering of cand. closed means that the
// pool's limits allow no further node of this row.
func (v *survey) way(q *question, cand *candidate, closed bool) check {
	reservable := v.reservable(q, cand.slot, v.awaits || (v.changed(q) && v.mayAwait))
	switch {
	case closed:
		if v.brief || !reservable {
			return checkLimits
		}
		if size := v.limitShare(q, cand.row); v.isNearest(q, cand, planning.MissLimits, size) {
			v.take(q, cand, planning.MissLimits, size)
		}
		return checkLimits
	case !reservable:
		id := q.p.Table.Catalog.Slots[cand.slot].Reservation
		size := 0.0
		if id == "" {
			size = 1 // one more instance (size 0) is a smaller change than another policy for reservations
		}
		if v.isNearest(q, cand, planning.MissReservation, size) {
			v.take(q, cand, planning.MissReservation, size)
		}
		return checkReservation
	case !v.keepsVariety(q, cand):
		v.noteVariety(q, cand)
		if !v.brief && v.best.nearer(planning.MissMinValues, 0, cand.price) && ruleFaultsOf(v.explainer).admits(q, cand, false) {
			v.take(q, cand, planning.MissMinValues, 0)
		}
		return checkVariety
	case !ruleFaultsOf(v.explainer).admits(q, cand, false):
		v.askRules(q, cand)
		return checkTopology
	}
	return checksPassed
}

// noteVariety stores in v.found the numbers of values of the node that comes closest to the pool's minValues.
func (v *survey) noteVariety(q *question, cand *candidate) {
	found := v.lean[v.varietySiteOf(q, cand)]
	sum := func(list []int) (n int) {
		for i, k := range list {
			n += min(k, q.p.Variety[i].N)
		}
		return n
	}
	if v.found == nil || sum(found) > sum(v.found) {
		v.found = found
	}
}

// isNearest reports whether a node that fails one check is the nearest so far and passes the remaining checks.
func (v *survey) isNearest(q *question, cand *candidate, code planning.MissCode, size float64) bool {
	return !v.brief && v.best.nearer(code, size, cand.price) && v.keepsVariety(q, cand) && ruleFaultsOf(v.explainer).admits(q, cand, false)
}

// take makes the node the nearest miss. The method nearest completes the description of the miss at the end.
func (v *survey) take(q *question, cand *candidate, code planning.MissCode, size float64) {
	v.outline.Code, v.of = code, q
	v.best = finding{&v.outline, size, cand.price, *cand}
}

// nearest returns the nearest miss of all calls of walk.
func (v *survey) nearest() finding {
	if v.best.miss != &v.outline {
		return v.best
	}
	q, cand := v.of, &v.best.at
	miss := &planning.NearestMiss{Code: v.outline.Code}
	switch miss.Code {
	case planning.MissLimits:
		miss.Amounts = corev1.ResourceList{}
		v.exceeded(q, cand.row, func(i int, over int64) {
			name := q.p.Limits.Names[i]
			miss.Amounts[name] = resources.Quantity(name, over)
		})
	case planning.MissReservation:
		miss.Reservation = q.p.Table.Catalog.Slots[cand.slot].Reservation
	case planning.MissResources, planning.MissResourceGivenUp:
		_, dim := v.lacks(q, cand.row)
		miss = missesOf(v.explainer).less(miss.Code, dim, q.p.Table.AllocOf(cand.row, len(v.c.Requests))[dim])
	}
	miss.InstanceType = v.option(q, cand)
	v.best.miss = miss
	return v.best
}

// tooSmall examines a row that has too little of a single resource.
func (v *survey) tooSmall(q *question, r int) {
	n, dim := v.lacks(q, r)
	if n != 1 {
		return
	}
	have := q.p.Table.AllocOf(r, len(v.c.Requests))[dim]
	code, size := missesOf(v.explainer).cut(dim, have)
	if code == "" || !v.best.nearer(code, size, 0) {
		return
	}
	eachWay(q, r, &v.small, func(cand *candidate) {
		v.looks++
		// With lower requests the pod might have to wait for a reservation whose instances are too small for it now.
		if cand.price != market.NoPrice && v.reservable(q, cand.slot, v.awaits || v.mayAwait) && v.isNearest(q, cand, code, size) {
			v.take(q, cand, code, size)
		}
	})
}

// askRules finds the rules that refuse a node which passes all other checks, once for all nodes that rules treat alike. It also checks, for
// each rule, whether leaving out this rule would be enough.
func (v *survey) askRules(q *question, cand *candidate) {
	if known := ruleFaultsOf(v.explainer).verdictOn(q, cand); known != nil {
		if *known == verdictAsked {
			return
		}
		*known = verdictAsked
	}
	site := ruleSite{cell: v.cellOf(q, cand), resident: q.p.Table.Rows[cand.row].Resident}
	if v.ruled[site] {
		return
	}
	if v.ruled == nil {
		v.ruled = map[ruleSite]bool{}
	}
	v.ruled[site] = true
	barred := v.bars(site.cell)
	v.newDomain = v.newDomain || barred
	ruleFaultsOf(v.explainer).on(q, cand, func(h *topology.Host) {
		for i := range v.rules {
			r := &v.rules[i]
			if ruleFaultsOf(v.explainer).admitsAt(r.aloneIn(v.c.Topology, v.m), h.Domains, h.Of, false) {
				continue
			}
			v.refusing[i] = true
			if r.kind == topology.Exclusive && len(v.held[i]) == 0 {
				v.held[i] = ruleFaultsOf(v.explainer).holdersOn(r, -1, q.p.Table.DaemonsOn[cand.row])
			}
			if barred || q.changed {
				continue
			}
			if miss := missesOf(v.explainer).unruled(&v.best, r, h.Domains, h.Of, cand.price); miss != nil {
				miss.InstanceType = v.option(q, cand)
			}
		}
	})
}

func (v *survey) removed() planning.Removed {
	var by [checksPassed + 1]int
	for _, c := range v.came {
		by[c]++
	}
	return planning.Removed{
		Requirements: by[checkRequirements], Resources: by[checkResources], Offering: by[checkOffering], Limits: by[checkLimits],
		Reservation: by[checkReservation], MinValues: by[checkVariety], Topology: by[checkTopology],
	}
}
