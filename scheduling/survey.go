package scheduling

import (
	"math/bits"

	corev1 "k8s.io/api/core/v1"
)

// survey counts how far the machines of a pool come, and keeps the nearest miss of those that fail a single check.
type survey struct {
	*explainer
	// came is indexed by type: the check that its best machine failed first.
	came []check
	best finding
	// rules that concern the pod, and which of them refuse a machine that would do without rules.
	rules    []rule
	refusing []bool
	// newDomain: one that would do without rules brings a domain that must not come.
	newDomain bool
	ruled     map[ruleSite]bool
	small     candidate // scratch
}

// walk looks at all machines that meet the question.
func (v *survey) walk(q *question) {
	v.ruled = map[ruleSite]bool{}
	roomy, over := v.roomyIn(q.p.table), v.factsOf(q.at).over
	var cand candidate
	for r := range q.rows.members {
		closed := over != nil && over.has(r)
		came := checkOffering
		switch {
		case roomy.has(r):
			eachWay(q, r, &cand, func(cand *candidate) {
				if cand.price != noPrice {
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
		typ := q.p.table.catalog.variants[q.p.table.rows[r].variant].typ
		v.came[typ] = max(v.came[typ], came)
	}
}

// eachWay shows the ways to buy a row that meet the question, one after the other in cand, with noPrice where there is no
// available offering.
func eachWay(q *question, r int, cand *candidate, see func(*candidate)) {
	row := &q.p.table.rows[r]
	cand.row = r
	prices := q.p.table.catalog.pricesOf(row.variant)
	for a := range q.assigned {
		if cand.assign = a; !q.assigned[a].fits(r) {
			continue
		}
		for i, w := range row.slots {
			for w &= q.slots[i]; w != 0; w &= w - 1 {
				cand.slot = i<<6 + bits.TrailingZeros64(w)
				cand.price = prices[cand.slot]
				see(cand)
			}
		}
	}
}

// way is the first check that a machine which is large enough fails where it is bought.
func (v *survey) way(q *question, cand *candidate, closed bool) check {
	reservable := v.reservable(q, cand.slot, v.awaits)
	switch {
	case closed:
		if v.brief || !reservable {
			return checkLimits
		}
		if size := v.limitShare(q, cand.row); v.isNearest(q, cand, MissLimits, size) {
			miss := v.take(q, cand, MissLimits, size)
			miss.Amounts = corev1.ResourceList{}
			v.exceeded(q, cand.row, func(i int, over int64) {
				name := q.p.limits.names[i]
				miss.Amounts[name] = quantity(name, over)
			})
		}
		return checkLimits
	case !reservable:
		id := q.p.table.catalog.slots[cand.slot].reservation
		size := 0.0
		if id == "" {
			size = 1 // an instance more is nearer than another policy
		}
		if v.isNearest(q, cand, MissReservation, size) {
			v.take(q, cand, MissReservation, size).Reservation = id
		}
		return checkReservation
	case !v.keepsVariety(q, cand):
		if !v.brief && v.best.nearer(MissMinValues, 0, cand.price) && v.admits(q, cand, false) {
			v.take(q, cand, MissMinValues, 0)
		}
		return checkVariety
	case !v.admits(q, cand, false):
		v.askRules(q, cand)
		return checkTopology
	}
	return checksPassed
}

// isNearest reports whether a machine that fails one check is the nearest until now, and fails none of the others that
// come last.
func (v *survey) isNearest(q *question, cand *candidate, code MissCode, size float64) bool {
	return !v.brief && v.best.nearer(code, size, cand.price) && v.keepsVariety(q, cand) && v.admits(q, cand, false)
}

// take makes the machine the nearest.
func (v *survey) take(q *question, cand *candidate, code MissCode, size float64) *NearestMiss {
	v.best = finding{&NearestMiss{Code: code, InstanceType: v.option(q, cand)}, size, cand.price}
	return v.best.miss
}

// tooSmall considers a row that lacks a single resource.
func (v *survey) tooSmall(q *question, r int) {
	n, dim := v.lacks(q, r)
	if n != 1 {
		return
	}
	have := q.p.table.allocOf(r, len(v.c.requests))[dim]
	code, size := v.cut(dim, have)
	if code == "" || !v.best.nearer(code, size, 0) {
		return
	}
	eachWay(q, r, &v.small, func(cand *candidate) {
		v.looks++
		// With lower requests the pod might have to wait for a reservation that it is too large for now.
		if cand.price != noPrice && v.reservable(q, cand.slot, v.awaits || v.mayAwait) && v.isNearest(q, cand, code, size) {
			miss := v.less(code, dim, have)
			miss.InstanceType = v.option(q, cand)
			v.best = finding{miss, size, cand.price}
		}
	})
}

// askRules finds out which rules by themselves keep the pod off a machine that fails nothing else, once for all
// machines that rules can't tell apart, and considers to do without each.
func (v *survey) askRules(q *question, cand *candidate) {
	if known := v.verdictOn(q, cand); known != nil {
		if *known == verdictAsked {
			return
		}
		*known = verdictAsked
	}
	site := ruleSite{cell: v.cellOf(q, cand), resident: q.p.table.rows[cand.row].resident}
	if v.ruled[site] {
		return
	}
	v.ruled[site] = true
	barred := v.bars(site.cell)
	v.newDomain = v.newDomain || barred
	v.on(q, cand, func(h *hostState) {
		for i := range v.rules {
			r := &v.rules[i]
			if v.admitsAt(v.c.topology.alone(v.m, r), h.domains, h.of, false) {
				continue
			}
			v.refusing[i] = true
			if barred {
				continue
			}
			if miss := v.unruled(&v.best, r, h.domains, h.of, cand.price); miss != nil {
				miss.InstanceType = v.option(q, cand)
			}
		}
	})
}

func (v *survey) removed() Removed {
	var by [checksPassed + 1]int
	for _, c := range v.came {
		by[c]++
	}
	return Removed{
		Requirements: by[checkRequirements], Resources: by[checkResources], Offering: by[checkOffering], Limits: by[checkLimits],
		Reservation: by[checkReservation], MinValues: by[checkVariety], Topology: by[checkTopology],
	}
}
